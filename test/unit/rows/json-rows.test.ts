import { parseRowTemplate } from '../../../src/rows';
import { fileProblemsOf, problemsOf, rowsOf } from './rows-under-test';

const common = { webAppId: 7 };
const image = '1:LoadImage.image';
const width = '2:ImageScale.width';
const prompt = '3:Text.text';

describe('a row of JSONL', () => {
  it('is a task’s input as it is: its numbers are numbers, and an @ is text', async () => {
    const row = {
      key: 17,
      webAppId: 9,
      account: 'studio',
      inputs: { [image]: { file: 'a.jpg', as: 'id' }, [prompt]: '@ada', [width]: '512' },
    };

    const [read] = await rowsOf(`${JSON.stringify(row)}\r\n\n  \n`, 'jsonl', { common });

    expect(read).toMatchObject({ index: 0, line: 1, key: '17', originalKey: '17' });
    expect(read?.input).toEqual({
      webAppId: 9,
      account: 'studio',
      inputs: { [image]: { file: '/home/ada/rows/a.jpg', as: 'id' }, [prompt]: '@ada', [width]: '512' },
    });
  });

  it('has as text what is said to be text, also what looks like a file or is a number', async () => {
    const row = { [image]: '@photos/cat.jpg', [width]: 512, [prompt]: 512 };

    const [read] = await rowsOf(JSON.stringify(row), 'jsonl', { common, textColumns: [image, width] });

    expect(read?.input.inputs).toEqual({ [image]: '@photos/cat.jpg', [width]: '512', [prompt]: 512 });
  });

  it('with a field that is unknown is told what it may have, and what to do about the field', async () => {
    const [problem] = await problemsOf('{"id":"a","inputs":{}}', 'jsonl', { common });

    expect(problem).toMatchObject({ line: 1, code: 'INPUT', field: 'id', value: '"a"' });
    expect(problem?.message).toMatch(/template .* keyColumn .* ignoreColumns/);
  });

  it.each([
    ['{"inputs":{"1:A.b":true}}', '1:A.b', 'true'],
    ['{"inputs":{"1:A.b":{"file":"a.jpg","as":"uri"}}}', '1:A.b', '{"file":"/home/ada/rows/a.jpg","as":"uri"}'],
    ['{"inputs":{"1:A.b":{"file":"a.jpg","az":"id"}}}', '1:A.b', '{"file":"/home/ada/rows/a.jpg","az":"id"}'],
    ['{"inputs":{"LoadImage.image":1}}', 'LoadImage.image', '1'],
    ['{"inputs":7}', 'inputs', '7'],
    ['{"inputs":{},"watch":"x"}', 'watch', '"x"'],
    ['{"inputs":{},"archive":"batches/animals/results"}', 'archive', '"batches/animals/results"'],
    ['{"inputs":{},"archive":"Batches"}', 'archive', '"Batches"'],
  ])('such as %s tells a program which field is refused', async (line, field, value) => {
    expect(await problemsOf(line, 'jsonl', { common })).toEqual([expect.objectContaining({ code: 'INPUT', field })]);
    expect((await problemsOf(line, 'jsonl', { common }))[0]?.value).toBe(value);
  });

  it('has no field but its own, whatever its name is', async () => {
    const row = '{"key":"a","__proto__":{"webAppId":9,"inputs":{"2:ImageScale.width":1}}}';
    const [problem] = await problemsOf(row, 'jsonl', { common });
    const keyless = await problemsOf('{"inputs":{}}', 'jsonl', { common, keyColumn: 'constructor' });
    const template = parseRowTemplate('{"inputs":{"3:Text.text":"{toString}"}}');
    const unfilled = await problemsOf('{"key":"a"}', 'jsonl', { common, template });

    expect(problem).toMatchObject({ code: 'INPUT', field: '__proto__' });
    expect(keyless).toMatchObject([{ code: 'KEY', field: 'constructor', value: 'missing' }]);
    expect(unfilled).toMatchObject([{ code: 'VALUE', field: 'toString', value: 'missing' }]);
  });

  it('may name the outputs’ folder of its own batch', async () => {
    const row = '{"inputs":{},"archive":"batches/animals/outputs/drafts"}';
    expect(await rowsOf(row, 'jsonl', { common, batchId: 'animals' })).toHaveLength(1);
    expect(await problemsOf(row, 'jsonl', { common, batchId: 'plants' })).toMatchObject([
      { line: 1, field: 'archive' },
    ]);
  });

  it('may have its input keys beside its key, as a table has, and is the same row', async () => {
    const options = { common, forms: { [image]: 'name' as const }, ignoreColumns: [width] };
    const flat = { [image]: { file: 'a.jpg' }, [prompt]: 'a cat', [width]: 9 };
    const nested = { inputs: { [image]: { file: 'a.jpg' }, [prompt]: 'a cat' } };

    const [row] = await rowsOf(JSON.stringify(flat), 'jsonl', options);
    const [other] = await rowsOf(JSON.stringify(nested), 'jsonl', options);

    expect(row?.input.inputs).toEqual({ [image]: { file: '/home/ada/rows/a.jpg', as: 'name' }, [prompt]: 'a cat' });
    expect(row).toEqual(other);
  });

  it.each([
    ['{"inputs":{"2:A.b":1},"2:A.b":2}', 'VALUE', '2:A.b'],
    ['{"inputs":7,"2:A.b":2}', 'INPUT', 'inputs'],
    ['{"inputs":', 'MALFORMED', null],
    ['7', 'MALFORMED', null],
    ['{"inputs":{"2:A.b":1,"2:\\u0041.b":2}}', 'MALFORMED', '2:A.b'],
    ['{"inputs":{},"key":"a","inputs":{}}', 'MALFORMED', 'inputs'],
    ['{"inputs":{"2:A.b":"@photos/cat.jpg"}}', 'VALUE', '2:A.b'],
    ['{"inputs":{"2:A.b":"@s3://b/cat"}}', 'VALUE', '2:A.b'],
    ['{"inputs":{},"key":" \u00a0"}', 'KEY', 'key'],
    ['{"inputs":{},"key":""}', 'KEY', 'key'],
    ['{"inputs":{},"key":{}}', 'KEY', 'key'],
    ['{"inputs":{"2:A.b":9007199254740993}}', 'VALUE', '2:A.b'],
    ['{"inputs":{"2:A.b ":1}}', 'VALUE', '2:A.b '],
    ['{"inputs":{},"webAppID":7}', 'INPUT', 'webAppID'],
    ['{"inputs":{},"batch":{"id":"b","key":"k"}}', 'INPUT', 'batch'],
    ['{"inputs":{},"createNumber":2}', 'INPUT', 'createNumber'],
    ['{"adopt":{"requestId":"r"}}', 'INPUT', 'adopt'],
    ['{"inputs":{"1:L.i":{"file":"https://h.example/a?X-Amz-Signature=5ecret"}}}', 'INPUT', '1:L.i'],
  ])('%s is refused', async (line, code, field) => {
    const problems = await problemsOf(`\n${line}\n`, 'jsonl', { common });
    expect(problems[0]).toMatchObject({ line: 2, code, field });
    expect(JSON.stringify(problems)).not.toContain('5ecret');
  });
});

describe('a JSON document', () => {
  const row = { sku: '007', image: { src: 'a.jpg' }, tags: ['x'] };
  const template = parseRowTemplate(
    '{"webAppId":1,"key":"{sku}","inputs":{"1:L.image":{"file":"{image.src}"},"2:T.text":"{tags.0}"}}',
  );

  it.each<[string, unknown, string | undefined]>([
    ['an array', [row], undefined],
    ['an array in an object', { page: 1, products: [row] }, 'products'],
    ['an array further inside', { data: { products: [row] } }, 'data.products'],
  ])('is read where its rows are %s, into whose objects a template reaches', async (_what, document, rows) => {
    for (const space of [0, 2]) {
      const [read] = await rowsOf(JSON.stringify(document, null, space), 'jsonl', { template, rows });
      expect(read).toMatchObject({
        key: '007',
        input: { inputs: { '1:L.image': { file: '/home/ada/rows/a.jpg' }, '2:T.text': 'x' } },
      });
    }
  });

  it('has the field of a name with a point before what lies inside', async () => {
    const [read] = await rowsOf(JSON.stringify([{ ...row, 'image.src': 'b.jpg' }]), 'jsonl', { template });
    expect(read?.input.inputs['1:L.image']).toMatchObject({ file: '/home/ada/rows/b.jpg' });
  });

  it('has nothing that an object has by itself', async () => {
    const reaching = parseRowTemplate('{"webAppId":1,"inputs":{"2:T.text":"{sku.length}{image.constructor.name}"}}');
    const problems = await problemsOf(JSON.stringify([row]), 'jsonl', { template: reaching });
    expect(problems.map(({ field }) => field)).toContain('image.constructor.name');
  });

  it('whose rows are elsewhere is refused with the names of its arrays', async () => {
    const document = JSON.stringify({ page: 1, products: [row], others: [] }, null, 2);
    expect(await fileProblemsOf(document, 'jsonl', { template })).toEqual([
      expect.stringMatching(/"products", "others".*--rows/),
    ]);
    expect(await fileProblemsOf(document, 'jsonl', { template, rows: 'product' })).toEqual([
      expect.stringMatching(/no array "product"; .*"products"/),
    ]);
  });

  it.each(['[{"a":1,"a":2}]', '[1', '[[1]'])('that is damaged is refused: %s', async (document) => {
    expect(await fileProblemsOf(document, 'jsonl', { template })).toHaveLength(1);
  });
});

describe('a list of texts', () => {
  const each = '6:CLIPTextEncode.text';

  it('has a row for each line that is not blank, its text as it stands', async () => {
    const rows = await rowsOf('\uFEFF a cat, "sitting"\r\n\r\n  \n007\n', 'txt', { common, each });
    expect(rows.map(({ line, input }) => [line, input.inputs[each]])).toEqual([
      [1, 'a cat, "sitting"'],
      [4, '007'],
    ]);
  });

  it('that is the same text twice is the same row twice', async () => {
    const rows = await rowsOf('a\na\n', 'txt', { common, each });
    expect(new Set(rows.map(({ key }) => key)).size).toBe(1);
  });

  it('is a table of tabs where no input is said, whose refusal names the option', async () => {
    expect(await rowsOf(`key\t${each}\na\tcat\n`, 'txt', { common })).toHaveLength(1);
    expect((await fileProblemsOf('a cat, sitting\na dog\n', 'txt', { common })).join()).toContain('--each');
  });

  it.each(['6', '', 'text'])('is refused with what is no input: %j', async (name) => {
    expect(await fileProblemsOf('a', 'txt', { common, each: name })).toEqual([expect.stringContaining('--each')]);
  });
});
