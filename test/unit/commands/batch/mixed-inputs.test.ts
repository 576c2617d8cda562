import { temporaryFolder } from '../../../support/temporary-folder';
import { batchRun, filesIn } from './command-under-test';

const folder = temporaryFolder();
const file = filesIn(folder);
afterAll(() => {
  folder.remove();
});

const width = '2:ImageScale.width';

async function noted(name: string, widths: readonly string[]): Promise<readonly string[]> {
  const rows = file(name, `key,${width}\n${widths.map((one, index) => `k${index},${one}`).join('\n')}\n`);
  const { stdout, exitCode } = await batchRun(rows, '--app', '1', '--dry-run');
  expect(exitCode).toBe(0);
  return stdout.text.split('\n').flatMap((line) => /^ {2}look at +(.*)$/.exec(line)?.[1] ?? []);
}

describe('an input of nearly one kind', () => {
  const numbers = Array.from({ length: 100 }, (_, index) => String(index + 100));

  it('is noted with the first row of another kind and what stands there, before anything is paid', async () => {
    expect(await noted('percent.csv', [...numbers, '50%', '007'])).toEqual([
      `"${width}" is text in 2 rows (first row 102: "50%"), and a number in all others`,
    ]);
    expect(await noted('year.csv', [...numbers.map((number) => `in ${number}`), '1999'])).toEqual([
      `"${width}" is a number in 1 row (row 102: "1999"), and text in all others`,
    ]);
  });

  it('is noted in three rows of thirty', async () => {
    expect(await noted('thirty.csv', [...numbers.slice(0, 27), 'abc', 'abd', 'abe'])).toEqual([
      `"${width}" is text in 3 rows (first row 29: "abc"), and a number in all others`,
    ]);
  });

  it('is not noted where both kinds are common, or hardly a row is there', async () => {
    expect(await noted('both.csv', [...numbers, ...numbers.map((number) => `in ${number}`)])).toEqual([]);
    expect(await noted('few.csv', ['5', 'x'])).toEqual([]);
  });

  it('is not noted where the other kind is what another app takes', async () => {
    const row = (index: number): object => ({
      key: `k${index}`,
      webAppId: index < 2 ? 2 : 1,
      inputs: { [width]: index < 2 ? 'wide' : index },
    });
    const rows = file('apps.jsonl', numbers.map((_, index) => JSON.stringify(row(index))).join('\n'));
    const { stdout, exitCode } = await batchRun(rows, '--dry-run');
    expect(exitCode).toBe(0);
    expect(stdout.text).not.toContain('look at');
  });

  it('is told to a program, too', async () => {
    const rows = file('told.csv', `key,${width}\na,1\nb,2\nc,3\nd,x\n`);
    const { stdout } = await batchRun(rows, '--app', '1', '--dry-run', '--json');
    expect(JSON.parse(stdout.text)).toMatchObject({
      mixedInputs: [
        { key: width, rows: 1, kind: 'text', usual: 'number', place: { line: 5, sheetRow: 5 }, example: 'x' },
      ],
    });
  });
});
