import { randomUUID } from 'node:crypto';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { Longhaul } from '../../src/client/longhaul';
import type { BatchInput, RowsReference } from '../../src/contract/batch/batch-input';
import { prepareRows, readRows, rowFileAt } from '../../src/rows';
import { schemaProblems } from '../support/contract-schema';
import { eventually } from '../support/eventually';
import { runLonghaul } from '../support/run-longhaul';
import { fastTuning } from '../support/task-environment';
import { photoFolder, TaskStack } from '../support/task-stack';
import { temporaryFolder } from '../support/temporary-folder';
import { workbook } from '../support/workbook-file';
import { languages, runExample } from './language';

/* What Temporal's own client exchanges with a batch, by the schema. */

const folder = temporaryFolder();
let stack: TaskStack;
const archive = join(folder.path, 'archive');
beforeAll(async () => {
  stack = await TaskStack.open({ env: { LONGHAUL_INPUT_ROOTS: folder.path, LONGHAUL_ARCHIVE: archive } });
});
afterAll(async () => {
  await stack.close();
  folder.remove();
});

/** The reference service's app that makes a small picture. */
const swatch = 5;
const tuning = { refillMs: 20, pollEveryMs: 200 };

const anyText: unknown = expect.stringMatching(/./);

/** Prepares rows that wait so many seconds, as `longhaul batch run` does. */
async function prepare(id: string, seconds: readonly number[]): Promise<RowsReference> {
  const file = join(folder.path, `${id}.jsonl`);
  const lines = seconds.map((wait, index) =>
    JSON.stringify({
      key: `row-${index}`,
      webAppId: swatch,
      inputs: { '2:Wait.seconds': wait },
      tuning: fastTuning,
    }),
  );
  writeFileSync(file, lines.join('\n'));
  const { rows } = await prepareRows(readRows(rowFileAt(file), {}), { folder: folder.path, name: id });
  if (rows === null) throw new Error('no row is good');
  return rows;
}

async function start(id: string, input: object): Promise<WorkflowHandle> {
  return await stack.client.workflow.start('batch', {
    ...{ taskQueue: stack.taskQueue, workflowId: `batch:${id}`, args: [input], workflowExecutionTimeout: '90 seconds' },
  });
}

/** The failure of a batch, as any SDK shows it. */
async function failureOf(batch: WorkflowHandle): Promise<object> {
  const error: unknown = await batch.result().catch((error: unknown) => error);
  const cause = error instanceof WorkflowFailedError ? error.cause : undefined;
  if (!(cause instanceof ApplicationFailure)) throw new Error('It did not fail.', { cause: error });
  const { type, message, details } = cause;
  return { type, message, ...(details?.[0] != null && { details: details[0] }) };
}

it('a batch is started, followed, paused, changed and read as the schema has it', async () => {
  const id = randomUUID();
  const input: BatchInput = { id, rows: await prepare(id, [0, 0, 2]), concurrency: 2, tuning };
  expect(schemaProblems('BatchInput', input)).toBe('');
  const batch = await start(id, input);
  expect(schemaProblems('BatchProgress', await batch.query('progress'))).toBe('');
  const answers: unknown[] = [
    await batch.executeUpdate('pause'),
    await batch.executeUpdate('setConcurrency', { args: [{ rows: 3 }] }),
    await batch.executeUpdate('setBudget', { args: [{ budget: null }] }),
    await batch.executeUpdate('resume'),
  ];
  expect(answers.map((answer) => schemaProblems('DecisionTaken', answer))).toEqual(['', '', '', '']);
  const result: unknown = await batch.result();
  expect(result).toMatchObject({ rows: 3, success: 3, ending: 'completed' });
  expect(schemaProblems('BatchResult', result)).toBe('');
  expect(schemaProblems('BatchProgress', await batch.query('progress'))).toBe('');
});

it('a batch that is stopped ends as canceled, and its progress has the figures', async () => {
  const id = randomUUID();
  const batch = await start(id, { id, rows: await prepare(id, [3_600]), tuning });
  const isRunning = async (): Promise<boolean> => (await batch.query<{ running: number }>('progress')).running === 1;
  await eventually(isRunning, { what: 'the row to run' });
  await batch.cancel();
  await expect(batch.result()).rejects.toThrow(WorkflowFailedError);
  const progress = await batch.query<object>('progress');
  expect(schemaProblems('BatchProgress', progress)).toBe('');
  expect(progress).toMatchObject({ state: 'Ended', canceled: 1, report: { canceled: 1 } });
});

describe.each(languages)('$name', (language) => {
  const run = (input: object): ReturnType<typeof runExample> =>
    runExample(stack, language, 'start-batch', [JSON.stringify(input)]);

  it('starts prepared rows, follows them to the result, and pays nothing for rows that are done', async () => {
    const id = randomUUID();
    const input: BatchInput = { id, rows: await prepare(id, [0, 0, 2]), concurrency: 2, tuning };
    const { exitCode, stderr, lines, last } = await run(input);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(last).toMatchObject({ rows: 3, success: 3, ending: 'completed' });
    expect(lines.slice(0, -1)).toEqual(
      expect.arrayContaining([expect.objectContaining({ state: 'Running', rows: 3 })]),
    );
    const before = stack.service.ledger.total('create');
    expect(await run(input)).toMatchObject({ exitCode: 0, last: { success: 3 } });
    expect(stack.service.ledger.total('create')).toBe(before);
  });

  it('starts what the command prepares of a folder, a list, a workbook, and the outputs of a batch', async () => {
    const [id, photos] = [randomUUID(), join(folder.path, randomUUID())];
    const at = (name: string, content: string | Buffer): string => {
      writeFileSync(join(photos, name), content);
      return join(photos, name);
    };
    mkdirSync(photos);
    cpSync(join(photoFolder, 'chelsea.png'), join(photos, 'cat.png'));
    const [finish, image] = ['1', '1:LoadImage.image'];
    const list = ['--app', String(swatch), '--each', '1:EmptyImage.color'];
    const drafts = `${id}-folder`;
    const sources: Readonly<Record<string, readonly string[]>> = {
      folder: [photos, '--app', finish, '--each', image],
      list: [at('prompts.txt', '#ff0000\n'), ...list],
      workbook: [
        at(
          'rows.xlsx',
          workbook({
            rows: {
              Rows: [
                ['key', '2:Wait.seconds'],
                ['a', 0],
              ],
            },
          }),
        ),
        '--app',
        String(swatch),
      ],
      picks: [
        '--from',
        drafts,
        '--picks',
        at('picks.csv', 'key;output;pick\ncat.png;;keep\n'),
        '--app',
        finish,
        '-i',
        `${image}=output`,
      ],
    };
    for (const [name, args] of Object.entries(sources)) {
      const command = ['batch', 'run', ...args, '--id', `${id}-${name}`, '--prepare'];
      const { stdout } = await runLonghaul(command, { ...process.env, LONGHAUL_ARCHIVE: archive }, photos);
      const { exitCode, last } = await runExample(stack, language, 'start-batch', [stdout]);
      expect({ name, exitCode, last }).toMatchObject({ name, exitCode: 0, last: { rows: 1, success: 1 } });
    }
  });

  it('attaches to the batch of this id that runs, whose rows Longhaul’s client knows by their digest', async () => {
    const id = randomUUID();
    const rows = await prepare(id, [4]);
    const first = run({ id, rows, tuning });
    const batch = stack.client.workflow.getHandle(`batch:${id}`);
    const isStarted = async (): Promise<boolean> => (await batch.describe().catch(() => undefined)) !== undefined;
    await eventually(isStarted, { what: 'the batch to be started' });
    const longhaul = new Longhaul({ client: stack.client, taskQueue: stack.taskQueue });
    const { started } = await longhaul.startBatch({ id, rows, tuning });
    expect(started).toMatchObject({ origin: 'attached', withoutEffect: [] });
    expect(await Promise.all([first, run({ id, rows, tuning })])).toMatchObject([
      { exitCode: 0, last: { success: 1 } },
      { exitCode: 0, last: { success: 1 } },
    ]);
  });
});

describe('a batch fails as the schema has it', () => {
  async function expectFailure(id: string, input: object, expected: object): Promise<void> {
    const failure = await failureOf(await start(id, { id, ...input }));
    expect(failure).toMatchObject(expected);
    expect(schemaProblems('BatchFailure', failure)).toBe('');
  }

  it('as InputInvalid, InputUnusable, RowsChanged and BudgetUnusable, with its details', async () => {
    const [invalid, changed, budget] = [randomUUID(), randomUUID(), randomUUID()];
    const details = { problems: [anyText, anyText] };
    await expectFailure(invalid, { rows: 3, concurrency: 0 }, { type: 'InputInvalid', details });
    await (await start(changed, { id: changed, rows: await prepare(changed, [0]), tuning })).result();
    const rows = await prepare(changed, [1]);
    const changedRows = [{ key: 'row-0' }];
    await expectFailure(changed, { rows, tuning }, { type: 'RowsChanged', details: { changed: 1, changedRows } });
    const unpriced = { rows: await prepare(budget, [0]), budget: '1EUR', tuning };
    await expectFailure(budget, unpriced, { type: 'BudgetUnusable' });
    writeFileSync(rows.location, 'something else');
    await expectFailure(randomUUID(), { rows, tuning }, { type: 'InputUnusable' });
  });
});
