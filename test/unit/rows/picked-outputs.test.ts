import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openArchivedBatch } from '../../../src/archive/archived-batch';
import type { ResultLine } from '../../../src/archive/result-line';
import {
  checkRows,
  outputsOf,
  type PreparedRow,
  readRows,
  rowFileAt,
  RowFileError,
  type RowOptions,
  type RowProblem,
} from '../../../src/rows';
import { FolderArchive } from '../../../src/storage/archive/folder-archive';
import { archiveTask, resultLineOf, type TaskInArchive, writeResults } from '../../support/archived-batch';
import { sha256 } from '../../support/archive-content';
import { temporaryFolder } from '../../support/temporary-folder';

/* Outputs of a batch as rows of another one: which become rows, under which keys, and what is refused. */

const folder = temporaryFolder();
afterAll(folder.remove);

const each = '1:LoadImage.image';
let count = 0;

/** A batch "drafts" in an archive of its own: A with two outputs, B with one, C failed. */
async function drafts(task: Partial<TaskInArchive> = {}, line: Partial<ResultLine> = {}) {
  const archive = new FolderArchive(join(folder.path, `${(count += 1)}`));
  const outputs = 'batches/drafts/outputs';
  const keep = async (key: string, files: Record<string, string>, more: Partial<TaskInArchive> = {}) =>
    await archiveTask(archive, { requestId: `request-${key}`, folder: outputs, files, ...more });
  const two = { '0.png': 'one', '1.png': 'two' };
  const manifests = {
    A: await keep('A', two, {
      manifest: { values: { '6:Text.text': '1,024', '3:Seed.seed': 7 } },
      ...task,
    }),
    B: await keep('B', { '0.png': 'three' }),
  };
  const cellsOf = (prompt: string, width: string): ResultLine['cells'] => [
    ['prompt', prompt],
    ['width', width],
  ];
  await writeResults(archive, 'drafts', [
    resultLineOf('drafts', 'A', { manifest: manifests.A, outputCount: 2, cells: cellsOf('a cat', '007'), ...line }),
    resultLineOf('drafts', 'B', { manifest: manifests.B, cells: cellsOf('=a dog', '512') }),
    resultLineOf('drafts', 'C', { status: 'Failed', cells: cellsOf('', '1') }),
  ]);
  const pathOf = (name: string): string => archive.locate(`${outputs}/${name}`);
  return {
    batch: await openArchivedBatch(archive, 'drafts'),
    paths: ['request-A/0.png', 'request-A/1.png', 'request-B/0.png'].map(pathOf),
  };
}

type Drafts = Awaited<ReturnType<typeof drafts>>;

async function check({ batch }: Drafts, picks?: string | Buffer, options: RowOptions = {}, name = 'picks.csv') {
  const rows: PreparedRow[] = [];
  const problems: RowProblem[] = [];
  const table = join(folder.path, name);
  if (picks !== undefined) writeFileSync(table, picks);
  const file = outputsOf(batch, picks === undefined ? undefined : rowFileAt(table), folder.path);
  await checkRows(readRows(file, { common: { webAppId: 9 }, each, ...options }), {
    onRow: (row) => void rows.push(row),
    onProblem: (problem) => void problems.push(problem),
  });
  return { rows, problems, keys: rows.map(({ key }) => key) };
}

/** As the report saves it. */
const table = (...lines: readonly (readonly string[])[]): string =>
  `\uFEFFkey,output,pick\n${lines.map((line) => line.map((cell) => `"${cell}"`).join(',')).join('\n')}\n`;

it('without picks every output of rows that succeeded is a row, with its content and the columns of its former row', async () => {
  const former = await drafts();
  const { rows, keys, problems } = await check(former, undefined, { columnInputs: { '2:Text.text': 'prompt' } });
  expect({ keys, problems }).toEqual({ keys: ['A', 'A-2', 'B'], problems: [] });
  expect(rows.map(({ input }) => input.inputs)).toEqual([
    { [each]: { file: former.paths[0], sha256: sha256('one') }, '2:Text.text': 'a cat' },
    { [each]: { file: former.paths[1], sha256: sha256('two') }, '2:Text.text': 'a cat' },
    { [each]: { file: former.paths[2], sha256: sha256('three') }, '2:Text.text': '=a dog' },
  ]);
  expect(rows[1]?.table?.columns).toEqual(['prompt', 'width', 'from_output']);
  expect(rows[1]?.cells).toEqual(['a cat', '007', former.paths[1]]);
});

it.each<readonly [string, string, (paths: readonly string[]) => string | Buffer]>([
  [
    'as the report saves them',
    'picks.csv',
    ([, two = '', b = '']) => table(['A', two, 'keep'], ['B', b, 'reject'], ['C', '', 'reject']),
  ],
  ['with one line for all other outputs', 'picks.csv', ([one = '']) => table(['A', one, 'reject'], ['A', '', 'keep'])],
  [
    'in another order, with semicolons',
    'picks.csv',
    ([, two = '']) => `pick;note;output;key\r\nKeep;x;${two};A\r\n;;;B\r\n`,
  ],
  ['with semicolons behind a mark', 'picks.csv', ([, two = '']) => `\uFEFFkey;output;pick\n A ;${two};keep\n`],
  [
    'in UTF-16 with tabs',
    'picks.txt',
    ([, two = '']) => Buffer.from(`\uFEFFkey\toutput\tpick\nA\t${two}\tkeep\n`, 'utf16le'),
  ],
])('picks are read %s', async (_, name, picksOf) => {
  const former = await drafts();
  const { keys, rows, problems } = await check(former, picksOf(former.paths), {}, name);
  expect({ keys, problems }).toEqual({ keys: ['A-2'], problems: [] });
  expect(rows[0]?.input.inputs[each]).toEqual({ file: former.paths[1], sha256: sha256('two') });
});

it('more picks and another order change no row', async () => {
  const former = await drafts();
  const [one = '', two = '', b = ''] = former.paths;
  const few = await check(former, table(['A', two, 'keep']));
  const many = await check(former, table(['B', b, 'keep'], ['A', two, 'keep'], ['A', one, 'keep']));
  expect(many.keys).toEqual(['A', 'A-2', 'B']);
  expect(many.rows.find(({ key }) => key === 'A-2')?.digest).toBe(few.rows[0]?.digest);
});

it.each<readonly [string, Record<string, string>, RowOptions, unknown]>([
  ['a number where it is one', { '2:A.b': 'width' }, {}, 512],
  ['text where that is said', { '2:A.b': 'width' }, { textColumns: ['2:A.b'] }, '512'],
  ['the key', { '2:A.b': 'key' }, {}, 'B'],
])('a column becomes %s', async (_, columnInputs, options, expected) => {
  const former = await drafts();
  const picks = table(['B', '', 'keep']);
  const { rows } = await check(former, picks, { columnInputs, ...options });
  expect(rows[0]?.input.inputs['2:A.b']).toBe(expected);
});

it('an input of the former row is a column, too, and keeps its type', async () => {
  const picks = table(['A', '', 'keep']);
  const columnInputs = { '2:A.b': '3:Seed.seed', '2:A.c': '6:Text.text' };
  const { rows } = await check(await drafts(), picks, { columnInputs });
  expect(rows[0]?.input.inputs).toMatchObject({ '2:A.b': 7, '2:A.c': '1,024' });
});

describe('one bad row is', () => {
  const good = ['B', '', 'keep'];
  it.each<readonly [string, () => Promise<Drafts>, (paths: readonly string[]) => string, Partial<RowProblem>]>([
    [
      'a key that the batch does not have',
      drafts,
      () => table(['X', '', 'keep'], good),
      { code: 'KEY', field: 'key', value: '"X"', line: 2 },
    ],
    [
      'an output of another batch',
      drafts,
      () => table(['A', '/else/0.png', 'keep'], good),
      { code: 'FILE', value: '"/else/0.png"', line: 2 },
    ],
    ['a row that failed', drafts, () => table(good, ['C', '', 'keep']), { code: 'FILE', line: 3 }],
    [
      'a word that is no pick',
      drafts,
      () => table(['A', '', 'maybe'], good),
      { code: 'VALUE', field: 'pick', value: '"maybe"' },
    ],
    [
      'an output that is picked twice',
      drafts,
      ([one = '']) => table(['A', one, 'reject'], ['A', one, 'keep'], good),
      { code: 'DUPLICATE' },
    ],
    [
      'an output that is gone',
      async () => {
        const former = await drafts();
        rmSync(former.paths[0] ?? '');
        return former;
      },
      ([one = '']) => table(['A', one, 'keep']),
      { code: 'FILE' },
    ],
    [
      'an output that is shorter',
      async () => {
        const former = await drafts();
        writeFileSync(former.paths[0] ?? '', 'x');
        return former;
      },
      ([one = '']) => table(['A', one, 'keep']),
      { code: 'FILE' },
    ],
    [
      'an archive that is incomplete',
      () => drafts({ manifest: { complete: false } }),
      () => table(['A', '', 'keep'], good),
      { code: 'FILE' },
    ],
    [
      'a manifest that is gone',
      () => drafts({}, { manifest: '/else/manifest.json' }),
      () => table(['A', '', 'keep'], good),
      { code: 'FILE' },
    ],
    [
      'a manifest that names files elsewhere',
      () => drafts({ more: [{ file: '../../../../../etc/passwd', bytes: 1, sha256: 'a' }] }),
      () => table(['A', '', 'keep']),
      { code: 'FILE' },
    ],
    [
      'a video for an image',
      () => drafts({ files: { '0.mp4': 'film' } }),
      () => table(['A', '', 'keep'], good),
      { code: 'FILE' },
    ],
  ])('%s', async (_, make, picksOf, expected) => {
    const former = await make();
    const { problems } = await check(former, picksOf(former.paths));
    expect(problems).toEqual([expect.objectContaining(expected)]);
  });
});

describe('all is refused', () => {
  it.each<readonly [string, string | undefined, RowOptions]>([
    ['without a line that keeps', table(['A', '', 'reject'], ['B', '', '']), {}],
    ['with picks of another batch', table(['X', '', 'keep'], ['Y', '', 'keep']), {}],
    ['without the column of picks', 'key,output\nA,x\n', {}],
    ['without the input that the outputs are', undefined, { each: undefined }],
    ['with options of other rows', undefined, { captions: '2:Text.text' }],
    ['with columns of a table', undefined, { keyColumn: 'key' }],
  ])('%s', async (_, picks, options) => {
    await expect(check(await drafts(), picks, options)).rejects.toThrow(RowFileError);
  });

  it('with picks that are no table', async () => {
    const { batch } = await drafts();
    expect(() => outputsOf(batch, rowFileAt('photo.jpg'))).toThrow(RowFileError);
  });
});
