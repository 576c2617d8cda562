import { parseRowTemplate, type RowOptions, rowProblemText } from '../../../src/rows';
import { fileProblemsOf, problemsOf, rowsOf } from './rows-under-test';

const common = { webAppId: 7 };
const blur = '2:Blur.sigma';
const template = parseRowTemplate(`{"webAppId":7,"key":"{name}","inputs":{"${blur}":"{Unschärfe:number}"}}`);

/** Both ways of naming the column of the number: an input key, and a column that a template asks for. */
const ways: readonly (readonly [string, string, RowOptions])[] = [
  ['a column that is an input key', `key;${blur}`, { common }],
  ['a column that a template asks for as a number', 'name;Unschärfe', { template }],
];

function table(header: string, cell: string): string {
  return `${header}\na;"${cell}"\n`;
}

describe.each(ways)('the decimal sign of %s', (_, header, options) => {
  const valueOf = async (cell: string, more: RowOptions): Promise<unknown> => {
    const [row] = await rowsOf(table(header, cell), 'csv', { ...options, delimiter: ';', ...more });
    return row?.input.inputs[blur];
  };
  const problemWith = async (cell: string, more: RowOptions = {}): Promise<string> => {
    const rows = { ...options, delimiter: ';', ...more } as const;
    return (await problemsOf(table(header, cell), 'csv', rows)).map(rowProblemText).join('\n');
  };

  it.each([
    ['2,5', 2.5],
    ['-0,125', -0.125],
    ['1,024', 1.024],
    ['1,5e3', 1500],
    ['512', 512],
    ['-5', -5],
  ])('is a comma when that is said: %s is %d', async (cell, value) => {
    expect(await valueOf(cell, { decimal: 'comma' })).toBe(value);
  });

  it.each([
    ['1.024', 'write 1024 if its points separate thousands, with a comma if not'],
    ['12.500.000', 'write 12500000 if its points separate thousands'],
    ['1.024,5', 'write a number as 0,5, 1024 or -5'],
    ['+2,5', 'write a number as 0,5, 1024 or -5'],
    ['0.5', 'write 0,5: the decimal sign is a comma'],
    ['0.125', 'write 0,125: the decimal sign is a comma'],
  ])('is a comma when that is said: %s is refused', async (cell, remedy) => {
    const told = await problemWith(cell, { decimal: 'comma' });
    expect(told).toContain(`is "${cell}"; ${remedy}`);
    expect(told).not.toContain('--decimal');
  });

  it.each(['2,5', '1,024', '-0,5'])('as in %s is advised where semicolons stand between cells', async (cell) => {
    expect(await problemWith(cell)).toContain('or say that the decimal sign is a comma (decimal: "comma")');
    expect(await problemWith(cell, { optionNames: 'commandLine' })).toContain('is a comma (--decimal comma)');
  });

  it.each(['1.024', '12.500', '-999.000'])(
    'is not guessed in %s where semicolons stand between cells',
    async (cell) => {
      expect(await problemWith(cell)).toMatch(
        /it may be -?\d+ or -?\d+,\d+: .*\(decimal: "point"\).*\(decimal: "comma"\)/,
      );
      expect(await problemWith(cell, { optionNames: 'commandLine' })).toMatch(
        /it may be -?\d+ or -?\d+,\d+: .*\(--decimal point\).*\(--decimal comma\)/,
      );
      expect(await valueOf(cell, { decimal: 'point' })).toBe(Number(cell));
    },
  );

  it.each(['0.125', '-0.005', '2.5', '12.50', '1024.125', '1.0245', '512'])(
    'is a point in %s, which is no thousand',
    async (cell) => {
      expect(await valueOf(cell, {})).toBe(Number(cell));
    },
  );

  it('is a point where commas stand between cells', async () => {
    const text = table(header.replace(';', ','), '1.024').replace('a;', 'a,');
    const [row] = await rowsOf(text, 'csv', options);
    expect(row?.input.inputs[blur]).toBe(1.024);
  });

  it('leaves the digest of a row as its value has it', async () => {
    const digests = await Promise.all(
      [['2,5', 'comma'] as const, ['2.5', 'point'] as const].map(async ([cell, decimal]) => {
        const [row] = await rowsOf(table(header, cell), 'csv', { ...options, delimiter: ';', decimal });
        return row?.digest;
      }),
    );
    expect(digests[0]).toBe(digests[1]);
    expect(digests[0]).toEqual(expect.any(String));
  });
});

describe('the decimal sign', () => {
  it('is not advised for what reads as a thousand between commas', async () => {
    const [problem] = await problemsOf(`key,${blur}\na,"1,024"\n`, 'csv', { common });
    expect(problem?.message).not.toContain('--decimal');
  });

  it('leaves columns of text alone', async () => {
    const text = `key;${blur}\na;1.024\nb;2,5\n`;
    const rows = await rowsOf(text, 'csv', { common, delimiter: ';', textColumns: [blur] });
    expect(rows.map(({ input }) => input.inputs[blur])).toEqual(['1.024', '2,5']);
  });

  it('holds for the texts of JSONL that a template asks for as numbers', async () => {
    const [row] = await rowsOf('{"name":"a","Unschärfe":"2,5"}\n', 'jsonl', { template, decimal: 'comma' });
    expect(row?.input.inputs[blur]).toBe(2.5);
  });

  it('means nothing to JSONL without a template', async () => {
    expect(await fileProblemsOf('{"key":"a"}\n', 'jsonl', { common, decimal: 'comma' })).toEqual([
      'JSONL without a template has its numbers as JSON; leave out (decimal).',
    ]);
  });

  it('is no part of the advice for what is no number at all', async () => {
    const [problem] = await problemsOf('name;Unschärfe\na;12O\n', 'csv', { template, delimiter: ';' });
    expect(problem?.message).toBe('"Unschärfe" is "12O"; it is no number: give one such as 0.5 or 1024.');
  });
});
