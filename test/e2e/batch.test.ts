import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BatchResult } from '../../src/contract/batch/batch-messages';
import { longhaulCommand } from '../support/product-build';
import { BatchCommands, endedOf, eventsOf } from '../support/batch-commands';
import { eventually } from '../support/eventually';
import { listFiles } from '../support/list-files';
import { ProcessStack } from '../support/process-stack';
import type { CommandEnd } from '../support/run-longhaul';
import { photoFolder } from '../support/task-stack';
import { temporaryFolder } from '../support/temporary-folder';

/** The reference service's apps: one that works on a photo, and one that waits as long as it is told. */
const photoFinish = '1';
const swatch = '5';
const photos = ['rocket.jpg', 'chelsea.png', 'coffee.png', 'hubble_deep_field.jpg'];
const rowCount = 20;

let stack: ProcessStack;
let batches: BatchCommands;
/** Commands that a test that failed has left behind. */
const children = new Set<ChildProcess>();

beforeAll(async () => {
  stack = await ProcessStack.open();
  batches = new BatchCommands(stack);
  for (const photo of photos) copyFileSync(join(photoFolder, photo), join(stack.inputs, photo));
  await stack.startWorker();
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await stack.close();
});

/** Twenty rows: five sizes of each photo. */
function photoRows(): string[] {
  const rows = Array.from({ length: rowCount }, (_, index) => {
    const photo = photos[index % photos.length] ?? '';
    return `row-${index},@${photo},${32 + index}`;
  });
  return ['key,1:LoadImage.image,2:ImageScale.width', ...rows];
}

/** A command that a test ends in its own way. */
function start(...args: string[]): { child: ChildProcess; text: () => string; end: Promise<unknown[]> } {
  const { command, args: commandArgs } = longhaulCommand(args);
  const child = spawn(command, commandArgs, { env: stack.env, stdio: ['ignore', 'pipe', 'pipe'] });
  children.add(child);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (more: string) => (text += more));
  }
  return { child, text: () => text, end: once(child, 'close') };
}

describe('a batch of twenty photos', () => {
  const options = ['--app', photoFinish, '--concurrency', '10', '--names', '{batch}/{key}/{index}{ext}'];
  let file: string;
  let first: CommandEnd;
  let result: BatchResult;

  beforeAll(async () => {
    file = batches.rowFile('photos.csv', photoRows());
    first = await batches.run(file, ...options, '--json');
    result = endedOf(first);
  });

  it('ends with every picture archived under its name, paid once each', () => {
    expect(first.exitCode).toBe(0);
    expect(result).toMatchObject({
      ...{ event: 'ended', batchId: 'photos', ending: 'completed', rows: rowCount },
      ...{ success: rowCount, failed: 0, notStarted: 0, outputs: rowCount, failures: {} },
    });
    expect(batches.spent()).toEqual({ creates: rowCount, uploads: photos.length });
    const names = Array.from({ length: rowCount }, (_, index) => `photos/row-${index}/0.png`);
    const archived = listFiles(join(stack.archive, 'batches/photos/outputs'));
    expect(archived.filter((name) => name.endsWith('.png')).sort()).toEqual(names.sort());
    const bytes = photos.reduce((sum, photo) => sum + statSync(join(photoFolder, photo)).size, 0);
    expect(result.uploads).toEqual({ files: photos.length, bytes, shared: rowCount - photos.length });
  });

  it('tells a program what happens, one JSON object a line, and leaves its results in the order of the rows', () => {
    const events = eventsOf(first);
    expect(events[0]).toMatchObject({ event: 'checked', rows: rowCount, badRows: 0 });
    expect(events.map(({ event }) => event)).toEqual(expect.arrayContaining(['started', 'progress', 'ended']));
    const lines = readFileSync(result.csv, 'utf8').trimEnd().split('\n').slice(1);
    expect(lines.map((line) => line.split(',')[0])).toEqual(Array.from({ length: rowCount }, (_, i) => `row-${i}`));
  });

  it('run again costs nothing, and leaves the same result files', async () => {
    const before = { ...batches.spent(), csv: readFileSync(result.csv), jsonl: readFileSync(result.jsonl) };

    const again = await batches.run(file, ...options);

    expect(again).toMatchObject({ exitCode: 0 });
    expect(again.stdout).toMatch(/^Completed {2}batch:photos, 20 rows in 0:\d\d\n.* {2}succeeded +20 {2}20 outputs, /s);
    expect(again.stdout).toContain(`results  ${result.csv}`);
    expect(batches.spent()).toEqual({ creates: before.creates, uploads: before.uploads });
    expect(readFileSync(result.csv).equals(before.csv)).toBe(true);
    expect(readFileSync(result.jsonl).equals(before.jsonl)).toBe(true);
    const report = await stack.run('batch', 'report', 'photos');
    expect(report).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^Completed {2}batch:photos/) as string,
    });
  });

  it('refuses a row whose key was renamed: it would be paid twice', async () => {
    const before = batches.spent();
    batches.rowFile(
      'photos.csv',
      photoRows().map((row) => row.replace(/^row-5,/, 'the-best,')),
    );

    const refused = await batches.run(file, ...options);

    expect(refused).toMatchObject({ exitCode: 2 });
    expect(refused.stderr).toMatch(/RowsChanged.*row 7: "the-best".*"row-5".*--allow-new/s);
    expect(batches.spent()).toEqual(before);
  });

  it('refuses a row that changed under its key, until that is allowed', async () => {
    const before = batches.spent();
    const rows = photoRows();
    rows[3] = 'row-2,@coffee.png,500';
    batches.rowFile('photos.csv', rows);

    const refused = await batches.run(file, ...options);

    expect(refused).toMatchObject({ exitCode: 2 });
    expect(refused.stderr).toMatch(
      /RowsChanged.*1 row .*row 4: "row-2" .*"2:ImageScale\.width" was \d+ and is 500\).*--allow-changed/s,
    );
    expect(batches.spent()).toEqual(before);

    const allowed = await batches.run(file, ...options, '--allow-changed', '--json');
    expect(endedOf(allowed)).toMatchObject({ success: rowCount });
    expect(batches.spent().creates).toBe(before.creates + 1);
  });
});

describe('a row file with bad rows', () => {
  it('is refused as a whole, and --skip-bad goes on with the good ones', async () => {
    const bad = ['key,1:LoadImage.image', 'good,@rocket.jpg', 'bad,@no-such.jpg', 'good,@coffee.png'];
    const file = batches.rowFile('bad.csv', bad);
    const before = batches.spent();

    expect(await batches.run(file, '--app', photoFinish)).toMatchObject({ exitCode: 2 });
    expect(batches.spent()).toEqual(before);

    const skipped = await batches.run(file, '--app', photoFinish, '--skip-bad', '--json');
    expect(skipped).toMatchObject({ exitCode: 0 });
    expect(endedOf(skipped)).toMatchObject({ rows: 1, badRows: 2, success: 1 });
  });
});

describe('a row file that the workers may not read', () => {
  it('is told at once, with the folders that they may', async () => {
    const elsewhere = temporaryFolder();
    const file = join(elsewhere.path, 'elsewhere.csv');
    writeFileSync(file, 'key,2:Wait.seconds\na,0\n');
    const { exitCode, stderr } = await batches.run(file, '--app', swatch);
    elsewhere.remove();

    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/batch:elsewhere failed \(InputUnusable\).*LONGHAUL_INPUT_ROOTS/s);
  });
});

describe('rows that fail', () => {
  it('are told with the service’s words and exit code 3, and are tried again only when that is asked for', async () => {
    const file = batches.rowFile('broken.csv', ['key,1:LoadImage.image', 'one,@rocket.jpg']);
    const { exitCode, stdout } = await batches.run(file, '--app', '3');

    expect(exitCode).toBe(3);
    expect(stdout).toMatch(/failed +1 {2}1 TaskFailed/);
    expect(stdout).toMatch(/one +2 {2}TaskFailed +.*the darkroom is out of order/);
    const before = batches.spent();
    expect(await batches.run(file, '--app', '3')).toMatchObject({ exitCode: 3 });
    expect(batches.spent()).toEqual(before);

    const over = await stack.run('batch', 'retry', 'broken');
    expect(over).toMatchObject({ exitCode: 0 });
    expect(over.stdout).toContain('it was over and is started again, with the rows and options it had');
    expect(await stack.run('batch', 'status', 'broken', '--follow')).toMatchObject({ exitCode: 3 });
    expect(batches.spent().creates).toBe(before.creates + 1);
    expect(await batches.run(file, '--app', '3', '--retry-failed')).toMatchObject({ exitCode: 3 });
    expect(batches.spent().creates).toBe(before.creates + 2);
  });
});

describe('a batch whose command goes away', () => {
  /** Rows that run until they are stopped. */
  const endless = ['key,2:Wait.seconds', ...['a', 'b', 'c'].map((key) => `${key},3600`)];

  async function startEndless(id: string): Promise<ReturnType<typeof start>> {
    const file = batches.rowFile(`${id}.csv`, endless);
    const { creates } = batches.spent();
    const command = start('batch', 'run', file, '--app', swatch, '--task-queue', stack.taskQueue, '--json');
    await eventually(() => command.text().includes('"running":3'), { withinMs: 60_000, what: 'three rows to run' });
    // A row runs from the start of its workflow on, which is before its create is sent.
    await eventually(() => batches.spent().creates === creates + 3, { withinMs: 60_000, what: 'three creates' });
    return command;
  }

  it('goes on after Ctrl-C, can be attached to, and is stopped, confirmed', async () => {
    const command = await startEndless('endless');
    command.child.kill('SIGINT');
    expect(await command.end).toEqual([130, null]);
    expect(command.text()).toMatch(
      /goes on.*\n.*longhaul batch status endless --follow\n.*longhaul batch stop endless/,
    );

    const attached = start('batch', 'status', 'endless', '--follow', '--json');
    await eventually(() => attached.text().includes('"running":3'), {
      withinMs: 60_000,
      what: 'the batch to be followed',
    });
    const csv = join(stack.archive, 'batches/endless/results.csv');
    expect(existsSync(csv)).toBe(false);
    const stopped = await stack.run('batch', 'stop', 'endless', '--json');
    expect(stopped).toMatchObject({ exitCode: 4 });
    expect(existsSync(csv)).toBe(true);
    expect(endedOf(stopped)).toMatchObject({ ending: 'stopped', canceled: 3, failed: 0 });
    expect(await attached.end).toEqual([4, null]);
    expect(attached.text()).toContain('"ending":"stopped"');
  });

  it('goes on after a SIGKILL, and the same command follows it', async () => {
    const command = await startEndless('killed');
    const before = batches.spent();
    command.child.kill('SIGKILL');
    await command.end;

    const file = join(stack.inputs, 'killed.csv');
    const again = await batches.run(file, '--app', swatch, '--detach', '--json');
    expect(again).toMatchObject({ exitCode: 0 });
    expect(endedOf(again)).toMatchObject({ event: 'attached', hasTheseRows: true });
    expect(batches.spent()).toEqual(before);
    const stopped = await stack.run('batch', 'stop', 'killed');
    expect(stopped).toMatchObject({ exitCode: 4 });
    expect(stopped.stdout).toMatch(/^Stopped {2}batch:killed, 3 rows/);
  });
});

describe('a batch that is not there', () => {
  it('is told so, with where to look', async () => {
    const unknown = await stack.run('batch', 'status', 'no-such-batch');
    expect(unknown).toMatchObject({ exitCode: 2 });
    expect(unknown.stderr).toMatch(/There is no batch batch:no-such-batch.*batches\/no-such-batch/);
  });
});
