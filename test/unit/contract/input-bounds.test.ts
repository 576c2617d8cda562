import { maxInputBytes, maxInputFiles, Undecodable } from '../../../src/contract/input-bounds';
import { parseBatchInput } from '../../../src/contract/batch/parse-batch-input';
import { parseTaskInput } from '../../../src/contract/parse-task-input';

/** An input whose JSON has exactly so many bytes. */
function inputOf(bytes: number): Record<string, unknown> {
  const without = Buffer.byteLength(JSON.stringify({ webAppId: 7, inputs: { '2:Prompt.text': '' } }));
  return { webAppId: 7, inputs: { '2:Prompt.text': 'x'.repeat(bytes - without) } };
}

describe('the input of a task', () => {
  it('may have the largest size, and not a byte more: then it names the size, the bound and the remedy', () => {
    expect(parseTaskInput(inputOf(maxInputBytes)).problems).toBeUndefined();
    const [problem = '', ...others] = parseTaskInput(inputOf(maxInputBytes + 1)).problems ?? [];
    expect(others).toEqual([]);
    for (const part of [`${maxInputBytes + 1} bytes`, String(maxInputBytes), '"file"']) expect(problem).toContain(part);
  });

  it('is measured as Temporal stores it: in UTF-8, with what JSON escapes', () => {
    const inputs = (value: string): unknown => ({ webAppId: 7, inputs: { '2:Prompt.text': value } });
    expect(parseTaskInput(inputs('字'.repeat(80_000))).problems).toBeUndefined();
    expect(parseTaskInput(inputs('字'.repeat(90_000))).problems).toHaveLength(1);
    expect(parseTaskInput(inputs('\n'.repeat(130_000))).problems).toBeUndefined();
    expect(parseTaskInput(inputs('\n'.repeat(140_000))).problems).toHaveLength(1);
  });

  it('takes only so many files', () => {
    const files = (count: number): unknown => {
      const keys = Array.from({ length: count }, (_, index) => [`${index + 1}:LoadImage.image`, { file: 'a.png' }]);
      return { webAppId: 7, inputs: Object.fromEntries(keys) as unknown };
    };
    expect(parseTaskInput(files(maxInputFiles)).problems).toBeUndefined();
    expect(parseTaskInput(files(maxInputFiles + 1)).problems).toEqual([expect.stringContaining('501 files')]);
  });

  it.each([
    ['a long text', 'x'.repeat(5_000_000)],
    ['a long list', Array.from({ length: 500_000 }, (_, index) => index)],
    ['bytes', new Uint8Array(2_000_000)],
    ['a deep one', JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)) as unknown],
    ['a field that is too deep', { webAppId: JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)) as unknown }],
    ['one that could not be decoded', new Undecodable('Unknown encoding: binary/encrypted')],
    ['nothing', undefined],
  ])('that is %s is one short problem, of a batch too', (_what, input) => {
    for (const parse of [parseTaskInput, parseBatchInput]) {
      const { problems = [] } = parse(input);
      expect(problems).toHaveLength(1);
      expect(problems[0]?.length).toBeLessThan(500);
    }
  });

  it('of thousands of unknown fields tells the first ones, and how many there are', () => {
    const fields = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`f${index}`, index]));
    const { problems = [] } = parseTaskInput({ ...inputOf(100), ...fields });
    expect(problems).toHaveLength(41);
    expect(problems.at(-1)).toContain('9960 more problems');
    expect(problems.join('\n').length).toBeLessThan(20_000);
  });

  it('shortens the names of fields that it tells', () => {
    const name = 'x'.repeat(100_000);
    const { problems = [] } = parseTaskInput({ ...inputOf(100), deadlines: { [name]: 1 }, tuning: { [name]: 1 } });
    expect(problems).toHaveLength(2);
    expect(problems.join('\n').length).toBeLessThan(1_500);
  });
});
