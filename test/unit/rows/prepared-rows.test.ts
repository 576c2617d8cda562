import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RowsReference } from '../../../src/contract/batch/batch-input';
import { inputDigest } from '../../../src/contract/task-input';
import {
  type ByteRanges,
  preparedRowsAt,
  PreparedRowsError,
  PreparedRowsWriter,
  readPreparedPage,
  type PageLimits,
  type PreparedRow,
} from '../../../src/rows';
import { temporaryFolder } from '../../support/temporary-folder';

const files = temporaryFolder();
afterAll(() => {
  files.remove();
});

function preparedRow(index: number, text = `Zürich ${index}\n"x"`): PreparedRow {
  const input = { webAppId: 7, inputs: { '3:Text.text': text } };
  return {
    index,
    line: index + 2,
    key: `k${index}`,
    originalKey: null,
    input,
    digest: inputDigest(input),
    columns: { city: 'x' },
  };
}

async function written(name: string, rows: readonly PreparedRow[], limits?: PageLimits): Promise<RowsReference> {
  const writer = await PreparedRowsWriter.create(files.path, limits);
  for (const row of rows) await writer.add(row);
  return await writer.finish(() => name);
}

async function write(...args: Parameters<typeof written>): Promise<string> {
  return (await written(...args)).location;
}

const rows = Array.from({ length: 25 }, (_, index) => preparedRow(index));

describe('prepared rows', () => {
  it('are read page by page as they were written, in any order, until there is none', async () => {
    const prepared = preparedRowsAt(await write('pages.jsonl', rows, { rows: 10 }));

    expect(await readPreparedPage(prepared, 2)).toEqual(rows.slice(20));
    expect(await readPreparedPage(prepared, 0)).toEqual(rows.slice(0, 10));
    expect(await readPreparedPage(prepared, 1)).toEqual(rows.slice(10, 20));
    expect(await readPreparedPage(prepared, 3)).toBeUndefined();
    expect(await readPreparedPage(prepared, 400)).toBeUndefined();
  });

  it.each(['taken.jsonl', 'taken.jsonl.index'])(
    'that cannot be finished leave no part behind: %s is a folder',
    async (name) => {
      const folder = mkdtempSync(join(files.path, 'unfinished-'));
      const writer = await PreparedRowsWriter.create(folder);
      await writer.add(preparedRow(0));
      mkdirSync(join(folder, name, 'inside'), { recursive: true });

      await expect(writer.finish(() => 'taken.jsonl')).rejects.toThrow(/EISDIR|ENOTEMPTY/);
      expect(readdirSync(folder).filter((file) => file.includes('.part-'))).toEqual([]);
    },
  );

  it('have pages that end early where they would become too large', async () => {
    const large = [1_500, 1_500, 1_500, 5_000].map((length, index) => preparedRow(index, 'x'.repeat(length)));
    const { location, ...counts } = await written('sizes.jsonl', large, { rows: 10, bytes: 2_000 });

    expect(counts).toMatchObject({ rows: 4, pages: 4 });
    expect(await readPreparedPage(preparedRowsAt(location), 3)).toMatchObject([{ index: 3 }]);
  });

  it('have a digest of their keys and digests in order, and of where their pages end', async () => {
    const digestOf = async (some: readonly PreparedRow[], limits?: PageLimits): Promise<string> =>
      (await written('digest.jsonl', some, limits)).digest;
    const digest = await digestOf(rows);

    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(await digestOf(rows.map((row) => ({ ...row, line: row.line + 5 })))).toBe(digest);
    expect(await digestOf(rows, { rows: 3 })).not.toBe(digest);
    expect(await digestOf([...rows].reverse())).not.toBe(digest);
    expect(await digestOf(rows.map((row, n) => (n === 3 ? { ...row, digest: 'e' } : row)))).not.toBe(digest);
  });

  it('keep the form of their table once and their own cells, which change neither digest nor pages', async () => {
    const table = { columns: ['key', 'notes'], delimiter: ';', hasBom: true } as const;
    const withCells = rows.map((row, n) => ({ ...row, table, cells: [row.key, 'x'.repeat(n === 3 ? 65_536 : 3_000)] }));
    const limits = { rows: 10, bytes: 4_000 };
    const { pages, digest } = await written('plain.jsonl', rows, limits);
    const { location, ...summary } = await written('cells.jsonl', withCells, limits);

    expect(summary).toEqual({ rows: 25, pages, digest });
    const prepared = preparedRowsAt(location);
    const read: PreparedRow[] = [];
    for (let page = 0; page < pages; page += 1) read.push(...((await readPreparedPage(prepared, page)) ?? []));
    expect(read).toEqual(
      rows.map((row, n) => ({
        ...row,
        ...(n === 0 && { table }),
        ...(n !== 3 && { cells: withCells[n]?.cells }),
      })),
    );
  });

  it('can be none', async () => {
    expect(await readPreparedPage(preparedRowsAt(await write('none.jsonl', [])), 0)).toBeUndefined();
  });

  it('are read by their page and two entries of the index alone, from wherever they are', async () => {
    const path = await write('ranges.jsonl', rows, { rows: 5 });
    const asked: [number, number][] = [];
    const ranges = (file: string): ByteRanges => ({
      read: (start, end) => {
        asked.push([start, end]);
        return Promise.resolve(readFileSync(file).subarray(start, end));
      },
    });
    const page = await readPreparedPage({ rows: ranges(path), index: ranges(`${path}.index`) }, 3);

    expect(page).toEqual(rows.slice(15, 20));
    const pageBytes = Buffer.byteLength(
      rows
        .slice(15, 20)
        .map((row) => `${JSON.stringify(row)}\n`)
        .join(''),
    );
    expect(asked.map(([start, end]) => end - start)).toEqual([16, pageBytes]);
  });

  it('have their names only when they are whole, and replace those of before', async () => {
    const folder = mkdtempSync(join(files.path, 'whole-'));
    const writer = await PreparedRowsWriter.create(folder);
    await writer.add(preparedRow(0));
    expect(readdirSync(folder).filter((name) => !name.includes('.part-'))).toEqual([]);
    await writer.discard();
    expect(readdirSync(folder)).toEqual([]);
    for (const count of [2, 1]) {
      const next = await PreparedRowsWriter.create(folder, { rows: 1 });
      for (const row of rows.slice(0, count)) await next.add(row);
      await next.finish(() => 'rows.jsonl');
    }
    expect(readdirSync(folder)).toEqual(['rows.jsonl', 'rows.jsonl.index']);
    expect(await readPreparedPage(preparedRowsAt(join(folder, 'rows.jsonl')), 1)).toBeUndefined();
  });

  it.each([
    ['was cut short', (bytes: Buffer) => bytes.subarray(0, -40)],
    ['holds something else', (bytes: Buffer) => Buffer.alloc(bytes.length, '{}\n')],
    ['is longer than its index says', (bytes: Buffer) => Buffer.concat([Buffer.from('xx'), bytes])],
  ])('whose file %s are refused', async (_, damage) => {
    const path = await write('damaged.jsonl', rows);
    writeFileSync(path, damage(readFileSync(path)));

    await expect(readPreparedPage(preparedRowsAt(path), 0)).rejects.toThrow(PreparedRowsError);
  });

  it('whose index is damaged are refused', async () => {
    const path = await write('index.jsonl', rows);
    writeFileSync(`${path}.index`, Buffer.alloc(16, 0xff));
    await expect(readPreparedPage(preparedRowsAt(path), 0)).rejects.toThrow('prepare the rows again');
    writeFileSync(`${path}.index`, Buffer.from('00000000000000007fffffffffffffff', 'hex'));
    await expect(readPreparedPage(preparedRowsAt(path), 0)).rejects.toThrow(PreparedRowsError);
  });

  it('names the row that was edited after it was checked, and gives out none of its page', async () => {
    const path = await write(
      'edited.jsonl',
      [0, 1, 2].map((index) => preparedRow(index, 'five')),
    );
    const [first = '', second = '', ...rest] = readFileSync(path, 'utf8').split('\n');
    writeFileSync(path, [first, second.replace('five', 'nine'), ...rest].join('\n'));

    await expect(readPreparedPage(preparedRowsAt(path), 0)).rejects.toThrow(
      'line 3 (key "k1") was changed after it was checked; prepare the rows again.',
    );
  });

  it.each<[string, object]>([
    ['a key that leads elsewhere', { key: '../../k' }],
    ['a key that is none', { key: {} }],
    ['a place that is none', { index: -1 }],
    ['a line beyond all numbers', { line: 1e308 }],
    ['columns that are no text', { columns: { city: {} } }],
    ['no input', { input: [] }],
    ['a table of another delimiter', { table: { columns: ['a'], delimiter: 'x', hasBom: false } }],
    ['a table that is none', { table: 5 }],
    ['cells that are no list', { cells: 'a' }],
    ['cells that are no text', { cells: [1] }],
  ])('takes no row with %s', async (_what, changes) => {
    const path = await write('forged.jsonl', [{ ...preparedRow(0), ...changes }]);
    await expect(readPreparedPage(preparedRowsAt(path), 0)).rejects.toThrow(PreparedRowsError);
  });
});
