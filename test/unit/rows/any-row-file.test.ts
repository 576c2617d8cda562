import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { RowFileError, type RowOptions } from '../../../src/rows';
import { outcomesOf, rowsOf } from './rows-under-test';

const common = { webAppId: 7 };
const width = '2:ImageScale.width';
const prompt = '3:Text.text';

describe('reading rows', () => {
  const cell = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('"', ',', ';', '|', '\t', 'a\nb', 'a\r\nb', '"",', ' x '),
  );
  const texts = cell.filter((text) => text !== '' && !text.startsWith('@') && !text.includes('\uFEFF'));

  it.each([
    ['csv', ','],
    ['csv', ';'],
    ['csv', '|'],
    ['tsv', '\t'],
  ] as const)(
    'reads back what a library wrote as %s with %j, in whatever chunks it comes',
    async (format, delimiter) => {
      const options: RowOptions = { common, textColumns: [prompt, width], delimiter };
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.tuple(texts, texts), { minLength: 1, maxLength: 8 }),
          fc.constantFrom('\n', '\r\n'),
          fc.boolean(),
          fc.integer({ min: 1, max: 64 }),
          async (table, lineEnd, bom, chunkBytes) => {
            const written = stringify([[prompt, width], ...table], {
              delimiter,
              record_delimiter: lineEnd,
              bom,
              quoted: true,
            });
            const rows = await rowsOf(written, format, options, chunkBytes);
            expect(rows.map(({ input }) => [input.inputs[prompt], input.inputs[width]])).toEqual(table);
          },
        ),
      );
    },
  );

  it('ends for any bytes with rows, problems of rows, or a refusal of the file', async () => {
    const pieces = fc.constantFrom(
      '"',
      ',',
      '\t',
      '\n',
      '\r',
      '{',
      '}',
      ':',
      '\uFEFF',
      '\0',
      ';',
      'sep=;\n',
      'key',
      prompt,
      '[',
      '1e999',
      '__proto__',
    );
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.array(pieces, { maxLength: 60 }).map((list) => Buffer.from(list.join(''))),
      fc.json().map((json) => Buffer.from(json)),
    );
    const heads = fc.constantFrom('', ' '.repeat(63), `key,${prompt}\n`, `key\t${prompt}\n`, `sep=;\nkey;${prompt}\n`);
    const formats = fc.constantFrom('csv', 'tsv', 'jsonl');
    await fc.assert(
      fc.asyncProperty(
        heads,
        bytes,
        formats,
        fc.integer({ min: 1, max: 50 }),
        async (head, rest, format, chunkBytes) => {
          const content = Buffer.concat([Buffer.from(head), rest]);
          const read = async (size?: number): Promise<unknown> =>
            outcomesOf(content, format, { common, maxRowBytes: 100 }, size).catch(refusalIn);
          expect(await read(chunkBytes)).toEqual(await read());
        },
      ),
      { numRuns: 500 },
    );
  });

  it.each([
    ['in place of a row', (deep: string) => deep],
    ['as a field', (deep: string) => `{"inputs":{},"note":${deep}}`],
    ['as an input', (deep: string) => `{"inputs":{"1:A.b":${deep}}}`],
    ['as a deadline', (deep: string) => `{"inputs":{},"deadlines":{"total":${deep}}}`],
    ['as a name', (deep: string) => `{"inputs":{},"city":${deep}}`],
    ['as a key', (deep: string) => `{"inputs":{},"key":${deep}}`],
  ])('stands JSON nested a hundred thousand deep %s', async (_, row) => {
    const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;

    const outcomes = await outcomesOf(`${row(deep)}\n{"inputs":{},"city":"x"}`, 'jsonl', {
      common,
      keepColumns: ['city'],
    });

    expect(outcomes.map(({ problems = [] }) => problems.length > 0)).toEqual([true, false]);
  });
});

function refusalIn(error: unknown): readonly string[] {
  if (error instanceof RowFileError) return error.problems;
  throw error;
}
