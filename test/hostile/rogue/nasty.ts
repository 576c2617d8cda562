import fc from 'fast-check';
import type { FieldChange, JsonToken } from './json-text';
import type { Framing, Pace, ReplyChange } from './wire-reply';

/** Longer than anything that fits into a history. */
const LARGE = 5 * 1024 * 1024;

/** Texts that mean something to a terminal, a log, a shell, a path, a spreadsheet, a page or a parser. */
const oddTexts = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\ufeff',
  '\u202e\u0007\u001b]8;;http://127.0.0.1:9/\u0007click',
  '\u001b[2J\u001b[31m',
  '../../../../etc/passwd',
  '/etc/passwd',
  'C:\\Windows\\system32',
  '__proto__',
  'constructor',
  'toString',
  '=cmd|"/c calc"!A1',
  '<script>alert(1)</script>',
  '[a link](http://127.0.0.1:9/)',
  'Bearer sk-rogue-0123456789',
  'GET /results/a.png?X-Amz-Signature=abcdef0123456789&Expires=1 HTTP/1.1',
  'http://127.0.0.1:9/results/a.png?X-Amz-Signature=abcdef0123456789',
  'file:///etc/passwd',
  'Success',
  'Running',
  'NOT_ERROR',
  'NaN',
  '2020-01-01 00:00:00',
  '9999-12-31 23:59:59',
  '0000-00-00 00:00:00',
  '2026-13-45 99:99:99',
  '\\'.repeat(2_000),
  ':'.repeat(2_000),
  'é'.repeat(200),
];

/** Values as no honest service gives them. */
const anyToken: fc.Arbitrary<JsonToken> = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...oddTexts).map((text) => JSON.stringify(text)) },
  { weight: 4, arbitrary: fc.json() },
  { weight: 3, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }).map((text) => JSON.stringify(text)) },
  {
    weight: 8,
    arbitrary: fc.constantFrom<JsonToken>(
      ...['null', 'true', 'false', '[]', '{}', '[null]', '[[]]', '0', '-1', '-0', '1.5', '1e999', '-1e999', '1e308'],
      ...['9007199254740993', '1'.repeat(400), '"5"', '"1e9"', '{"__proto__":{"polluted":1}}'],
      ...['{"constructor":{"prototype":{"polluted":1}}}', '{"then":1}', '"\\u0000"', '"\\ud83d"'],
      // Not JSON at all.
      ...['undefined', 'NaN', "'single'", '{', ''],
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom<JsonToken>(
      { open: '"', repeat: 'a', times: 20_000, close: '"' },
      { open: '"', repeat: '\\u0000', times: 20_000, close: '"' },
      { open: '[', repeat: '0,', times: 5_000, close: '0]' },
      { open: '[', repeat: '{},', times: 14_000, close: '{}]' },
      { nestedArrays: 2_000 },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<JsonToken>(
      { open: '"', repeat: 'a', times: LARGE, close: '"' },
      { open: '"', repeat: 'http://x/?Signature=', times: LARGE / 20, close: '"' },
      { open: '{"a":0', repeat: ',"a":1', times: LARGE / 6, close: '}' },
      { nestedArrays: 200_000 },
    ),
  },
);

/** A change of one field among these paths. */
export function anyFieldChange(paths: readonly string[]): fc.Arbitrary<FieldChange> {
  return fc
    .record(
      { path: fc.constantFrom(...paths), token: anyToken, twice: fc.constant(true as const) },
      { requiredKeys: ['path', 'token'] },
    )
    .filter(({ path }) => path !== '');
}

const statuses = fc.oneof(
  fc.constantFrom(200, 202, 204, 205, 206, 300, 301, 302, 304, 307, 400, 401, 402, 403, 404, 408, 409, 410, 418),
  fc.constantFrom(425, 429, 451, 500, 501, 502, 503, 504, 511, 599),
  fc.integer({ min: 100, max: 999 }),
);
const headers: fc.Arbitrary<(readonly [string, string])[]> = fc.array(
  fc.oneof(
    fc.constantFrom<(readonly [string, string])[]>(
      ['Location', 'http://127.0.0.1:9/'],
      ['Location', '/w/v1/webapp/task/openapi/detail'],
      ['Content-Type', 'text/html; charset=utf-16'],
      ['Content-Encoding', 'br'],
      ['Content-Encoding', 'zstd, gzip'],
      ['Transfer-Encoding', 'chunked'],
      ['Transfer-Encoding', 'identity'],
      ['Connection', 'upgrade'],
      ['Upgrade', 'websocket'],
      ['Trailer', 'X-After'],
      ['Keep-Alive', 'timeout=0, max=0'],
      ['Set-Cookie', 'a=b'],
      ['Date', 'Mon, 01 Jan 1970 00:00:00 GMT'],
      ['X-Null', 'a\u0000b'],
      ['X Space', 'in the name'],
      ['X-Long', 'a'.repeat(9_000)],
    ),
    fc
      .oneof(
        fc.constantFrom('0', '1', '-5', '1e9', 'soon', '99999999999999999999', 'Wed, 21 Oct 2099 07:28:00 GMT'),
        fc.string({ unit: 'grapheme-ascii', maxLength: 20 }),
      )
      .map((value) => ['Retry-After', value] as const),
  ),
  { minLength: 1, maxLength: 3 },
);
const bodies: fc.Arbitrary<NonNullable<ReplyChange['body']>> = fc.oneof(
  { weight: 4, arbitrary: anyToken },
  { weight: 2, arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => ({ base64: toBase64(bytes) })) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '<html><body>502 Bad Gateway</body></html>',
      '\ufeff{"code":20000}',
      '{"code":20000}{"code":20000}',
      '{"requestId":"r1"',
    ),
  },
);
const framings = fc.constantFrom<Framing[]>(
  ...(['chunked', 'close', 'length too long', 'length too short', 'length negative', 'two lengths', 'none'] as const),
);

/** Only a time limit ends the slow ones; `slow` is their share, of 10 others. */
function paces(slow: number, endless: readonly Pace[]): fc.Arbitrary<Pace> {
  const quick: Pace[] = ['at once', 'cut before head', 'cut after head', 'cut in body', 'interim flood'];
  const slowOnes: Pace[] = ['silence', 'head only', 'half', 'trickle', ...endless];
  return fc.oneof(
    { weight: 10, arbitrary: fc.constantFrom(...quick) },
    { weight: slow, arbitrary: fc.constantFrom(...slowOnes) },
  );
}

/** Whole replies go wrong in all these ways, several at once perhaps. */
export function anyReplyChange(paths: readonly string[], slow: number): fc.Arbitrary<ReplyChange> {
  const fields = fc.array(anyFieldChange(paths), { minLength: 1, maxLength: 4 });
  const one: fc.Arbitrary<ReplyChange> = fc.oneof(
    { weight: 10, arbitrary: fields.map((each) => ({ fields: each })) },
    { weight: 3, arbitrary: statuses.map((status) => ({ status })) },
    { weight: 2, arbitrary: headers.map((each) => ({ headers: each })) },
    { weight: 1, arbitrary: fc.constantFrom(50, 150, 2_000).map((headerFlood) => ({ headerFlood })) },
    { weight: 2, arbitrary: bodies.map((body) => ({ body })) },
    { weight: 2, arbitrary: fc.nat({ max: 200 }).map((truncateAt) => ({ truncateAt })) },
    { weight: 2, arbitrary: framings.map((framing) => ({ framing })) },
    { weight: 2, arbitrary: paces(slow, ['endless']).map((pace) => ({ pace })) },
    { weight: 1, arbitrary: fc.constantFrom<(true | number)[]>(true, 1, 200).map((gzip) => ({ gzip })) },
  );
  return fc.oneof(
    { weight: 3, arbitrary: one },
    { weight: 1, arbitrary: fc.tuple(one, one).map(([first, second]) => ({ ...first, ...second })) },
  );
}

/**
 * A transfer of a file goes wrong in ways that can be told from the file: one that is cut off and sent as if it were
 * whole cannot. An endless one would fill the disk that the tests run on.
 */
export const anyTransferChange: fc.Arbitrary<ReplyChange> = fc.oneof(
  { weight: 3, arbitrary: statuses.filter((status) => status !== 200).map((status) => ({ status })) },
  { weight: 2, arbitrary: headers.map((each) => ({ headers: each })) },
  { weight: 1, arbitrary: fc.constantFrom(50, 2_000).map((headerFlood) => ({ headerFlood })) },
  {
    weight: 2,
    arbitrary: framings.filter((framing) => framing !== 'length too short').map((framing) => ({ framing })),
  },
  { weight: 4, arbitrary: paces(1, []).map((pace) => ({ pace })) },
);

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
