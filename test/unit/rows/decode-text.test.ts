import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type PreparedRow, readRows, rowFileAt, RowFileError } from '../../../src/rows';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();
afterAll(folder.remove);

const input = '3:Text.text';

/** The texts of a table of this content, and what was said of its encoding. */
async function textsOf(content: Uint8Array, encoding?: string) {
  const file = join(folder.path, 'rows.csv');
  writeFileSync(file, content);
  const notices: string[] = [];
  const rows: PreparedRow[] = [];
  const problems: string[] = [];
  const read = rowFileAt(file, { encoding, onNotice: (notice) => void notices.push(notice) });
  for await (const outcome of readRows(read, { common: { webAppId: 1 } })) {
    if (outcome.row !== undefined) rows.push(outcome.row);
    problems.push(...(outcome.problems ?? []).map(({ code }) => code));
  }
  return { texts: rows.map((row) => row.input.inputs[input]), notices, problems, hasBom: rows[0]?.table?.hasBom };
}

const tableOf = (...texts: string[]): string =>
  `key,${input}\n${texts.map((text, index) => `k${index},${text}\n`).join('')}`;
/** After so many rows of ASCII that no first chunk has the others. */
const plain = Array.from({ length: 6_000 }, (_, index) => `plain ${index}`);

describe('the encoding of a row file', () => {
  const german = ['Grün', 'Weiß', 'Straße für 5 €'];
  const windows = (text: string): Buffer => Buffer.from(text.replaceAll('€', '\x80'), 'latin1');
  // 红色的杯子 and 蓝色的盘子
  const chinese = Buffer.concat([
    Buffer.from(`key,${input}\na,`),
    Buffer.from('baecc9abb5c4b1add7d3', 'hex'),
    Buffer.from('\nb,'),
    Buffer.from('c0b6c9abb5c4c5ccd7d3', 'hex'),
    Buffer.from('\n'),
  ]);

  it.each([
    ['UTF-8', Buffer.from(tableOf(...german)), false],
    ['UTF-8 with its mark', Buffer.from(`\uFEFF${tableOf(...german)}`), true],
    ['UTF-16', Buffer.from(`\uFEFF${tableOf(...german)}`, 'utf16le'), true],
    ['UTF-16 the other way', Buffer.from(`\uFEFF${tableOf(...german)}`, 'utf16le').swap16(), true],
    ['UTF-16 without a mark', Buffer.from(tableOf(...german), 'utf16le'), true],
  ])('is recognised and said: %s', async (name, content, hasBom) => {
    const read = await textsOf(content);
    expect(read).toMatchObject({ texts: german, problems: [], hasBom });
    const [encoding = ''] = name.split(' ');
    const said = encoding === 'UTF-8' ? [] : [`no UTF-8 but ${encoding}, and read so, such as "Gr`];
    expect(read.notices.map((notice) => said.filter((words) => notice.includes(words)))).toEqual(
      said.map((words) => [words]),
    );
  });

  it('is recognised where it shows late in the file, and read once it is said', async () => {
    const late = windows(tableOf(...plain, ...german));
    await expect(textsOf(late)).rejects.toThrow(/Windows-1252, if "Grün".*--encoding\) windows-1252/);
    expect((await textsOf(late, 'windows-1252')).texts.slice(-3)).toEqual(german);
  });

  it('is recognised as GBK, and read in any way that is said', async () => {
    await expect(textsOf(chinese)).rejects.toThrow(/GBK, if "红色的杯子".*--encoding\) gbk/);
    expect((await textsOf(chinese, 'gbk')).texts).toEqual(['红色的杯子', '蓝色的盘子']);
    const cyrillic = Buffer.concat([
      Buffer.from(`key,${input}\na,`),
      Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]),
      Buffer.from('\n'),
    ]);
    expect(await textsOf(cyrillic, 'windows-1251')).toMatchObject({ texts: ['Привет'], notices: [] });
  });

  // What Excel saves as CSV in Korea, Turkey and Bohemia.
  it.each([
    ['euc-kr', 'bbbab0a3c4c5'],
    ['windows-1254', '6bfd726dfd7afd20e7616e7461'],
    ['windows-1250', '74616cedf8'],
  ])('is never guessed for text of %s', async (encoding, hex) => {
    const content = Buffer.concat([Buffer.from(`key,${input}\na,`), Buffer.from(hex, 'hex'), Buffer.from('\n')]);
    const read = textsOf(content).then(
      ({ texts }) => texts,
      () => [],
    );
    expect(await read).toEqual([]);
    expect((await textsOf(content, encoding)).texts).toEqual([
      new TextDecoder(encoding).decode(Buffer.from(hex, 'hex')),
    ]);
  });

  it('is not guessed where it is not sure: a row that is not UTF-8 is refused', async () => {
    const mixed = Buffer.concat([Buffer.from(tableOf('Grün', 'Weiß', 'für')), Buffer.from('x,caf\xe9\n', 'latin1')]);
    expect(await textsOf(mixed)).toMatchObject({ texts: ['Grün', 'Weiß', 'für'], problems: ['NOT_UTF8'], notices: [] });
    const polish = Buffer.from(tableOf('za\xbf\xf3\xb3\xe6', 'g\xea\x9cl\xb9'), 'latin1');
    expect(await textsOf(polish)).toMatchObject({ texts: [], problems: ['NOT_UTF8', 'NOT_UTF8'] });
  });

  it('that is said and wrong, or not known, is refused', async () => {
    await expect(textsOf(windows(tableOf(...german)), 'gbk')).rejects.toThrow(RowFileError);
    await expect(textsOf(windows(tableOf(...german)), 'latin-x')).rejects.toThrow(/--encoding.*"latin-x"/);
  });
});
