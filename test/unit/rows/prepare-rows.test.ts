import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type PreparedRowFile,
  preparedRowsAt,
  prepareRows,
  type PrepareRowsOptions,
  readPreparedPage,
  readRows,
  rowFileAt,
  RowFileError,
  rowsFrom,
  type RowStaging,
  stageInputs,
} from '../../../src/rows';
import { listFiles } from '../../support/list-files';
import { temporaryFolder } from '../../support/temporary-folder';

const files = temporaryFolder();
afterAll(() => {
  files.remove();
});

function prepare(
  name: string,
  lines: readonly string[],
  more: Partial<PrepareRowsOptions> = {},
): Promise<PreparedRowFile> {
  const path = join(files.path, `${name}.csv`);
  writeFileSync(path, `key,2:ImageScale.width\n${lines.join('\n')}\n`);
  const rows = readRows(rowFileAt(path), { common: { webAppId: 1 } });
  return prepareRows(rows, { folder: join(files.path, name), name, ...more });
}

/** Keeps copies in a folder, as a bucket would. */
class CopyStaging implements RowStaging {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async keepInput(path: string): Promise<string> {
    return await this.keepAs(basename(path), path);
  }

  async keepAs(name: string, path: string): Promise<string> {
    await mkdir(join(this.#folder, dirname(name)), { recursive: true });
    await copyFile(path, join(this.#folder, name));
    return `s3://bucket/${name}`;
  }
}

describe('prepared rows', () => {
  it('are named by their content, so that the same rows are the same file and other rows another one', async () => {
    const first = await prepare('same', ['a,1', 'b,2']);
    const again = await prepare('same', ['a,1', 'b,2']);
    const other = await prepare('same', ['a,1', 'b,3']);

    const location = first.rows?.location ?? '';
    const hash = createHash('sha256').update(readFileSync(location)).digest('hex').slice(0, 12);
    expect(location).toBe(join(files.path, 'same', `same-${hash}.rows.jsonl`));
    expect(again.rows).toEqual(first.rows);
    expect(other.rows?.location).not.toBe(location);
    expect(listFiles(join(files.path, 'same'))).toHaveLength(4);
  });

  it.each([
    ['rows were removed', '', undefined],
    ['rows were damaged', '', 'x'],
    ['index was damaged', '.index', ''],
  ])('are whole again when they are prepared once more after their %s', async (_, ending, content) => {
    const { rows } = await prepare('damaged', ['a,1', 'b,2']);
    const location = rows?.location ?? '';
    if (content === undefined) rmSync(location);
    else writeFileSync(`${location}${ending}`, content);

    const again = await prepare('damaged', ['a,1', 'b,2']);
    const page = await readPreparedPage(preparedRowsAt(location), 0);

    expect(again.rows).toEqual(rows);
    expect(page?.map(({ key }) => key)).toEqual(['a', 'b']);
    expect(listFiles(join(files.path, 'damaged'))).toHaveLength(2);
  });

  it('are not written when a row is bad, unless bad rows are to be skipped', async () => {
    const refused = await prepare('bad', ['a,1', 'b,']);
    expect(refused).toMatchObject({ rows: null, report: { goodRows: 1, badRows: 1 } });
    expect(listFiles(join(files.path, 'bad'))).toEqual([]);

    const skipped = await prepare('bad', ['a,1', 'b,'], { skipBad: true });
    expect(skipped).toMatchObject({ rows: { rows: 1, pages: 1 }, report: { badRows: 1 } });
  });

  it.each([
    ['is never closed', 'b,"2\nc,3', /^A quote that opens in row 3 is never closed.* \(to line 5\)/],
    ['is closed in a later row', 'b,"2\nc,"3"', /^The quotes in row 3, lines 3 to 4 of the file, do not match/],
    ['stands beside such a cell', 'b" x,"2\r\nc,3"', /^The quotes in row 3, lines 3 to 4 of the file, do not match/],
  ])('are not written, also when bad rows are to be skipped, where a quote %s', async (_, lines, message) => {
    await expect(prepare('quote', ['a,1', lines], { skipBad: true })).rejects.toThrow(message);
    expect(listFiles(join(files.path, 'quote'))).toEqual([]);
  });

  it('that cannot be given their name leave nothing behind', async () => {
    const { rows } = await prepare('taken', ['a,1']);
    rmSync(join(files.path, 'taken'), { recursive: true });
    await mkdir(join(rows?.location ?? '', 'inside'), { recursive: true });

    await expect(prepare('taken', ['a,1'])).rejects.toThrow(/prepared rows cannot be written to/);
    expect(readdirSync(join(files.path, 'taken'))).toEqual([basename(rows?.location ?? '')]);
  });

  it.each([
    ['a bucket', { folder: 's3://staging/rows' }, /folder of the prepared rows is "s3:.*staging: openStaging\(\)/],
    ['no folder', { folder: '' }, /folder of the prepared rows is ""; give a folder/],
    ['a folder and a staging', { staging: new CopyStaging(files.path) }, /Both folder and staging/],
  ])('are not written to %s', async (_, place, message) => {
    await expect(prepare('refused', ['a,1'], place)).rejects.toThrow(RowFileError);
    await expect(prepare('refused', ['a,1'], place)).rejects.toThrow(message);
    expect(existsSync('s3:')).toBe(false);
  });
});

describe('the name of prepared rows', () => {
  it.each(['../x', 'a/b', '', 17, undefined])('is that of a batch: not %j', async (name) => {
    await expect(prepare('refused', ['a,1'], { name: name as string })).rejects.toThrow(
      /name of the prepared rows is .*; give the id of the batch: 1 to 80 letters/,
    );
  });
});

describe('rows that are prepared into a staging', () => {
  const photo = join(files.path, 'photo.png');
  const bucket = join(files.path, 'bucket');
  const stage = (rows: readonly object[]): Promise<PreparedRowFile> => {
    const outcomes = readRows(rowsFrom(rows), { common: { webAppId: 1 } });
    return prepareRows(outcomes, { staging: new CopyStaging(bucket), name: 'staged' });
  };
  const temporary = (): readonly string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('longhaul-rows-'));

  beforeAll(() => {
    writeFileSync(photo, 'a photo');
  });

  it('lie there with the files that they name, and nothing is left on this machine', async () => {
    const before = temporary();
    const inputs = { '1:LoadImage.image': { file: photo } };
    const { rows, report } = await stage([
      { key: 'a', inputs },
      { key: 'b', inputs },
    ]);

    expect(report).toMatchObject({ goodRows: 2, badRows: 0 });
    const name = /^s3:\/\/bucket\/(rows\/staged-[0-9a-f]{12}\.rows\.jsonl)$/.exec(rows?.location ?? '')?.[1] ?? '';
    const page = await readPreparedPage(preparedRowsAt(join(bucket, name)), 0);
    const file = 's3://bucket/photo.png';
    expect(page?.map(({ key, input }) => [key, input.inputs['1:LoadImage.image']])).toEqual([
      ['a', { file }],
      ['b', { file }],
    ]);
    expect(readFileSync(join(bucket, 'photo.png'), 'utf8')).toBe('a photo');
    expect(temporary()).toEqual(before);
  });

  it('are none when a row is bad: nothing is staged then', async () => {
    rmSync(bucket, { recursive: true, force: true });
    const before = temporary();
    const { rows, report } = await stage([{ inputs: { '1:LoadImage.image': { file: photo } } }, { inputs: 7 }]);
    expect([rows, report.badRows]).toEqual([null, 1]);
    expect(existsSync(bucket)).toBe(false);
    expect(temporary()).toEqual(before);
  });
});

describe('what is no outcome of readRows', () => {
  const options = { folder: join(files.path, 'none'), name: 'none' };
  const generated = async function* (): AsyncGenerator {
    yield await Promise.resolve({ key: 'a', inputs: {} });
  };

  it.each<[string, unknown]>([
    ['an array of rows', [{ key: 'a' }]],
    ['rows that were not read', rowsFrom([{ key: 'a' }])],
    ['a generator of rows', generated()],
    ['nothing', undefined],
  ])('such as %s is refused with how to read them, and nothing is written', async (_, outcomes) => {
    const prepared = prepareRows(outcomes as ReturnType<typeof readRows>, options);
    const refused = await prepared.catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RowFileError);
    expect(refused).toMatchObject({ message: expect.stringContaining('give readRows(rowsFrom(rows)), or') as string });
    expect(listFiles(options.folder)).toEqual([]);
  });
});

describe('options of preparing rows', () => {
  it.each<[unknown, string]>([
    [undefined, 'The options are missing; give { folder, name } or { staging, name }.'],
    [null, 'The options are null; give an object with one or more of folder, staging, name'],
    [{ name: 'x', staging: 's3://staging/x' }, 'staging is "s3://staging/x"; give openStaging({ place })'],
    [{ name: 'x', folder: '/srv', skipBad: 'yes' }, 'skipBad is "yes"; give true or false.'],
    [{ name: 'x', folder: '/srv', onRow: 1 }, 'onRow is 1; give a function.'],
  ])('that cannot be meant are refused: %p', async (options, problem) => {
    const outcomes = readRows(rowsFrom([{ key: 'a', inputs: {} }]), { common: { webAppId: 1 } });
    const refused = await prepareRows(outcomes, options as PrepareRowsOptions).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RowFileError);
    expect(refused).toMatchObject({ message: expect.stringContaining(problem) as string });
  });
});

describe('files of which one cannot be staged', () => {
  it('are not staged any further', async () => {
    const begun: string[] = [];
    const keepInput = async (path: string): Promise<string> => {
      begun.push(path);
      await nextTurn();
      if (path === '/0') throw new Error('the bucket is full');
      return `s3://bucket/${path}`;
    };
    const tasks = Array.from({ length: 100 }, (_, index) => ({ '1:A.b': { file: `/${index}` } }));

    await expect(stageInputs({ keepInput }, tasks)).rejects.toThrow('the bucket is full');
    const begunThen = begun.length;
    for (let turn = 0; turn < 100; turn += 1) await nextTurn();

    expect(begun).toHaveLength(begunThen);
    expect(begunThen).toBeLessThan(20);
  });
});
