import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BatchCommands, endedOf, eventsOf } from '../support/batch-commands';
import { ProcessStack } from '../support/process-stack';
import { photoFolder } from '../support/task-stack';

/** The reference service's apps: one that works on a photo, and one that waits as long as it is told. */
const photoFinish = '1';
const swatch = '5';
const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];

let stack: ProcessStack;
let batches: BatchCommands;

beforeAll(async () => {
  stack = await ProcessStack.open();
  batches = new BatchCommands(stack);
  mkdirSync(join(stack.inputs, 'january'));
  mkdirSync(join(stack.inputs, 'february'));
  copyFileSync(join(photoFolder, 'rocket.jpg'), join(stack.inputs, 'january', 'rocket.jpg'));
  await stack.startWorker();
});
afterAll(() => stack.close());

/** The keys and ends in `results.csv`, in its order. */
function resultsIn(csv: string): string[] {
  const [header = [], ...rows] = readFileSync(csv, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => line.split(','));
  return rows.map((cells) => ['key', 'line', 'status'].map((name) => cells[header.indexOf(name)]).join(' '));
}

describe('the first three rows of a file', () => {
  const rows = keys.map((key, index) => `${key},@rocket.jpg,${32 + index}`);
  const lines = ['key,1:LoadImage.image,2:ImageScale.width', 'bad,@no-such.jpg,31', ...rows];
  const options = ['--app', photoFinish, '--skip-bad', '--json'];

  it('are run alone, and the whole file afterwards pays for the others alone', async () => {
    const file = batches.rowFile('january/first-three.csv', lines);

    const tried = await batches.run(file, ...options, '--first', '3');

    expect(tried).toMatchObject({ exitCode: 0 });
    expect(eventsOf(tried)).toContainEqual(
      expect.objectContaining({ event: 'checked', first: 3, rows: 4, badRows: 1 }),
    );
    expect(endedOf(tried)).toMatchObject({ batchId: 'first-three', rows: 3, success: 3, notStarted: 0 });
    expect(resultsIn(endedOf(tried).csv)).toEqual(['a 3 Success', 'b 4 Success', 'c 5 Success']);
    expect(batches.spent()).toEqual({ creates: 3, uploads: 1 });

    const whole = await batches.run(file, ...options);

    expect(whole).toMatchObject({ exitCode: 0 });
    expect(endedOf(whole)).toMatchObject({
      batchId: 'first-three',
      rows: keys.length,
      success: keys.length,
      badRows: 1,
    });
    expect(resultsIn(endedOf(whole).csv)).toEqual(keys.map((key, index) => `${key} ${index + 3} Success`));
    expect(batches.spent()).toEqual({ creates: keys.length, uploads: 1 });
    const again = await batches.run(file, ...options, '--first', '3');
    expect(endedOf(again)).toMatchObject({ rows: 3, success: 3 });
    expect(batches.spent()).toEqual({ creates: keys.length, uploads: 1 });
  });
});

describe('a file of the same name as that of a batch that runs', () => {
  const endless = ['key,2:Wait.seconds', 'a,3600', 'b,3600'];

  it('is not followed when it has other rows: none of them would run', async () => {
    const january = batches.rowFile('january/monthly.csv', endless);
    const february = batches.rowFile('february/monthly.csv', [...endless, 'c,3600']);
    expect(await batches.run(january, '--app', swatch, '--detach')).toMatchObject({ exitCode: 0 });

    const other = await batches.run(february, '--app', swatch, '--json');

    expect(other).toMatchObject({ exitCode: 2 });
    expect(eventsOf(other).slice(-2)).toEqual([
      expect.objectContaining({ event: 'attached', workflowId: 'batch:monthly', hasTheseRows: false }),
      { error: expect.objectContaining({ type: 'InputInvalidError', exitCode: 2 }) as unknown },
    ]);
    expect(other.stderr).toContain(`batch:monthly runs with other rows (source ${january}`);
    expect(other.stderr).toContain('longhaul batch status monthly --follow');

    const same = await batches.run(january, '--app', swatch, '--detach', '--concurrency', '5');
    expect(same).toMatchObject({ exitCode: 0 });
    expect(same.stderr).toContain('--concurrency (longhaul batch set-concurrency monthly 5)');

    const stopped = await stack.run('batch', 'stop', 'monthly', '--json');
    expect(endedOf(stopped)).toMatchObject({ ending: 'stopped', rows: 2, failed: 0 });
  });
});
