import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  checkRows,
  type PreparedRow,
  readRows,
  rowFileAt,
  RowFileError,
  type RowFileForm,
  type RowOptions,
  type RowProblem,
} from '../../../src/rows';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();
afterAll(folder.remove);

const each = '1:LoadImage.image';
const captions = '2:Text.text';
let count = 0;

/** A new folder with files of these names and contents. */
function folderOf(files: Readonly<Record<string, string | Buffer>>): string {
  const place = join(folder.path, `${(count += 1)}`);
  mkdirSync(place);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(place, name)), { recursive: true });
    writeFileSync(join(place, name), content);
  }
  return place;
}

async function check(paths: string | readonly string[], form: RowFileForm = {}, options: RowOptions = {}) {
  const rows: PreparedRow[] = [];
  const problems: RowProblem[] = [];
  const outcomes = readRows(rowFileAt(paths, form), { common: { webAppId: 1 }, each, ...options });
  await checkRows(outcomes, {
    onRow: (row) => void rows.push(row),
    onProblem: (problem) => void problems.push(problem),
  });
  return { rows, problems, keys: rows.map(({ originalKey }) => originalKey) };
}

describe('a folder', () => {
  const files = { 'photo10.jpg': 'a', 'photo2.jpg': 'b', 'Photo 1.PNG': 'c', 'film.mp4': 'd', 'song.mp3': 'e' };
  const others = { 'notes.txt': 'f', '.hidden.jpg': 'g', '._photo2.jpg': 'h', 'sub/cat.jpg': 'i', '.git/x.jpg': 'j' };

  it('has a row for each picture, video and sound, in natural order, its key the name', async () => {
    const place = folderOf({ ...files, ...others });
    const { rows, keys } = await check(place);
    expect(keys).toEqual(['film.mp4', 'Photo 1.PNG', 'photo2.jpg', 'photo10.jpg', 'song.mp3']);
    expect(rows.map(({ input }) => input.inputs[each])).toContainEqual({ file: join(place, 'photo10.jpg') });
    expect(new Set(rows.map(({ key }) => key)).size).toBe(5);
  });

  it('has those of its folders, too, where that is asked for, but nothing that links lead to', async () => {
    const place = folderOf({ 'a.jpg': 'a', 'b/c10/d.jpg': 'b', 'b/c2/d.jpg': 'c' });
    symlinkSync(place, join(place, 'b', 'loop'));
    symlinkSync('self.jpg', join(place, 'self.jpg'));
    symlinkSync('/etc/passwd', join(place, 'passwords.jpg'));
    const { keys, problems } = await check(place, { recursive: true });
    expect(keys).toEqual(['a.jpg', 'b/c2/d.jpg', 'b/c10/d.jpg']);
    expect(problems).toEqual([]);
    symlinkSync('/etc/passwd', join(place, 'a.txt'));
    expect((await check(place, {}, { captions })).problems).toEqual([expect.objectContaining({ code: 'FILE' })]);
  });

  it('may have pipes, which are not opened, and names that are not UTF-8', async () => {
    const place = folderOf({ 'a.jpg': 'a', 'z.jpg': 'z' });
    execFileSync('mkfifo', [join(place, 'pipe.jpg'), join(place, 'z.txt')]);
    writeFileSync(Buffer.concat([Buffer.from(`${place}/caf`), Buffer.from([0xe9]), Buffer.from('.jpg')]), 'x');
    const { keys, problems } = await check(place);
    expect(keys).toEqual(['a.jpg', 'z.jpg']);
    expect(problems.map(({ message }) => message)).toEqual([
      expect.stringMatching(/name of the file ".*" is not UTF-8/),
      expect.stringMatching(/pipe\.jpg.* is not a regular file/),
    ]);
    const { problems: refused } = await check(place, {}, { captions });
    expect(refused.at(-1)?.message).toMatch(/z\.txt" is not a regular file/);
  });

  it('has captions in the text files of the same names, in any encoding that is said or marked', async () => {
    const place = folderOf({
      'a.jpg': 'a',
      'a.txt': ' a cat\n',
      'b.jpg': 'b',
      'b.txt': Buffer.from('\uFEFFein Bär', 'utf16le'),
      'c.jpg': 'c',
      'd.jpg': 'd',
      'd.txt': '\n',
    });
    const { rows, problems } = await check(place, {}, { captions });
    expect(rows.map(({ input }) => input.inputs[captions])).toEqual(['a cat', 'ein Bär']);
    expect(problems.map(({ code }) => code)).toEqual(['FILE', 'VALUE']);
    writeFileSync(join(place, 'c.txt'), Buffer.from('Grün', 'latin1'));
    const said = await check(join(place, 'c.jpg'), { encoding: 'windows-1252' }, { captions });
    expect(said.rows[0]?.input.inputs[captions]).toBe('Grün');
  });

  it('with no picture, and without the input that they are, is refused with the option', async () => {
    await expect(check(folderOf({ 'a.txt': 'a', 'sub/a.jpg': 'a' }))).rejects.toThrow(
      /no picture, video or sound.*--recursive/,
    );
    await expect(check(folderOf(files), {}, { each: undefined })).rejects.toThrow(/--each/);
  });

  it('with a file that begins like a URI has that file', async () => {
    const place = folderOf({ 'data:,x.jpg': 'a' });
    const { rows } = await check(place);
    expect(rows[0]?.input.inputs[each]).toEqual({ file: join(place, 'data:,x.jpg') });
  });
});

describe('several paths', () => {
  it('may be files and folders, whose keys start from the working folder; captions beside them are passed over', async () => {
    const place = folderOf({ 'a.jpg': 'a', 'a.txt': 'a', 'sub/b.png': 'b' });
    const { keys } = await check(
      ['a.jpg', 'a.txt', 'sub'].map((name) => join(place, name)),
      { folder: place },
    );
    expect(keys).toEqual(['a.jpg', 'sub/b.png']);
    const mixed = (): unknown => rowFileAt(['a.jpg', 'rows.csv'].map((name) => join(place, name)));
    expect(mixed).toThrow(RowFileError);
  });

  it.each([
    ['*.jpg', ['a.jpg', 'b[1].jpg']],
    ['*.{png,jpg}', ['a.jpg', 'b[1].jpg', 'c.png']],
    ['?.*', ['a.jpg', 'c.png']],
    ['**/*.png', ['c.png', 'sub/d.png']],
    ['*/d.png', ['d.png'.replace('d', 'sub/d')]],
    ['b[1].jpg', ['b[1].jpg']],
  ])('may be the pattern %s', async (pattern, expected) => {
    const place = folderOf({ 'a.jpg': '1', 'b[1].jpg': '2', 'c.png': '3', 'sub/d.png': '4', 'e.txt': '5' });
    expect((await check(join(place, pattern))).keys).toEqual(expected);
  });
});
