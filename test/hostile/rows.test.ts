import { randomUUID } from 'node:crypto';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { Longhaul } from '../../src/client/longhaul';
import { runCommandLine } from '../../src/commands/program';
import type { RowsReference } from '../../src/contract/batch/batch-input';
import { isTaskKey } from '../../src/contract/workflow-ids';
import { prepareRows, type PreparedRow, preparedIndexPath, readRows, rowFileAt, RowFileError } from '../../src/rows';
import { eventually } from '../support/eventually';
import { FakeContext } from '../support/fake-context';
import { preparedRows, writePreparedRows } from '../support/prepared-rows-under-test';
import { endedRow } from '../support/record-under-test';
import { fastTuning } from '../support/task-environment';
import { TaskStack } from '../support/task-stack';
import { temporaryFolder } from '../support/temporary-folder';
import { workbook } from '../support/workbook-file';

const folder = temporaryFolder();
afterAll(() => {
  folder.remove();
});

/** `HOSTILE_SEED=…` makes the same files again; jest prints the seed of a run that fails. */
const seed = Number(process.env['HOSTILE_SEED'] ?? Date.now() % 2 ** 31);
const input = '3:Text.text';
/** What must not reach a terminal; line ends are the output's own. */
const unprintable = /[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}]/u;

const nasty = fc.constantFrom(
  ...[
    '=cmd|calc',
    '+1',
    '-5',
    '@/etc/passwd',
    '@',
    '\t',
    '\u001b[2J',
    '\u202e',
    '\u0000',
    '\uFEFF',
    '\uD800',
    'é',
    'e\u0301',
  ],
  ...[
    '__proto__',
    'constructor',
    '../../x',
    'batches/b/results',
    '{{key}}',
    '${x}',
    '1e999',
    '"',
    "'",
    '\r',
    'x'.repeat(3_000),
  ],
  ...['true', '{"file":"x"}', 'https://a/?X-Amz-Signature=1', 's3://b/k', 'file:///etc/passwd', 'KEY', 'key', ''],
);
const cell = fc.oneof(nasty, fc.string({ unit: 'binary', maxLength: 20 }));
const column = fc.oneof(
  fc.constantFrom('key', input, 'webAppId', 'archive', 'batch', 'adopt', 'inputs', 'createNumber'),
  nasty,
);
const quoted = (text: string, separator: string): string =>
  /["\n\r]/.test(text) || text.includes(separator) ? `"${text.replaceAll('"', '""')}"` : text;
const table = (separator: string) =>
  fc
    .tuple(
      fc.array(column, { minLength: 1, maxLength: 5 }),
      fc.array(fc.array(cell, { maxLength: 6 }), { maxLength: 6 }),
    )
    .map((parts) => parts.flat(0))
    .map(([head, rows]) => [head as string[], ...(rows as string[][])])
    .map((lines) => lines.map((cells) => cells.map((one) => quoted(one, separator)).join(separator)).join('\n'));
const jsonLines = fc
  .array(fc.oneof(fc.dictionary(column, fc.oneof(cell, fc.jsonValue())), fc.jsonValue()), { maxLength: 6 })
  .map((rows) => rows.map((row) => JSON.stringify(row)).join('\n'));
const rowFile = fc.oneof(
  fc.tuple(fc.constant('csv' as const), table(',')),
  fc.tuple(fc.constant('tsv' as const), table('\t')),
  fc.tuple(fc.constant('jsonl' as const), jsonLines),
  fc.tuple(fc.constantFrom('csv', 'tsv', 'jsonl'), fc.uint8Array({ maxLength: 300 })),
);

const sheet = (rows: string): Buffer =>
  workbook({ rows: { One: [] }, parts: { 'xl/worksheets/sheet0.xml': `<worksheet><sheetData>${rows}` } });

async function write(format: string, content: string | Uint8Array): Promise<string> {
  const path = join(folder.path, `${randomUUID()}.${format}`);
  await writeFile(path, content);
  return path;
}

describe('a row file that means harm', () => {
  it('ends with rows that can run, or with refusals that name line, field and remedy, on a clean terminal', async () => {
    await fc.assert(
      fc.asyncProperty(rowFile, async ([format, content]) => {
        const path = await write(format, content);
        const context = new FakeContext();
        await runCommandLine(['batch', 'run', path, '--app', '1', '--dry-run', '--id', 'harm'], context);
        expect([0, 2]).toContain(context.exitCode);
        expect(`${context.stdout.text}${context.stderr.text}`).not.toMatch(unprintable);

        const good: PreparedRow[] = [];
        const read = readRows(rowFileAt(path), { common: { webAppId: 1 }, batchId: 'harm' });
        const prepared = await prepareRows(read, {
          ...{ folder: folder.path, name: 'harm', skipBad: true, maxProblems: 1_000 },
          onRow: (row) => void good.push(row),
        }).catch((error: unknown) => {
          if (!(error instanceof RowFileError) || error.problems.includes('')) throw error;
          return undefined;
        });
        for (const { line, message } of prepared?.report.firstProblems ?? []) {
          expect(line).toBeGreaterThanOrEqual(1);
          expect(message).toMatch(/\w.{10,}/);
          expect(message.length).toBeLessThan(2_000);
        }
        expect(good.every(({ key }) => isTaskKey(key))).toBe(true);
        expect(new Set(good.map(({ key }) => key.toLowerCase())).size).toBe(good.length);
      }),
      { numRuns: 300, seed },
    );
  });

  it.each<[string, string, () => string | Uint8Array]>([
    ['a million columns', 'csv', () => `${Array.from({ length: 1_000_000 }, (_, n) => `c${n}`).join(',')}\n1\n`],
    ['one cell of 40 MB', 'csv', () => `key,${input}\na,${'x'.repeat(40_000_000)}\nb,fine\n`],
    ['a quote that never ends', 'csv', () => `key,${input}\na,"${'x,\n'.repeat(8_000_000)}`],
    ['one line of 40 MB', 'jsonl', () => `{"key":"a","inputs":{"${input}":"${'x'.repeat(40_000_000)}"}}\n`],
    ['a million fields', 'jsonl', () => `{${Array.from({ length: 1_000_000 }, (_, n) => `"f${n}":1`).join(',')}}\n`],
    ['a hundred thousand empty rows', 'csv', () => `key,${input}\n${',\n'.repeat(100_000)}`],
    ['twenty thousand JSON rows', 'json', () => `[${'{"inputs":{}},'.repeat(20_000)}{}]`],
    [
      'a cell of 100 MB in a workbook',
      'xlsx',
      () => sheet(`<row><c t="inlineStr"><is><t>${'x'.repeat(1e8)}</t></is></c></row>`),
    ],
    [
      'a million cells in a row of a workbook',
      'xlsx',
      () => sheet(`<row>${'<c><v>1</v></c>'.repeat(1_000_000)}</row>`),
    ],
    ['a million elements in a workbook', 'xlsx', () => sheet('<row>'.repeat(1_000_000))],
    [
      'five million texts in a workbook',
      'xlsx',
      () => workbook({ rows: { One: [] }, parts: { 'xl/sharedStrings.xml': '<sst><si><t>x</t></si>'.repeat(5e6) } }),
    ],
    [
      'a workbook of twenty thousand parts',
      'xlsx',
      () =>
        workbook({
          rows: { One: [] },
          parts: Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`${n}.xml`, ''])),
        }),
    ],
    [
      'a number format of a megabyte',
      'xlsx',
      () =>
        workbook({
          formats: ['#'.repeat(1e6)],
          rows: {
            One: [
              ['key', input],
              ['a', { number: '5', style: 1 }],
            ],
          },
        }),
    ],
  ])('with %s is read in seconds and without its size in memory', async (_what, format, content) => {
    const path = await write(format, content());
    const { size } = await stat(path);
    const before = process.memoryUsage().heapUsed;
    const context = new FakeContext();
    await runCommandLine(['batch', 'run', path, '--app', '1', '--dry-run'], context);
    expect([0, 2]).toContain(context.exitCode);
    expect(context.stdout.text.length + context.stderr.text.length).toBeLessThan(200_000);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(150_000_000 + size);
  });
});

describe('a batch whose prepared rows or record somebody has changed', () => {
  let stack: TaskStack;
  let longhaul: Longhaul;
  beforeAll(async () => {
    stack = await TaskStack.open({ env: { LONGHAUL_INPUT_ROOTS: folder.path }, service: { slots: 100 } });
    longhaul = new Longhaul({ client: stack.client, taskQueue: stack.taskQueue });
  });
  afterAll(() => stack.close());

  const rows = preparedRows(['a', 'b', 'c'].map((key) => ({ key, input: { inputs: {}, tuning: fastTuning } })));

  type Harm = (place: { readonly id: string; readonly reference: RowsReference }) => Promise<void>;
  const inArchive = async (name: string, content: string): Promise<void> => {
    const path = join(stack.archive, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  };
  const edit = async (path: string, change: (text: string) => string | Buffer): Promise<void> => {
    await writeFile(path, change(await readFile(path, 'utf8')));
  };
  const layout = (id: string, { digest, pages }: RowsReference): string =>
    JSON.stringify({ id, digest, rows: 3, pages });
  const page = ({ digest }: RowsReference): string => `results/${digest.slice(0, 12)}/0.jsonl`;

  const harms: readonly (readonly [string, Harm])[] = [
    [
      'a row that costs more',
      ({ reference }) => edit(reference.location, (text) => text.replace('"webAppId":5', '"webAppId":6')),
    ],
    [
      'a key that leads elsewhere',
      ({ reference }) => edit(reference.location, (text) => text.replace('"key":"a"', '"key":"../a"')),
    ],
    ['a row twice', ({ reference }) => edit(reference.location, (text) => text.replace(/^(.*)\n.*\n/, '$1\n$1\n'))],
    ['no rows', ({ reference }) => writeFile(reference.location, '')],
    [
      'an index that leads far away',
      ({ reference }) => writeFile(preparedIndexPath(reference.location), Buffer.alloc(16, 255)),
    ],
    ['a record that is rubbish', ({ id }) => inArchive(`batches/${id}/batch.json`, '\u0000')],
    ['a record of another batch', ({ id, reference }) => inArchive(`batches/${id}/batch.json`, layout('x', reference))],
    [
      'a record of more rows than there can be',
      ({ id }) =>
        inArchive(`batches/${id}/batch.json`, JSON.stringify({ id, digest: 'other', rows: 1e15, pages: 1e15 })),
    ],
    [
      'records that say that all is done',
      async ({ id, reference }) => {
        const done = rows.map((row) => endedRow(row, 0, { createNumber: 2 ** 50, outputs: [] }));
        const lines = [{ records: 3 }, ...done].map((line) => JSON.stringify(line)).join('\n');
        await inArchive(`batches/${id}/batch.json`, layout(id, reference));
        await inArchive(`batches/${id}/${page(reference)}`, `${lines}\n`);
      },
    ],
    [
      'a page that is rubbish',
      async ({ id, reference }) => {
        await inArchive(`batches/${id}/batch.json`, layout(id, reference));
        await inArchive(`batches/${id}/${page(reference)}`, '{"records":1e999}\n');
      },
    ],
    [
      'a folder where a file should be',
      ({ id }) => mkdir(join(stack.archive, `batches/${id}/batch.json`), { recursive: true }).then(() => undefined),
    ],
    ['somebody’s files among its own', ({ id }) => inArchive(`batches/${id}/results/mine/0.png`, 'paid for')],
  ];

  it('ends, or can be stopped within a minute, and creates no task twice', async () => {
    const before = stack.service.ledger.total('create');
    const ends = await Promise.all(
      harms.map(async ([name, harm]) => {
        const id = `harm-${randomUUID()}`;
        const reference = await writePreparedRows(folder.path, id, rows);
        await harm({ id, reference });
        const batch = await longhaul.startBatch({ id, rows: reference, tuning: { refillMs: 50, retryMaxMs: 500 } });
        const isOver = async (): Promise<boolean> => (await batch.status()).isOver;
        const isSettled = async (): Promise<boolean> =>
          (await isOver()) || (await batch.status()).problem?.code === 'Retrying';
        await eventually(isSettled, { withinMs: 60_000, what: `the batch with ${name} to end or to be tried again` });
        if (!(await isOver())) {
          await batch.stop();
          await eventually(isOver, { withinMs: 60_000, what: `the batch with ${name} to be stopped` });
        }
        return [name, (await batch.status()).execution];
      }),
    );
    expect(Object.fromEntries(ends)).toEqual({
      'a row that costs more': 'FAILED',
      'a key that leads elsewhere': 'FAILED',
      'a row twice': 'FAILED',
      'no rows': 'FAILED',
      'an index that leads far away': 'FAILED',
      'a record that is rubbish': 'CANCELLED',
      'a record of another batch': 'CANCELLED',
      'a record of more rows than there can be': 'COMPLETED',
      'records that say that all is done': 'COMPLETED',
      'a page that is rubbish': 'CANCELLED',
      'a folder where a file should be': 'CANCELLED',
      'somebody’s files among its own': 'COMPLETED',
    });
    // Of two batches every row was run, once.
    expect(stack.service.ledger.total('create') - before).toBe(2 * rows.length);
  });
});
