import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { parseRowTemplate, type RowOptions } from '../../../src/rows';
import { useFuzzSeed } from '../../support/fuzz-seed';
import { outcomesOf } from './rows-under-test';

useFuzzSeed();

const width = '2:ImageScale.width';
const asInput: RowOptions = { common: { webAppId: 7 } };
const asNumber: RowOptions = { template: parseRowTemplate(`{"webAppId":7,"inputs":{"${width}":"{width:number}"}}`) };

/** What a cell becomes as an input; `refused` with the code of its only problem. */
async function cellAs(cell: string, options: RowOptions, delimiter: ',' | ';' = ','): Promise<unknown> {
  const name = options.template === undefined ? width : 'width';
  const table = stringify(
    [
      ['key', name],
      ['a', cell],
    ],
    { delimiter, quoted: true },
  );
  const [outcome] = await outcomesOf(table, 'csv', { ...options, delimiter });
  const { row, problems = [] } = outcome ?? {};
  if (row !== undefined) return { value: row.input.inputs[width], digest: row.digest };
  return { refused: problems.map(({ code, field }) => [code, field === name]) };
}

const refused = { refused: [['VALUE', true]] };
const number = fc.oneof(
  fc.integer({ min: -1e9, max: 1e9 }),
  fc.integer({ min: -1e6, max: 1e6 }).map((thousandths) => thousandths / 1_000),
);
/** Of more than three digits before the point, in groups. */
const grouped = fc.tuple(
  fc.integer({ min: 1, max: 999 }),
  fc.array(fc.integer({ min: 0, max: 999 }), { minLength: 1, maxLength: 2 }),
);
const groupsOf = ([first, others]: readonly [number, readonly number[]], separator: string): string =>
  [String(first), ...others.map((group) => String(group).padStart(3, '0'))].join(separator);
const unseen = fc.constantFrom(' ', '\u00a0', '\t', '\n', '\u200b', '\u2060', '\ufeff');

describe.each([
  ['an input', asInput],
  ['a number of a template', asNumber],
])('a number in the cell of %s', (_, options) => {
  it('is what JSON says, and with a decimal comma the same row', async () => {
    await fc.assert(
      fc.asyncProperty(number, async (value) => {
        const text = String(value === 0 ? 0 : value);
        const withPoint = await cellAs(text, options);
        expect(withPoint).toMatchObject({ value: Number(text) });
        const comma = { ...options, decimal: 'comma' } as const;
        expect(await cellAs(text.replace('.', ','), comma, ';')).toEqual(withPoint);
      }),
    );
  });

  it('is never guessed where points or commas may separate thousands', async () => {
    await fc.assert(
      fc.asyncProperty(grouped, fc.constantFrom('', '-'), async (groups, sign) => {
        const [points, commas] = ['.', ','].map((separator) => sign + groupsOf(groups, separator));
        expect(await cellAs(points!, options, ';')).toEqual(refused);
        expect(await cellAs(points!, { ...options, decimal: 'comma' }, ';')).toEqual(refused);
        expect(await cellAs(commas!, options)).toEqual(refused);
        expect(await cellAs(`${points!},5`, options)).toEqual(refused);
      }),
    );
  });

  it('of a whole number beyond 2^53 is never rounded', async () => {
    await fc.assert(
      fc.asyncProperty(fc.bigInt({ min: 2n ** 53n, max: 2n ** 80n }), async (value) => {
        const isExact = BigInt(Number(value)) === value && String(Number(value)) === String(value);
        fc.pre(!isExact);
        const expected = options.template === undefined ? { value: String(value) } : refused;
        expect(await cellAs(String(value), options)).toMatchObject(expected);
      }),
    );
  });

  it.each(['4.00638E+12', '1.1259E+15', '-8,46152E+14'])(
    'is refused where a spreadsheet shortened it: %s',
    async (cell) => {
      expect(await cellAs(cell, options)).toEqual(refused);
    },
  );

  it.each(['0.125', '-0.005', '2.5', '1024.125', '1.0245'])('is no thousand between semicolons: %s', async (cell) => {
    expect(await cellAs(cell, options, ';')).toMatchObject({ value: Number(cell) });
  });
});

describe('a cell', () => {
  const damaged = fc.constantFrom(
    ...['#REF!', '#N/A', '#DIV/0!', '#BEZUG!', '#NV', '####', '="007"', '=A1+1', '=SUM(A1:A3)', ' ', '\u200b'],
    ...['0,5', '1,024.5', '1\u00a0024', '1’024.5', '+512', '\u22125', "'512", "'-0.5", "'@photos/cat.jpg", '@'],
  );

  it('that a spreadsheet damaged, or with unseen characters around a number or a file, is refused, unless it is text', async () => {
    const around = fc
      .tuple(fc.oneof(number.map(String), fc.constant('@cat.jpg')), unseen, fc.boolean())
      .map(([text, space, isBefore]) => (isBefore ? `${space}${text}` : `${text}${space}`));
    await fc.assert(
      fc.asyncProperty(fc.oneof(damaged, around), async (cell) => {
        expect(await cellAs(cell, asInput)).toEqual(refused);
        expect(await cellAs(cell, { ...asInput, textColumns: [width] })).toMatchObject({ value: cell });
      }),
    );
  });

  it.each([
    ...['a cat, sitting ', ' a cat', '007', '.5', '+49 30 1234', '1,2,3', '10.0.0.1', '50 %', '#1', '#CAT', '= 5'],
    ...["'tis", '–', '- a list', 'an @', '2026-11-21', '512px', "it's 1,5"],
  ])('is text as it stands: %j', async (cell) => {
    expect(await cellAs(cell, asInput)).toMatchObject({ value: cell });
  });

  it('of a template, a key or the name of a file is checked for damage, too', async () => {
    const template = parseRowTemplate('{"webAppId":7,"inputs":{"3:Text.text":"a {animal}, {size}"}}');
    const options = { template, keepColumns: ['city'] };
    const [bad] = await outcomesOf('key,animal,size,city\n#N/A,#REF!, ,#NV\n', 'csv', options);
    const [good] = await outcomesOf('key,animal,size,city\na, cat ,"0,5", \n', 'csv', options);
    expect(bad?.problems?.map(({ field }) => field)).toEqual(['key', 'animal', 'size', 'city']);
    expect(good?.row?.input.inputs).toEqual({ '3:Text.text': 'a  cat , 0,5' });
  });
});
