import { Readable } from 'node:stream';
import { parseRequestIds, readRequestIds, sinceMs } from '../../../src/commands/reconcile-options';

describe('a list of request ids', () => {
  it.each<[string, string, readonly string[]]>([
    ['one a line', 'r-1\nr-2\n', ['r-1', 'r-2']],
    ['lines of another system', '\uFEFF  r-1 \r\n\r\nr-2', ['r-1', 'r-2']],
    ['JSON Lines', '{"requestId":"r-1","status":"Running"}\n{"request_id":"r-2"}\n', ['r-1', 'r-2']],
    ['CSV', 'created,requestId\n2026-03-01,r-1\n"1 March, noon",r-2\n', ['r-1', 'r-2']],
    ['CSV with semicolons', '\uFEFFrequest_id ; status\r\nr-1;Running\r\n', ['r-1']],
    ['tabs', 'status\trequestId\nRunning\tr-1\n', ['r-1']],
    ['nothing', '\n', []],
  ])('is read from %s', (_, text, requestIds) => {
    expect(parseRequestIds(text)).toEqual({ requestIds, problems: [] });
  });

  it.each<[string, string, RegExp]>([
    ['words', 'r-1\nnot an id\n', /^Line 2: "not an id" is not a request id; give one a line/],
    [
      'a line that is no JSON',
      '{"requestId":"r-1"}\n{"requestId":\n',
      /^Line 2 has no request id; give a field "requestId"/,
    ],
    ['an object without one', '{"requestId":"r-1"}\n{"id":"r-2"}\n', /^Line 2 has no request id/],
    ['a number', '{"requestId":7}\n', /^Line 1: 7 is not a request id/],
    ['an empty cell', 'requestId,status\nr-1,Running\n,Running\n', /^Line 3 has no request id/],
    [
      'a row that is too long',
      'requestId,status\nr-1,Running,again\n',
      /^It begins like CSV and cannot be read as such/,
    ],
    ['binary', '\u0000\u0001\u0002', /^Line 1: "\\u0000\\u0001\\u0002" is not a request id/],
  ])('is refused with its line: %s', (_, text, problem) => {
    expect(parseRequestIds(text).problems).toEqual([expect.stringMatching(problem)]);
  });

  it('is read from standard input for "-", which is named where it is wrong', async () => {
    const from = (text: string) => readRequestIds('-', { cwd: '/', stdin: () => Readable.from([text]) });

    await expect(from('r-1\nr-2\n')).resolves.toEqual(['r-1', 'r-2']);
    const problems = [expect.stringMatching(/^--from "-": Line 2: /)];
    await expect(from('r-1\nnot an id\n')).rejects.toMatchObject({ name: 'InputInvalidError', problems });
  });

  it('that is something else altogether gets some complaints, not a million', () => {
    const { problems } = parseRequestIds('not an id\n'.repeat(5_000));
    expect(problems).toHaveLength(10);
    expect(problems.at(-1)).toBe('And 4991 more lines.');
  });
});

describe('the moment from which something is compared or summed', () => {
  it.each(['2026-02-31', '2026-02-29', '2026-04-31T10:00Z', '2026-03-01(x)', '2026-03-011'])(
    'is no day that there is not: %s',
    (text) => {
      expect(() => sinceMs(text, 0)).toThrow(
        `--since is "${text}"; give a duration such as "30d", or a date such as "2026-03-01".`,
      );
    },
  );

  it.each([
    ['2026-03-01', '2026-03-01T00:00:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['2026-03-01T10:00Z', '2026-03-01T10:00:00.000Z'],
    ['2026-03-01 10:00+02:00', '2026-03-01T08:00:00.000Z'],
    ['30d', '2026-03-02T00:00:00.000Z'],
  ])('is %s: %s', (text, moment) => {
    expect(new Date(sinceMs(text, Date.parse('2026-04-01'))).toISOString()).toBe(moment);
  });
});
