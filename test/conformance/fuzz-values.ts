import fc from 'fast-check';
import { ENDPOINTS } from './plain-http';
import { sampleFile } from './sample-files';

/** Names that a service could trip over as names of fields, parameters and values. */
const odd = fc.constantFrom(
  '',
  ' ',
  '__proto__',
  'constructor',
  'toString',
  '1:',
  ':',
  '.',
  '..',
  '%',
  '\u0000',
  '💥',
  '\ud800',
);
const anyText = fc.oneof(fc.string(), fc.string({ unit: 'binary', maxLength: 300 }), odd);
const anyJson = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc.constantFrom(null, -1, 0, 1e308, 2 ** 53, '5', true),
  anyText,
);
const inputKey = fc.oneof(
  fc.constantFrom(
    '1:LoadImage.image',
    '2:ImageScale.width',
    '2:Wait.seconds',
    '1:EmptyImage.color',
    '2:LayerColor: Levels.x',
  ),
  fc.tuple(anyText, anyText, anyText).map(([id, name, parameter]) => `${id}:${name}.${parameter}`),
  anyText,
);

/** A body of create that comes close to a right one. */
export const createBody = fc.record(
  {
    web_app_id: fc.oneof(fc.integer({ min: 0, max: 12 }), anyJson),
    suppress_preview_output: fc.oneof(fc.boolean(), anyJson),
    input_values: fc.oneof(fc.dictionary(inputKey, fc.oneof(anyText, fc.double(), fc.integer(), anyJson)), anyJson),
  },
  { requiredKeys: [] },
);
/** A body of commit that comes close to a right one. */
export const commitBody = fc.record(
  {
    name: fc.oneof(anyText, fc.constant('photo.png'), anyJson),
    object_key: fc.oneof(anyText, fc.constantFrom('inputs/2026-01-01/a.png', '../../etc/passwd', 'inputs/'), anyJson),
  },
  { requiredKeys: [] },
);

/** A body as text: whole, cut off, nested deep, or not JSON at all. */
export function bodyText(body: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 6, arbitrary: body.map((value) => JSON.stringify(value)) },
    fc.tuple(body, fc.nat()).map(([value, cut]) => JSON.stringify(value).slice(0, cut)),
    anyJson.map((value) => JSON.stringify(value)),
    anyText,
    fc.nat({ max: 20_000 }).map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
    fc.constantFrom('{"__proto__":{"a":1}}', '{"constructor":{"prototype":{"a":1}}}', '\ufeff{}', 'null', '"a"'),
  );
}

const printable = fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)) });
/** A header that means something to the service, or may be taken for one. */
export const headerName = fc.oneof(
  fc.constantFrom('X-Svc-Task-WebHook-Url', 'X-Svc-Task-Authorization', 'X-Reference-Scenario'),
  fc.constantFrom(
    'X-Svc-Task-',
    'X-Svc-Task-__proto__',
    'X-Svc-Task-Content-Type',
    'Accept',
    'Content-Encoding',
    'Cookie',
  ),
  fc.stringMatching(/^X-Svc-Task-[A-Za-z0-9-]{1,40}$/),
);
export const headerValue = fc.oneof(
  printable,
  fc.constantFrom(
    'enable',
    'disable',
    'http://127.0.0.1:9/',
    'javascript:1',
    'hold;ms=',
    'fail;message',
    'create:stall;ms=1',
    'gzip',
  ),
);
/** Parameters of a query, right, wrong and repeated. */
export const query = fc.array(
  fc.tuple(
    fc.oneof(
      fc.constantFrom('requestId', 'current', 'page_size', 'ext', 'object_key', 'file_name', 'file_type'),
      anyText,
    ),
    fc.oneof(anyText, fc.constantFrom('0', '1', '-1', '1e9', '9007199254740993', 'NaN', 'inputs', 'photo.png', '.png')),
  ),
  { maxLength: 6 },
);

/** The head of a picture, and then anything. */
export function pictureWithOddBytes(): fc.Arbitrary<Uint8Array> {
  const { bytes } = sampleFile('image');
  return fc
    .tuple(fc.nat({ max: bytes.length }), fc.uint8Array({ maxLength: 500 }))
    .map(([kept, rest]) => Buffer.concat([bytes.subarray(0, kept), rest]));
}

/** An answer that only looks like one. */
export function anyHttpAnswer(): fc.Arbitrary<string> {
  const header = fc.oneof(
    fc.constantFrom('Content-Length: 99', 'Location: /', 'Transfer-Encoding: chunked'),
    printable,
  );
  return fc
    .tuple(fc.integer({ min: 100, max: 999 }), fc.array(header, { maxLength: 3 }), printable)
    .map(([status, headers, content]) => [`HTTP/1.1 ${status} Odd`, ...headers, '', content].join('\r\n'));
}

/** Bytes on a connection, from no HTTP at all to requests with one thing wrong. */
export function rawRequest(): fc.Arbitrary<Buffer> {
  const head = `POST ${ENDPOINTS.create.path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n`;
  return fc.oneof(
    fc.uint8Array({ maxLength: 500 }).map((bytes) => Buffer.from(bytes)),
    fc
      .uint8Array({ maxLength: 200 })
      .map((bytes) => Buffer.concat([Buffer.from(head), bytes, Buffer.from('\r\n\r\n')])),
    fc
      .constantFrom(
        'Content-Length: -1',
        'Content-Length: 5, 6',
        'Transfer-Encoding: rubbish',
        'X: \u0000',
        `X: ${'a'.repeat(40_000)}`,
      )
      .map((line) => Buffer.from(`${head}${line}\r\n\r\n`)),
    fc
      .constantFrom('zz\r\n', '-1\r\n', 'ffffffffffffffffff\r\n')
      .map((chunk) => Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\n${chunk}`)),
  );
}
