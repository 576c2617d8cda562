import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BatchCommands } from '../support/batch-commands';
import { eventually } from '../support/eventually';
import { listFiles } from '../support/list-files';
import { ProcessStack } from '../support/process-stack';

/** The reference service's app that waits as long as it is told. */
const swatch = '5';

let stack: ProcessStack;
let batches: BatchCommands;
beforeAll(async () => {
  stack = await ProcessStack.open();
  batches = new BatchCommands(stack);
  await stack.startWorker();
});
afterAll(() => stack.close());

describe('a batch whose record is damaged', () => {
  it('says so, can be stopped without starting a row, and goes on once the record is put back', async () => {
    const file = batches.rowFile('damaged.csv', ['key,2:Wait.seconds', 'a,0', 'b,0']);
    expect(await batches.run(file, '--app', swatch)).toMatchObject({ exitCode: 0 });
    const results = join(stack.archive, 'batches/damaged/results');
    const page = join(results, listFiles(results)[0] ?? '');
    const whole = readFileSync(page);
    const before = batches.spent();
    writeFileSync(page, 'rubbish');

    await batches.run(file, '--app', swatch, '--detach');
    const batch = stack.longhaul.batch('damaged');
    const problem = await eventually(async () => (await batch.status()).problem ?? undefined, { withinMs: 60_000 });
    expect(problem).toMatchObject({ code: 'Retrying' });
    expect(problem?.message).toMatch(/^openBatch: /);
    expect(problem?.message).toContain(`${page} is damaged`);
    const stopped = await stack.run('batch', 'stop', 'damaged');

    expect(stopped).toMatchObject({ exitCode: 4 });
    expect(stopped.stdout).toMatch(/^Stopped {2}batch:damaged, 2 rows.*results {2}none: no row was started/s);
    writeFileSync(page, whole);
    expect(await batches.run(file, '--app', swatch)).toMatchObject({ exitCode: 0 });
    expect(batches.spent()).toEqual(before);
  });
});
