import { parseRowTemplate, rowProblemText } from '../../../src/rows';
import { fileProblemsOf, problemsOf, rowsOf } from './rows-under-test';

const common = { webAppId: 7 };
const image = '1:LoadImage.image';
const width = '2:ImageScale.width';
const csv = `key,${image},${width}\ncat,@cat.jpg,512\n`;

describe('a table with another delimiter', () => {
  it.each([
    ['csv', ';', '";"'],
    ['csv', '|', '"|"'],
    ['csv', '\t', 'tab'],
    ['tsv', ',', '","'],
  ] as const)('as %s with %j is refused, and the option that reads it is named', async (format, delimiter, word) => {
    const table = csv.replaceAll(',', delimiter);

    const [problem, ...more] = await fileProblemsOf(table, format, { common });

    expect(problem).toMatch(/^The header is one column, "key.*: its cells seem to be separated by /);
    expect(problem).toContain(`separated by ${word}. Say so (delimiter: ${JSON.stringify(delimiter)}).`);
    expect(await fileProblemsOf(table, format, { common, optionNames: 'commandLine' })).toEqual([
      expect.stringContaining(`Say so (--delimiter ${word}).`),
    ]);
    expect(more).toEqual([]);
    const decimal = delimiter === ';' ? { decimal: 'comma' } : {};
    const form = { columns: ['key', image, width], delimiter, hasBom: false, ...decimal };
    expect(await rowsOf(table, format, { common, delimiter })).toEqual(
      (await rowsOf(csv, 'csv', { common })).map((row) => ({ ...row, table: form })),
    );
  });

  it.each([
    ['in quotes that do not fit for the other one', '"key";"animal"\n"a";"cat"\n'],
    ['and a template that asks for its columns', 'key;animal\na;cat\n'],
  ])('%s is refused as such', async (_, table) => {
    const template = parseRowTemplate('{"webAppId":7,"inputs":{"3:Text.text":"{animal}"}}');
    expect(await fileProblemsOf(table, 'csv', { template })).toEqual([
      expect.stringContaining('its cells seem to be separated by ";". Say so (delimiter: ";").'),
    ]);
  });

  it.each(['sep=;\r\n', '\uFEFFsep=;\n', '"sep=;"\n'])(
    'is read when its first line is %j, and lines are counted with it',
    async (first) => {
      const table = `${first}key;${width}\na;1\nb;"x;y"\nc;\n`;

      const rows = await rowsOf(table.replace('c;\n', ''), 'csv', { common });
      const problems = await problemsOf(table, 'csv', { common });

      expect(rows.map(({ line, input }) => [line, input.inputs[width]])).toEqual([
        [3, 1],
        [4, 'x;y'],
      ]);
      expect(problems.map(rowProblemText)).toEqual([expect.stringMatching(/^row 4, line 5 of the file: /)]);
    },
  );

  it('is no JSONL', async () => {
    expect(await fileProblemsOf('{}', 'jsonl', { delimiter: ';' })).toEqual([
      'JSONL has no delimiter; leave out (delimiter).',
    ]);
    expect(await fileProblemsOf('{}', 'jsonl', { delimiter: ';', optionNames: 'commandLine' })).toEqual([
      'JSONL has no delimiter; leave out (--delimiter).',
    ]);
  });
});

describe('cells that a spreadsheet leaves behind at the end of lines', () => {
  it('are nothing while they are empty, with columns without a name as without', async () => {
    const rows = await rowsOf(`key,${width},,\na,1\nb,2,,\nc,3,, ,\n`, 'csv', { common });
    expect(rows.map(({ key, input }) => [key, input.inputs])).toEqual([
      ['a', { [width]: 1 }],
      ['b', { [width]: 2 }],
      ['c', { [width]: 3 }],
    ]);
  });

  it('are a problem of the row when something stands there', async () => {
    expect((await problemsOf(`key,${width},\na,1,2\n`, 'csv', { common })).map(rowProblemText)).toEqual([
      'row 2: The row has 3 cells, and the header 2 columns; give each column a cell, and quote cells that hold a delimiter.',
    ]);
  });
});
