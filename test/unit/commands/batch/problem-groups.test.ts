import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../support/temporary-folder';
import { batchRun, filesIn } from './command-under-test';

const folder = temporaryFolder();
const file = filesIn(folder);
afterAll(() => {
  folder.remove();
});

describe('problems that many rows have', () => {
  it('are one line for each column, beside the problems of single rows', async () => {
    const numbers = Array.from({ length: 58 }, (_, index) => `k${index};${index},5;there.png`);
    const lines = ['Name;Unschärfe;Bild', ...numbers, 'k58;1;missing.png', 'K0;1;there.png', 'k59;12O;there.png', ''];
    file('there.png', 'x');
    const template = file(
      'blur.json',
      '{"webAppId":1,"key":"{Name}","inputs":{"1:A.b":{"file":"{Bild}"},"2:B.c":"{Unschärfe:number}"}}',
    );

    const options = ['--template', template, '--delimiter', ';', '--dry-run'];
    const rows = file('produkte.csv', lines.join('\n'));
    const { stdout } = await batchRun(rows, ...options, '--problems', join(folder.path, 'probleme.csv'));

    expect(stdout.text.split('\n').filter((line) => /^ {2}(?:row \d|\d+ rows)/.test(line))).toEqual([
      expect.stringMatching(/^ {2}58 rows, first in row 2: "Unschärfe" is "0,5"; .*\(--decimal\)/),
      expect.stringMatching(/^ {2}row 60: The file ".*missing\.png" of "Bild" does not exist/),
      expect.stringMatching(/^ {2}row 61: "Name" is "K0", the key of row 2/),
      expect.stringMatching(/^ {2}row 62: "Unschärfe" is "12O"; .*expected/),
    ]);
    expect(stdout.text).toMatch(/^ {2}each row by itself: --problems FILE keeps them as CSV, --json prints all$/m);
    expect(readFileSync(join(folder.path, 'probleme.csv'), 'utf8').trimEnd().split('\n')).toHaveLength(62);
  });
});
