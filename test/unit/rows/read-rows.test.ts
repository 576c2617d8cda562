import fc from 'fast-check';
import { inputDigest } from '../../../src/contract/task-input';
import { isTaskKey } from '../../../src/contract/workflow-ids';
import { parseRowTemplate, type RowOptions, rowProblemText } from '../../../src/rows';
import { trimUnseen } from '../../../src/rows/cells';
import { fileProblemsOf, outcomesOf, problemsOf, rowsOf } from './rows-under-test';

const common = { webAppId: 7 };
const image = '1:LoadImage.image';
const width = '2:ImageScale.width';
const prompt = '3:Text.text';

describe('a row of CSV', () => {
  it('gives what run would make of its cells, with files from the folder of the row file', async () => {
    const csv = `key,${image},${width},${prompt}\ncat,@cat.jpg,512,"a ""cat"", sitting"\ndog,@s3://b/dog.jpg,007,0.5\n`;

    const [cat, dog] = await rowsOf(csv, 'csv', { common });

    expect(cat).toEqual({
      index: 0,
      line: 2,
      sheetRow: 2,
      key: 'cat',
      originalKey: 'cat',
      input: {
        webAppId: 7,
        inputs: { [image]: { file: '/home/ada/rows/cat.jpg' }, [width]: 512, [prompt]: 'a "cat", sitting' },
      },
      digest: inputDigest(cat!.input),
      columns: {},
      cells: ['cat', '@cat.jpg', '512', 'a "cat", sitting'],
      table: { columns: ['key', image, width, prompt], delimiter: ',', hasBom: false },
    });
    expect(dog?.input.inputs).toEqual({ [image]: { file: 's3://b/dog.jpg' }, [width]: '007', [prompt]: 0.5 });
  });

  it('is the same with a byte order mark, CRLF, tabs, empty lines and lines of nothing but delimiters', async () => {
    const csv = `\uFEFF\r\nkey,${width}\r\n\r\na,1\r\n,\r\nb,2`;
    const rows = await rowsOf(csv, 'csv', { common });

    expect(rows.map(({ index, line, key, input }) => [index, line, key, input.inputs])).toEqual([
      [0, 4, 'a', { [width]: 1 }],
      [1, 6, 'b', { [width]: 2 }],
    ]);
    const tsv = await rowsOf(csv.replaceAll(',', '\t'), 'tsv', { common });
    expect(tsv).toEqual(rows.map((row) => ({ ...row, table: { ...row.table, delimiter: '\t' } })));
  });

  it('is named by its row of the sheet, and by its line where line ends in cells or a first line for the program move that', async () => {
    const csv = `sep=,\nkey,${prompt},${width}\na,"one\ntwo\nthree",5\n\nb,x, 6\nc,x\n"d",=A1+1,7\n`;

    const outcomes = await outcomesOf(csv, 'csv', { common });

    expect(outcomes[0]?.row).toMatchObject({ line: 3, sheetRow: 2 });
    expect(outcomes.flatMap(({ problems = [] }) => problems).map(rowProblemText)).toEqual([
      expect.stringMatching(/^row 4, line 7 of the file: "2:ImageScale\.width" is " 6"/),
      expect.stringMatching(/^row 5, line 8 of the file: The row has 2 cells/),
      expect.stringMatching(/^row 6, line 9 of the file: .* got a formula/),
    ]);
  });

  it('takes constants where it says nothing itself, forms of files, columns as text, an app of its own', async () => {
    const options: RowOptions = {
      constants: { [width]: 512, [prompt]: 'a cat' },
      forms: { [image]: 'name' },
      textColumns: [width],
      keepColumns: ['city'],
      ignoreColumns: ['note'],
      keyColumn: 'sku',
    };
    const [row] = await rowsOf(`sku,webAppId,${image},${width},city,note\nA 1,9,@a.jpg,1024,Zürich,@x`, 'csv', options);

    expect(row?.input).toEqual({
      webAppId: 9,
      inputs: { [width]: '1024', [prompt]: 'a cat', [image]: { file: '/home/ada/rows/a.jpg', as: 'name' } },
    });
    expect(row?.columns).toEqual({ city: 'Zürich' });
    expect(row?.originalKey).toBe('A 1');
    expect(row?.key).toMatch(/^A-1-[0-9a-f]{16}$/);
  });

  it('with an empty cell is refused unless it is said what that means', async () => {
    const csv = `key,${width},${prompt}\na,,\n`;

    expect(await problemsOf(csv, 'csv', { common })).toMatchObject([
      { sheetRow: 2, code: 'VALUE', field: width, value: '""' },
      { sheetRow: 2, code: 'VALUE', field: prompt, value: '""' },
    ]);
    const constants = { [width]: 5 };
    const omitted = await rowsOf(csv, 'csv', { common, constants, emptyCells: 'omit' });
    expect(omitted[0]?.input.inputs).toEqual({ [width]: 5 });
    const text = await rowsOf(csv, 'csv', { common, constants, emptyCells: 'text' });
    expect(text[0]?.input.inputs).toEqual({ [width]: '', [prompt]: '' });
  });
});

describe('the key of a row', () => {
  it('does not have the spaces around it that nobody sees', async () => {
    const [row] = await rowsOf(`key,${width}\n b c\u00a0\u200b,1`, 'csv', { common });
    const [other] = await rowsOf('{"key":"b c","inputs":{}}', 'jsonl', { common });

    expect(row).toMatchObject({ key: other?.key, originalKey: 'b c' });
    expect((await problemsOf(`key,${width}\n \u00a0,1`, 'csv', { common })).map(rowProblemText)).toEqual([
      'row 2: "key" is " \u00a0"; give text of 1 to 500 characters, or no row a key.',
    ]);
  });

  it('is derived from its content where it gives none, whatever the order of its columns', async () => {
    const [row] = await rowsOf(`${width},${prompt}\n1,x`, 'csv', { common });
    const [other] = await rowsOf(`${prompt},${width}\nx,1`, 'csv', { common: { webAppId: 8 } });
    const [third] = await rowsOf(`${prompt},${width}\nx,2`, 'csv', { common });

    expect(row?.originalKey).toBeNull();
    expect(row?.key).toMatch(/^row-[0-9a-f]{24}$/);
    expect(other?.key).toBe(row?.key);
    expect(other?.digest).not.toBe(row?.digest);
    expect(third?.key).not.toBe(row?.key);
  });

  it('is its own where it can be one, and else a slug and a hash that tell all keys apart', async () => {
    const keyOf = async (key: string): Promise<string | undefined> =>
      (await rowsOf(JSON.stringify({ key, inputs: {} }), 'jsonl', { common }))[0]?.key;

    expect(await keyOf('IMG_1.jpg')).toBe('IMG_1.jpg');
    expect(await keyOf('photos/Zürich 1.jpg')).toMatch(/^photos-Zurich-1.jpg-[0-9a-f]{16}$/);
    expect(await keyOf('照片')).toMatch(/^key-[0-9a-f]{16}$/);
    expect(await keyOf('Zu\u0308rich')).toBe(await keyOf('Z\u00fcrich'));
    const keys = fc.string({ unit: 'binary', maxLength: 100 }).filter((key) => trimUnseen(key) !== '');
    await fc.assert(
      fc.asyncProperty(keys, keys, async (one, two) => {
        const [first = '', second = ''] = [await keyOf(one), await keyOf(two)];
        expect(isTaskKey(first)).toBe(true);
        expect(first === second).toBe(trimUnseen(one).normalize('NFC') === trimUnseen(two).normalize('NFC'));
      }),
    );
  });
});

describe('rows that are rubbish', () => {
  const large = 'x'.repeat(10 * 1024 * 1024);

  it.each(['csv', 'tsv', 'jsonl'] as const)(
    'of 10 MB in %s are told with their line, and the next is read',
    async (format) => {
      const delimiter = format === 'tsv' ? '\t' : ',';
      const row = (key: string, text: string): string =>
        format === 'jsonl' ? JSON.stringify({ key, inputs: { [prompt]: text } }) : [key, text].join(delimiter);
      const header = format === 'jsonl' ? '' : ['key', prompt].join(delimiter);

      const outcomes = await outcomesOf([header, row('a', large), row('b', 'short')].join('\n'), format, { common });

      expect(
        outcomes.map(({ row: read, problems = [] }) => read?.key ?? problems.map(({ code, line }) => [code, line])),
      ).toEqual([[['TOO_LARGE', 2]], 'b']);
    },
  );

  it('that are not UTF-8 are told with their line, and nothing is replaced', async () => {
    const csv = Buffer.concat([
      Buffer.from(`key,${prompt}\na,Z`),
      Buffer.from([0xfc]),
      Buffer.from('rich\nb,Zürich\n'),
    ]);

    const outcomes = await outcomesOf(csv, 'csv', { common });

    expect(outcomes[0]?.problems?.map(rowProblemText)).toEqual([
      'row 2: The row is not UTF-8; save the file as UTF-8 (in Excel: save as "CSV UTF-8").',
    ]);
    expect(outcomes[1]?.row?.input.inputs[prompt]).toBe('Zürich');
  });

  it.each(['a\t5" disk', 'a\t"five" inches'])(
    'of tabs such as %j may have been written without quotes',
    async (line) => {
      const [problem] = await problemsOf(`key\t${prompt}\n${line}\n`, 'tsv', { common });

      expect(problem?.message).toMatch(/ Google Sheets quotes nothing in TSV: download CSV there\.$/);
    },
  );

  it.each([
    ['a,5" disk', 'The quotes of the row do not match'],
    ['a,"five" inches', 'The quotes of the row do not match'],
    ['a', 'The row has 1 cell, and the header 2 columns'],
    ['a,b,c', 'The row has 3 cells, and the header 2 columns'],
    ['a,@', `"${prompt}" is "@"; expected the path of a file`],
    [',x', '"key" is ""; give text'],
  ])('such as %j are told, and the next is read', async (line, problem) => {
    const outcomes = await outcomesOf(`key,${prompt}\n${line}\nb,x\n`, 'csv', { common });

    expect(outcomes[0]?.problems?.map(rowProblemText).join()).toContain(`row 2: ${problem}`);
    expect(outcomes[1]?.row?.key).toBe('b');
    expect(outcomes).toHaveLength(2);
  });

  it('because they name no app are told so once each, by its field', async () => {
    const problem = { code: 'INPUT', field: 'webAppId', value: 'missing' };
    expect(await problemsOf(`key,${width}\na,1`, 'csv')).toEqual([expect.objectContaining(problem)]);
    expect(await problemsOf('{"inputs":{}}', 'jsonl')).toEqual([expect.objectContaining(problem)]);
  });

  it('with tens of thousands of inputs that are none are told in no time', async () => {
    const inputs = Object.fromEntries(Array.from({ length: 15_000 }, (_, index) => [`k${index}`, null]));
    const problems = await problemsOf(JSON.stringify({ inputs }), 'jsonl', { common });

    expect(problems).toHaveLength(21);
    expect(problems[0]).toMatchObject({ field: 'k0', value: 'null' });
    expect(problems.at(-1)?.message).toBe('There are 29960 more problems.');
  });
});

describe('a row file that cannot be used', () => {
  it.each([
    ['', 'The row file is empty; give it a header and rows.'],
    [`key,key,${width}`, 'The column "key" is there twice; rename or remove one.'],
    [`key,,${width}`, 'Column 2 has no name; name it or remove it.'],
    [`Key,${width}`, 'The column "Key" is not known'],
    [`key,1LoadImage.image`, 'The column "1LoadImage.image" is not known'],
    [`${width}\u0000`, 'has control characters in its name; end lines with \\n or \\r\\n'],
  ])('%j is told as a whole', async (csv, problem) => {
    expect((await fileProblemsOf(csv, 'csv', { common })).join('\n')).toContain(problem);
  });

  it('is one whose columns are called otherwise than they are asked for, also a key that a template leaves alone', async () => {
    const template = parseRowTemplate(`{"webAppId":7,"inputs":{"${prompt}":"{animal}"}}`);
    expect(await fileProblemsOf('Order,Animal\na,1', 'csv', { template, keyColumn: 'order' })).toEqual([
      expect.stringMatching(/^The first row names no column that is expected/),
      expect.stringMatching(/no column "animal".* columns are "Order", "Animal"\.$/),
      expect.stringContaining('no column "order"'),
    ]);
    expect(await fileProblemsOf('Key,animal\na,1', 'csv', { template })).toHaveLength(1);
  });

  it('is one whose keys are to be in a column, and are made by the template', async () => {
    const made = (key: string): string => `{"webAppId":7,"key":"${key}","inputs":{"${prompt}":"{animal}"}}`;
    const csv = 'order,animal\na,cat';
    const template = parseRowTemplate(made('{animal}'));
    expect(await fileProblemsOf(csv, 'csv', { template, keyColumn: 'order' })).toEqual([
      expect.stringContaining('would be without effect'),
    ]);
    const [row] = await rowsOf(csv, 'csv', { template: parseRowTemplate(made('{order}')), keyColumn: 'order' });
    expect(row).toMatchObject({ key: 'a', input: { inputs: { [prompt]: 'cat' } } });
  });

  it('is one with a title above its header, as some programs write it', async () => {
    const template = parseRowTemplate(`{"webAppId":7,"inputs":{"${prompt}":"{animal}"}}`);
    const problems = await fileProblemsOf('Sheet 1\nanimal\na', 'csv', { template });
    expect(problems).toEqual(['The first row is a title, "Sheet 1", and no header; remove it.']);
  });

  it('is one that begins with a row instead of a header, however many columns it has', async () => {
    const [first, ...others] = await fileProblemsOf('a,@photo.jpg,5\nb,@photo.jpg,6', 'csv', { common });
    expect(first).toMatch(/^The first row names no column that is expected .*--template/);
    expect(others).toEqual([]);
    const wide = Array.from({ length: 5_000 }, (_, index) => `column ${index}`).join(',');
    const problems = await fileProblemsOf(`${wide}\n${wide}`, 'csv', { common, keyColumn: 'sku' });
    expect(problems.length).toBeLessThan(200);
    expect(problems.join('').length).toBeLessThan(50_000);
  });

  it('is none where only unseen characters stand around the names', async () => {
    const [row] = await rowsOf(`\u200bkey\u200b,\u2060${width}\na,5\n`, 'csv', { common });
    expect(row).toMatchObject({ key: 'a', input: { inputs: { [width]: 5 } } });
  });

  it('is one without a column that is asked for', async () => {
    const template = parseRowTemplate(`{"webAppId":7,"inputs":{"${prompt}":"{animal}"}}`);
    const options = { template, keyColumn: 'sku', keepColumns: ['city'], ignoreColumns: ['notes'] };
    expect(await fileProblemsOf(`key,${width}\na,1`, 'csv', options)).toEqual([
      ...['animal', 'city', 'notes', 'sku'].map((name) => expect.stringContaining(`no column "${name}"`) as string),
      expect.stringContaining(`The column "${width}" is not known; rename it`),
    ]);
  });
});

describe('what the command line fixes for all rows', () => {
  const fixed = {
    account: { value: 'studio', option: '--account' },
    onUncertain: { value: 'hold', option: '--on-uncertain' },
    tuning: { value: undefined, option: '--refuse-tuning' },
  };
  const line = (more: object): string => JSON.stringify({ key: 'a', webAppId: 7, inputs: {}, ...more });

  it('is in every row, and a row may say the same', async () => {
    const rows = await rowsOf([line({}), line({ key: 'b', account: 'studio' })].join('\n'), 'jsonl', { fixed });

    const expected = { webAppId: 7, inputs: {}, account: 'studio', onUncertain: 'hold' };
    expect(rows.map(({ input }) => input)).toEqual([expected, expected]);
  });

  it.each([
    [{ account: 'other' }, 'account', '--account holds for every row'],
    [{ onUncertain: 'recreate' }, 'onUncertain', '--on-uncertain holds for every row'],
    [{ tuning: { retryMaxMs: 1 } }, 'tuning', '--refuse-tuning holds for every row'],
  ])('cannot be changed by a row: %j', async (more, field, words) => {
    const [problem, ...others] = await problemsOf(line(more), 'jsonl', { fixed });

    expect(problem).toMatchObject({ code: 'INPUT', field, message: expect.stringContaining(words) as string });
    expect(others).toEqual([]);
  });

  it('holds for a template, too', async () => {
    const template = parseRowTemplate('{ "webAppId": 7, "account": "{who}", "inputs": {} }');
    const [problem] = await problemsOf('key,who\na,other\n', 'csv', { fixed, template });

    expect(problem).toMatchObject({ code: 'INPUT', field: 'account' });
  });
});
