import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  checkRows,
  parseRowTemplate,
  readRows,
  rowFileAt,
  RowFileError,
  type RowFileForm,
  type RowOptions,
} from '../../../src/rows';
import { temporaryFolder } from '../../support/temporary-folder';
import { workbook } from '../../support/workbook-file';

const folder = temporaryFolder();
afterAll(folder.remove);

const text = '3:Text.text';
const width = '2:ImageScale.width';
const each = '1:LoadImage.image';
const sizes = parseRowTemplate(`{"key":"{sku}","inputs":{"${width}":"{width:number}"}}`);
const photos = parseRowTemplate(`{"key":"{sku}","inputs":{"${each}":{"file":"photos/{photo}"},"${text}":"{sku}"}}`);

type Options = RowOptions & RowFileForm;
interface Remedy {
  /** The option as messages name it. */
  readonly option: string;
  /** Content by file; the first is the row file, or what `path` says. */
  readonly files: Readonly<Record<string, string | Buffer>>;
  readonly path?: string;
  readonly before?: Options;
  /** What the message says to do. */
  readonly after: Options;
}

const utf16 = Buffer.from(`key,${text}\na,b\n`, 'utf16le');
const latin = Buffer.from(`key,${text}\na,Grü\n`, 'latin1');
const rows = [
  ['key', text],
  ['a', 'b'],
];
const product = '{"products":[{"inputs":{}}]}';

const remedies: Readonly<Record<string, Remedy>> = {
  'no app': {
    option: '--app',
    files: { 'a.jsonl': '{"inputs":{}}' },
    before: { common: {} },
    after: { common: { webAppId: 1 } },
  },
  'text like a file': {
    option: '--text-column',
    files: { 'a.jsonl': `{"${text}":"@a.jpg"}` },
    after: { textColumns: [text] },
  },
  'a formula': { option: '--text-column', files: { 'a.csv': `key,${text}\na,=A1\n` }, after: { textColumns: [text] } },
  'a formula as a key': {
    option: '--text-column',
    files: { 'a.csv': `key,${text}\n=A1,b\n` },
    after: { textColumns: ['key'] },
  },
  'another delimiter': { option: '--delimiter', files: { 'a.csv': `key;${text}\na;b\n` }, after: { delimiter: ';' } },
  'a list of texts': { option: '--each', files: { 'a.txt': 'one\ntwo\n' }, after: { each: text } },
  'a list of texts with commas': {
    option: '--each',
    files: { 'a.txt': 'one, two\nthree, four\n' },
    after: { each: text },
  },
  'a table in .txt': { option: '--delimiter', files: { 'a.txt': `key,${text}\na,b\n` }, after: { delimiter: ',' } },
  'two keys': {
    option: '--key-column',
    files: { 'a.csv': 'sku,width\na,5\n' },
    before: { template: sizes, keyColumn: 'width' },
    after: { template: sizes, keyColumn: undefined },
  },
  'a file to recurse into': {
    option: '--recursive',
    files: { 'a.csv': `key,${text}\na,b\n` },
    before: { recursive: true },
    after: { recursive: false },
  },
  'folders in a folder': {
    option: '--recursive',
    files: { 'sub/a.jpg': 'x' },
    path: '.',
    before: { each },
    after: { recursive: true },
  },
  'pictures of no input': { option: '--each', files: { 'a.jpg': 'x' }, path: '.', after: { each } },
  'an unknown ending': { option: '--format', files: { 'a.dat': `key,${text}\na,b\n` }, after: { format: 'csv' } },
  'UTF-16 that is said to be Windows-1252': {
    option: '--encoding',
    files: { 'a.csv': utf16 },
    before: { encoding: 'windows-1252' },
    after: { encoding: 'utf-16le' },
  },
  'another encoding': { option: '--encoding', files: { 'a.csv': latin }, after: { encoding: 'windows-1252' } },
  'the wrong encoding': {
    option: '--encoding',
    files: { 'a.csv': latin },
    before: { encoding: 'gbk' },
    after: { encoding: 'windows-1252' },
  },
  'an unknown encoding': {
    option: '--encoding',
    files: { 'a.csv': latin },
    before: { encoding: 'latin-9000' },
    after: { encoding: 'windows-1252' },
  },
  'a caption in another encoding': {
    option: '--encoding',
    files: { 'a.jpg': 'x', 'a.txt': Buffer.from('Grün', 'latin1') },
    before: { each, captions: text },
    after: { encoding: 'windows-1252' },
  },
  'no such sheet': {
    option: '--sheet',
    files: { 'a.xlsx': workbook({ rows: { One: rows } }) },
    before: { sheet: 'Two' },
    after: { sheet: 'One' },
  },
  'an object': {
    option: '--rows',
    files: { 'a.json': product },
    before: { rows: 'product' },
    after: { rows: 'products' },
  },
  'a field that is the key': {
    option: '--key-column',
    files: { 'a.jsonl': '{"sku":"a","inputs":{}}' },
    after: { keyColumn: 'sku' },
  },
  'a field of my own': {
    option: '--ignore-column',
    files: { 'a.jsonl': '{"note":"a","inputs":{}}' },
    after: { ignoreColumns: ['note'] },
  },
  'a field for a template': {
    option: '--template',
    files: { 'a.jsonl': '{"sku":"a"}' },
    after: { template: parseRowTemplate(`{"inputs":{"${text}":"{sku}"}}`) },
  },
  'columns of my own': { option: '--template', files: { 'a.csv': 'sku,width\na,5\n' }, after: { template: sizes } },
  'a column for a template': {
    option: '--template',
    files: { 'a.csv': `key,sku,width\na,a,5\n` },
    after: { template: sizes },
  },
  'a column of my own': {
    option: '--ignore-column',
    files: { 'a.csv': `key,${text},note\na,b,c\n` },
    after: { ignoreColumns: ['note'] },
  },
  'an empty text': { option: '--empty', files: { 'a.csv': `key,${text}\na,\n` }, after: { emptyCells: 'text' } },
  'an empty input': { option: '--empty', files: { 'a.csv': `key,${width}\na,\n` }, after: { emptyCells: 'omit' } },
  'an empty number': {
    option: '--empty',
    files: { 'a.csv': 'sku,width\na,\n' },
    before: { template: sizes },
    after: { emptyCells: 'omit' },
  },
  'an empty file': {
    option: '--empty',
    files: { 'a.csv': 'sku,photo\na,\n' },
    before: { template: photos },
    after: { emptyCells: 'omit' },
  },
  'a decimal comma': {
    option: '--decimal',
    files: { 'a.csv': `key,${width}\na,"0,5"\n` },
    after: { decimal: 'comma' },
  },
  'a decimal comma in a template': {
    option: '--decimal',
    files: { 'a.csv': 'sku,width\na,"0,5"\n' },
    before: { template: sizes },
    after: { decimal: 'comma' },
  },
  'a decimal comma in a workbook': {
    option: '--decimal',
    files: {
      'a.xlsx': workbook({
        rows: {
          One: [
            ['key', width],
            ['a', '0,5'],
          ],
        },
      }),
    },
    after: { decimal: 'comma' },
  },
  'what may be thousands': {
    option: '--decimal',
    files: { 'a.csv': `key;${width}\na;1.024\n` },
    before: { delimiter: ';' },
    after: { decimal: 'point' },
  },
};

let count = 0;

function write(files: Remedy['files']): string {
  const place = join(folder.path, `${(count += 1)}`);
  for (const [name, content] of Object.entries(files)) {
    const file = join(place, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  return place;
}

/** What is wrong with the rows, or with their file. */
async function problemsOf(path: string, { format, encoding, recursive, ...options }: Options): Promise<string[]> {
  try {
    const outcomes = readRows(rowFileAt(path, { format, encoding, recursive }), {
      common: { webAppId: 1 },
      ...options,
    });
    const { firstProblems } = await checkRows(outcomes);
    return firstProblems.map(({ message }) => message);
  } catch (error) {
    if (error instanceof RowFileError) return [...error.problems];
    throw error;
  }
}

const found: string[] = [];

describe('an option that a message names', () => {
  it.each(Object.entries(remedies))(
    'solves the problem: %s',
    async (_what, { option, files, path, before = {}, after }) => {
      const [first = ''] = Object.keys(files);
      const file = join(write(files), path ?? first);
      const problems = await problemsOf(file, before);
      expect(problems).toEqual([expect.stringContaining(`(${option})`)]);
      found.push(...problems);
      expect(await problemsOf(file, { ...before, ...after })).toEqual([]);
    },
  );

  it('is one of those that are tried here', () => {
    // Of a batch's record and of picks it is tried beside them.
    const elsewhere = ['row-choice.ts', 'picked-outputs.ts'];
    const sources = readdirSync(join(__dirname, '../../../src/rows')).filter((name) => !elsewhere.includes(name));
    const named = /([^`'"${}]+ (?:by|its) )\$\{optionNames\./g;
    const written = sources.flatMap((name) =>
      [...readFileSync(join(__dirname, '../../../src/rows', name), 'utf8').matchAll(named)].map(
        ([, words = '']) => words,
      ),
    );
    expect(written.length).toBeGreaterThan(15);
    expect(written.filter((words) => !found.some((message) => message.includes(words)))).toEqual([]);
  });
});

describe('no option is named where it does not help', () => {
  it.each<[string, string, Remedy['files'], Options]>([
    ['--text-column', 'an error in a number', { 'a.csv': 'sku,width\na,#REF!\n' }, { template: sizes }],
    ['--text-column', 'an error in an app', { 'a.csv': `webAppId,${text}\n#REF!,b\n` }, {}],
    ['--decimal', 'a word in a number', { 'a.csv': 'sku,width\na,five\n' }, { template: sizes }],
    ['--ignore-column', 'no column that is known', { 'a.csv': 'sku,photo\na,b\n' }, {}],
    ['--each', 'one column in CSV', { 'a.csv': 'title\na\n' }, {}],
    ['--key-column', 'an object', { 'a.jsonl': '{"image":{},"inputs":{}}' }, {}],
    ['--template', 'a template', { 'a.csv': 'title,note\na,b\n' }, { template: sizes }],
  ])('%s: %s', async (option, _what, files, options) => {
    const [first = ''] = Object.keys(files);
    const problems = await problemsOf(join(write(files), first), options);
    expect(problems.length).toBeGreaterThan(0);
    expect(problems.filter((message) => message.includes(option))).toEqual([]);
  });

  it('--recursive: a folder without others', async () => {
    const [problem = ''] = await problemsOf(write({ 'a.log': 'x' }), { each });
    expect(problem).toContain('no picture');
    expect(problem).not.toContain('--recursive');
  });
});
