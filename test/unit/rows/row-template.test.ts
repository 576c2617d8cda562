import fc from 'fast-check';
import { parseRowTemplate, RowFileError } from '../../../src/rows';
import { problemsOf, rowsOf } from './rows-under-test';

function problemsOfTemplate(json: string): readonly string[] {
  try {
    parseRowTemplate(json);
  } catch (error) {
    if (error instanceof RowFileError) return error.problems;
    throw error;
  }
  return [];
}

const json = JSON.stringify({
  key: '{animal}-{size}',
  webAppId: 7,
  inputs: {
    '1:LoadImage.image': { file: 'photos/{animal}.jpg', as: 'name' },
    '2:ImageScale.width': '{size:number}',
    '3:Text.text': 'a {animal} of {{size}} {size}',
    '4:Seed.seed': '{seed}',
    '5:Steps.steps': 20,
  },
});

describe('a template', () => {
  it('is filled with the cells of a table, which are text unless it says number', async () => {
    const template = parseRowTemplate(json);
    const [row] = await rowsOf('animal,size,seed,note\ncat,512,007,\n', 'csv', { template });

    expect(template.columns).toEqual(['animal', 'size', 'seed']);
    expect(row).toMatchObject({ key: 'cat-512', originalKey: 'cat-512' });
    expect(row?.input).toEqual({
      webAppId: 7,
      inputs: {
        '1:LoadImage.image': { file: '/home/ada/rows/photos/cat.jpg', as: 'name' },
        '2:ImageScale.width': 512,
        '3:Text.text': 'a cat of {size} 512',
        '4:Seed.seed': '007',
        '5:Steps.steps': 20,
      },
    });
  });

  it('is filled with the fields of JSONL, whose numbers stay numbers', async () => {
    const template = parseRowTemplate(json);
    const [row] = await rowsOf('{"animal":"cat","size":512,"seed":7,"note":null}', 'jsonl', { template });

    expect(row?.input.inputs).toMatchObject({ '2:ImageScale.width': 512, '4:Seed.seed': 7 });
  });

  it('gives rows with the same in the columns that it asks for the same key', async () => {
    const template = parseRowTemplate('{"webAppId":7,"inputs":{"3:Text.text":"{animal}"}}');
    const [one, two] = await rowsOf('animal,note\ncat,1\ncat,2', 'csv', { template });
    const [three] = await rowsOf('{"animal":"cat","note":3}', 'jsonl', { template });

    expect(two?.key).toBe(one?.key);
    expect(three?.key).toBe(one?.key);
  });

  it('does not send the name of a file as text, unless it is said that it is text', async () => {
    const template = parseRowTemplate('{"webAppId":7,"inputs":{"1:LoadImage.image":"@photos/{animal}.jpg"}}');

    const problems = await problemsOf('animal\ncat\n', 'csv', { template });
    const [row] = await rowsOf('animal\ncat\n', 'csv', { template, textColumns: ['1:LoadImage.image'] });

    expect(problems).toMatchObject([{ sheetRow: 2, code: 'VALUE', field: '1:LoadImage.image' }]);
    expect(row?.input.inputs).toEqual({ '1:LoadImage.image': '@photos/cat.jpg' });
  });

  it('leaves out what an empty cell was to be, when empty cells are omitted', async () => {
    const template = parseRowTemplate(
      '{"webAppId":7,"inputs":{"3:Text.text":"{animal}","4:Seed.seed":"{seed:number}"}}',
    );
    const [row] = await rowsOf('animal,seed\ncat,\n', 'csv', { template, emptyCells: 'omit' });
    expect(row?.input.inputs).toEqual({ '3:Text.text': 'cat' });
  });

  it.each(['refuse', 'omit', 'text'] as const)(
    'refuses an empty cell that is to be the key: %s',
    async (emptyCells) => {
      const template = parseRowTemplate('{"webAppId":7,"key":"{number}","inputs":{"3:Text.text":"{animal}"}}');
      const problems = await problemsOf('number,animal\n17,cat\n,dog\n', 'csv', { template, emptyCells });
      expect(problems).toMatchObject([{ sheetRow: 3, code: 'VALUE', field: 'number', value: '""' }]);
    },
  );

  it('tells what a row lacks', async () => {
    const template = parseRowTemplate(json);
    const csv = await problemsOf('animal,size,seed\ncat,large,\n', 'csv', { template });
    const jsonl = await problemsOf('{"animal":["cat"],"size":"large"}', 'jsonl', { template });

    const facts = (problems: typeof csv) => problems.map(({ code, field, value }) => [code, field, value]);
    expect(facts(csv)).toEqual([
      ['VALUE', 'seed', '""'],
      ['VALUE', 'size', '"large"'],
    ]);
    expect(facts(jsonl)).toEqual([
      ['VALUE', 'seed', 'missing'],
      ['VALUE', 'animal', '["cat"]'],
      ['VALUE', 'size', '"large"'],
    ]);
  });

  it.each([
    ['{', 'The template is not JSON'],
    ['[]', 'The template is []; give an object'],
    ['{"inputs":{},"inputs":{}}', 'The template has the field "inputs" twice in one object; give it once.'],
    ['{"1:A.b":"x"}', 'The template has the field "1:A.b"; move it into { "inputs": { … } }.'],
    ['{"app":7}', 'The template has the field "app"; a template has key, webAppId, inputs, account,'],
    ['\uFFFD\uFFFD{\0', 'The template is not UTF-8; save it as UTF-8.'],
    ['{"inputs":{"3:Text.text":"Z\uFFFDrich"}}', 'The template is not UTF-8; save it as UTF-8.'],
    ['{"inputs":{"a":"{"}}', 'template.inputs.a has a "{" that is no {column}; write {{ and }} for braces.'],
    ['{"inputs":{"a":"{}"}}', 'template.inputs.a has a "{}" that is no {column}'],
    ['{"inputs":{"a":"x{b:number}"}}', 'template.inputs.a is "x{b:number}"; a {column:number} must be the whole text.'],
  ])('%s is refused', (text, problem) => {
    expect(problemsOfTemplate(text).join('\n')).toContain(problem);
  });

  /** What stands where bytes were no UTF-8, which is refused. */
  const isReadable = (text: string): boolean => !text.includes('\uFFFD');

  it('gives back any text with its braces doubled, and throws for none', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }).filter(isReadable), async (text) => {
        expect(() => problemsOfTemplate(JSON.stringify({ text }))).not.toThrow();
        const doubled = text.replace(/[{}]/g, '$&$&');
        const template = parseRowTemplate(JSON.stringify({ webAppId: 7, inputs: { '3:Text.text': doubled } }));
        const [row] = await rowsOf('{}', 'jsonl', { template });
        expect(row?.input.inputs['3:Text.text']).toBe(text);
      }),
    );
  });
});
