import { parseRowTemplate, RowFileError, type RowOptions } from '../../../src/rows';
import { type TestCell, workbook, type WorkbookContent, zip } from '../../support/workbook-file';
import { fileProblemsOf, problemsOf, rowsOf } from './rows-under-test';

const width = '2:ImageScale.width';
const prompt = '3:Text.text';
const common = { webAppId: 7 };
const shown = { common, textColumns: [prompt] };
const header = ['key', prompt];

/** What one cell of a workbook shows. */
async function shownOf(cell: TestCell, content: Omit<WorkbookContent, 'rows'> = {}): Promise<unknown> {
  const [row] = await rowsOf(workbook({ ...content, rows: { One: [header, ['a', cell]] } }), 'xlsx', shown);
  return row?.input.inputs[prompt];
}

describe('a workbook', () => {
  it('is a table, its rows numbered as the sheet shows them', async () => {
    const table = [
      ['key', width],
      ['007', 512],
      ['', ''],
      ['b', 0.5],
    ];
    const rows = await rowsOf(workbook({ rows: { One: table } }), 'xlsx', { common }, 7);
    expect(rows.map(({ key, sheetRow, input }) => [key, sheetRow, input.inputs[width]])).toEqual([
      ['007', 2, 512],
      ['b', 4, 0.5],
    ]);
  });

  it('has several sheets, of which the first that is not hidden is read, or the one that is named', async () => {
    const rows = { One: [header, ['a', 'first']], 'Two & three': [header, ['a', 'second']] };
    const keysOf = async (options: RowOptions): Promise<unknown[]> =>
      (await rowsOf(workbook({ rows }), 'xlsx', { ...shown, ...options })).map(({ input }) => input.inputs[prompt]);
    expect(await keysOf({})).toEqual(['first']);
    expect(await keysOf({ sheet: 'Two & three' })).toEqual(['second']);
    expect(await fileProblemsOf(workbook({ rows }), 'xlsx', { ...shown, sheet: 'three' })).toEqual([
      expect.stringMatching(/no sheet "three".*"One", "Two & three"/),
    ]);
  });

  it.each<[string, string, string]>([
    ['00000', '123', '00123'],
    ['0.00', '0.5', '0.50'],
    ['0.00', '1.005', '1.01'],
    ['0.00', '-1.005', '-1.01'],
    ['0.000', '4938.2885', '4938.289'],
    ['0.00%', '0.010051', '1.01%'],
    ['# ?/?', '0.5', '1/2'],
    ['0.0#############', '1.5', '1.5'],
    ['#,##0', '1024', '1024'],
    ['#,##0.00;[Red]-#,##0.00', '1234.5', '1234.50'],
    ['#,##0.00 "€"', '1234.5', '1,234.50 €'],
    ['0%', '0.25', '25%'],
    ['DD.MM.YYYY', '46327', '01.11.2026'],
    ['yyyy-mm-dd hh:mm', '46327.5', '2026-11-01 12:00'],
    ['[$-407]dddd, d. mmmm yyyy', '46327', 'Sonntag, 1. November 2026'],
    ['General', '0.30000000000000004', '0.3'],
    ['General', '156680208700286', '156680208700286'],
    ['@', '7', '7'],
  ])('shows by the format %j the number %s as %j', async (code, number, text) => {
    expect(await shownOf({ number, style: 1 }, { formats: [code] })).toBe(text);
  });

  it('counts days from 1904 where it says so', async () => {
    const options = { formats: ['yyyy-mm-dd'], is1904: true };
    expect(await shownOf({ number: '0', style: 1 }, options)).toBe('1904-01-01');
  });

  it.each<[string, TestCell, unknown]>([
    ['a formula with its value', { xml: '<c t="str"><f>A2&amp;"x"</f><v>ax</v></c>' }, 'ax'],
    ['a boolean', { xml: '<c t="b"><v>1</v></c>' }, 'TRUE'],
    [
      'text in several fonts, without its reading',
      { xml: '<c t="inlineStr"><is><r><t>a </t></r><r><t>b</t></r><rPh><t>x</t></rPh></is></c>' },
      'a b',
    ],
    ['characters that XML does not have', { xml: '<c t="inlineStr"><is><t>a_x000A_b</t></is></c>' }, 'a\nb'],
  ])('gives %s', async (_what, cell, text) => {
    expect(await shownOf(cell)).toBe(text);
  });

  it.each<[string, TestCell, RegExp, string]>([
    [
      'a formula that a file has without a value',
      { xml: '<c><f>1+1</f><v></v></c>' },
      /formula without its value/,
      '0',
    ],
    ['a formula without its value', { xml: '<c><f>1+1</f></c>' }, /formula without its value.*cell B2/, '0'],
    [
      'a number that was shortened',
      { number: '1.56680208700286E+17', style: 0 },
      /more than 15 digits.*as text.*cell B2/,
      '0',
    ],
    ['a date that is none', { number: '-5', style: 1 }, /cannot be shown.*cell B2/, 'yyyy-mm-dd'],
    ['a format that is none', { number: '5', style: 1 }, /cannot be shown.*cell B2/, 'yyyy[bad'],
    ['an error', { xml: '<c t="e"><v>#REF!</v></c>' }, /is "#REF!"/, '0'],
  ])('refuses the row of %s, which names the cell', async (_what, cell, message, code) => {
    const textColumns = message.source.includes('REF') ? [] : [prompt];
    const content = workbook({ formats: [code], rows: { One: [header, ['a', cell]] } });
    const problems = await problemsOf(content, 'xlsx', { common, textColumns });
    expect(problems).toEqual([expect.objectContaining({ code: 'VALUE', field: prompt, sheetRow: 2 })]);
    expect(problems[0]?.message).toMatch(message);
  });

  it('may have what cannot be shown in a column that no row uses', async () => {
    const template = parseRowTemplate(`{"webAppId":1,"key":"{sku}","inputs":{"${prompt}":"{sku}"}}`);
    const rows = {
      One: [
        ['sku', 'sum'],
        ['a', { xml: '<c><f>1+1</f></c>' }],
      ],
    };
    expect(await rowsOf(workbook({ rows }), 'xlsx', { template })).toHaveLength(1);
  });

  it('may have formulas down to its end whose value is the empty text', async () => {
    const empty = { xml: '<c t="str"><f>IF(A2="","",A2)</f><v></v></c>' };
    const rows = { One: [header, ['a', 'x'], [empty, empty], [empty, empty]] };
    expect(await rowsOf(workbook({ rows }), 'xlsx', { common })).toHaveLength(1);
  });

  it.each<[string, Uint8Array, RegExp]>([
    ['no zip file', Buffer.from('PK\u0003\u0004 and no more'), /is no workbook.*\.xlsx/],
    ['another zip file', zip({ 'a.txt': 'a' }), /part "_rels\/\.rels" .*missing/],
    ['an entity', entity('<!DOCTYPE worksheet [<!ENTITY x SYSTEM "file:///etc/passwd">]>', '&x;'), /document type/],
    ['an unknown entity', entity('', '&x;'), /cannot be read/],
    [
      'XML that is cut',
      workbook({ rows: { One: [] }, parts: { 'xl/worksheets/sheet0.xml': '<worksheet><row>' } }),
      /cannot be read/,
    ],
    [
      'a cell in the last column there is',
      workbook({ rows: { One: [[{ xml: '<c r="XFD1"><v>1</v></c>' }]] } }),
      /XFD1 is beyond/,
    ],
  ])('is refused as a whole: %s', async (_what, content, message) => {
    const problems = await fileProblemsOf(content, 'xlsx', { common });
    expect(problems).toEqual([expect.stringMatching(message)]);
  });

  it('opens no part that lies outside of it', async () => {
    const parts = {
      'xl/_rels/workbook.xml.rels':
        '<Relationships><Relationship Id="s0" Type="x/worksheet" Target="https://example.com/a.xml" TargetMode="External"/></Relationships>',
    };
    await expect(rowsOf(workbook({ rows: { One: [header] }, parts }), 'xlsx', { common })).rejects.toThrow(
      RowFileError,
    );
  });
});

function entity(type: string, text: string): Buffer {
  const xml = `<?xml version="1.0"?>${type}<worksheet><sheetData><row><c t="inlineStr"><is><t>${text}</t></is></c></row></sheetData></worksheet>`;
  return workbook({ rows: { One: [] }, parts: { 'xl/worksheets/sheet0.xml': xml } });
}

describe('what stands above and below the rows of a table', () => {
  const template = parseRowTemplate(
    `{"webAppId":1,"key":"{sku}","inputs":{"${prompt}":"{text}","${width}":"{width:number}"}}`,
  );
  const rows = [
    ['sku', 'text', 'width'],
    ['a', 'one', 5],
  ];

  it('is named as a title', async () => {
    const content = workbook({ rows: { One: [['Products of autumn'], ...rows] } });
    expect(await fileProblemsOf(content, 'xlsx', { template })).toEqual([
      expect.stringMatching(/^The first row is a title, "Products of autumn"/),
    ]);
  });

  it.each(['Total', 'SUMME:', '合计'])('is named as a total: %s', async (label) => {
    const content = workbook({ rows: { One: [...rows, [label, '', 5]] } });
    const [problem, ...others] = await problemsOf(content, 'xlsx', { template, emptyCells: 'omit' });
    expect(problem).toMatchObject({
      code: 'MALFORMED',
      sheetRow: 3,
      message: expect.stringContaining('is a total') as string,
    });
    expect(others).toEqual([]);
  });
});
