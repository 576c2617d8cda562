import { parseRowTemplate, rowProblemText } from '../../../src/rows';
import { problemsOf, rowsOf } from './rows-under-test';

const common = { webAppId: 7 };
const width = '2:ImageScale.width';
const header = `key|${width}`;

function csvWith(cell: string): string {
  return `sep=|\n${header}\na|"${cell.replaceAll('"', '""')}"\n`;
}

async function problemWith(cell: string): Promise<string> {
  return (await problemsOf(csvWith(cell), 'csv', { common })).map(rowProblemText).join('\n');
}

describe('a cell that a spreadsheet damaged', () => {
  const asText = `, or say that the column is text (textColumns: ["${width}"]).`;

  it.each([' ', '\u00a0', ' 512', '512 ', '512\u00a0', '\t-0.5', '512\n', ' @cat.jpg', '@cat.jpg '])(
    'with spaces around it that nobody sees, such as %j, is told',
    async (cell) => {
      expect(await problemWith(cell)).toBe(
        `row 2, line 3 of the file: "${width}" is ${JSON.stringify(cell)}; remove the spaces${asText}`,
      );
    },
  );

  it.each(['512\u200b', '\u2060-0.5', '@cat.jpg\u200b', '\u200b@cat.jpg', '\u200b', '\u00ad 7 \u200e'])(
    'with characters that show nothing, such as %j, is told',
    async (cell) => {
      expect(await problemWith(cell)).toMatch(/^row 2, line 3 of the file: .*; remove the unseen characters, or say/);
    },
  );

  it.each([
    ...['#REF!', '#N/A', '#VALUE!', '#NAME?', '#DIV/0!', '#NULL!', '#NUM!'],
    ...['#BEZUG!', '#ÜBERLAUF!', '#NV', '####', '#REF! '],
  ])('by an error, such as %s, is told', async (cell) => {
    expect(await problemWith(cell)).toBe(
      `row 2, line 3 of the file: "${width}" is "${cell}"; it is an error of the spreadsheet: correct it there${asText}`,
    );
  });

  it.each(['="007"', '=A1+1', '=SUM(A1:A3)'])('by a formula in its place, such as %s, is told', async (cell) => {
    expect(await problemWith(cell)).toContain('; it is a formula: give what it shows, or say');
  });

  it.each([
    ...[
      '0,5',
      '-0,5',
      ' 0,5',
      '1.024,5',
      '1,024.5',
      '1’024.5',
      '1,024',
      '1,024,000',
      '1 024,5',
      '1\u00a0024',
      '1\u202f024,5',
    ],
    ...['1’024.5', '+512', '\u22125', '\u20135', "'512", "'-0.5"],
  ])('by the way in which people write numbers, such as %j, is told', async (cell) => {
    const problem = await problemWith(cell);
    expect(problem).toContain('; write a number as 0.5, 1024 or -5, or say that the ');
    expect(problem).toContain(asText);
  });

  it.each([
    ...[
      'a cat, sitting ',
      ' a cat',
      '007',
      '.5',
      '9007199254740993',
      '+49 30 1234',
      '1,2,3',
      '10.0.0.1',
      '192.168.100.1',
      '50 %',
    ],
    ...['#1', '#cat', '#CAT', '= 5', '=)', "'tis", '–', '- a list', 'an @', '2026-11-21', '512px', "it's 1,5"],
  ])('is not %j: that is text', async (cell) => {
    const [row] = await rowsOf(csvWith(cell), 'csv', { common });
    expect(row?.input.inputs[width]).toBe(cell);
  });

  it.each([' 512', ' ', '#REF!', '0,5', '@', '@cat.jpg'])(
    'is %j as it stands where it is said to be text',
    async (cell) => {
      const [row] = await rowsOf(csvWith(cell), 'csv', { common, textColumns: [width] });
      expect(row?.input.inputs[width]).toBe(cell);
    },
  );

  it('is told, too, where it would go into a template, a key or the name of a file', async () => {
    const template = parseRowTemplate('{"webAppId":7,"inputs":{"3:Text.text":"a {animal}, {size}"}}');
    const options = { template, keepColumns: ['city'] };

    const problems = await problemsOf('key,animal,size,city\n#N/A,#REF!, ,#NV\n', 'csv', options);
    const [row] = await rowsOf('key,animal,size,city\na, cat ,"0,5", \n', 'csv', options);

    expect(problems.map(({ field, code }) => [field, code])).toEqual([
      ['key', 'VALUE'],
      ['animal', 'VALUE'],
      ['size', 'VALUE'],
      ['city', 'VALUE'],
    ]);
    expect(row?.input.inputs).toEqual({ '3:Text.text': 'a  cat , 0,5' });
  });
});
