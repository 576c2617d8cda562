import fc from 'fast-check';
import { isRequestId } from '../../../src/core/create-outcome';
import { knownSecrets, redact, redactJson } from '../../../src/core/redact';
import { boundedText, safeText, showValue } from '../../../src/core/text';
import { hasPassword, redactUrl, signatureParameterOf, withoutUrls } from '../../../src/core/uri';
import { parseRetryAfter } from '../../../src/service/exchange';
import { scrubLine } from '../../../src/worker/logger';

const key = 'sk/known"secret\\of=this+process';

beforeAll(() => {
  knownSecrets.add(key);
});

describe('redact', () => {
  it.each<[string, string]>([
    ['as it is', `refused ${key}!`],
    ['as JSON writes it', JSON.stringify({ echo: key })],
    ['as JSON in JSON writes it', JSON.stringify(JSON.stringify({ echo: key }))],
    ['percent-encoded', `echo=${encodeURIComponent(key)}`],
    ['percent-encoded in small letters, twice', encodeURIComponent(encodeURIComponent(key)).toLowerCase()],
    ['each byte percent-encoded', [...Buffer.from(key)].map((byte) => `%${byte.toString(16)}`).join('')],
    ['in JSON escapes of each character', Array.from(key, (one) => `\\u00${one.charCodeAt(0).toString(16)}`).join('')],
    ['in HTML escapes of each character', Array.from(key, (one) => `&#${one.charCodeAt(0)};`).join('')],
  ])('takes a secret of this process out, %s', (_how, text) => {
    expect(redact(text)).toMatch(/\[redacted\]/);
    expect(redact(text)).not.toMatch(/known|%73|\\u0073|&#107/i);
  });

  it.each([0, 1, 2, 3, 4, 5])('takes a secret out of base64 in which it begins at byte %i', (bytesBefore) => {
    for (const after of ['', '!', '!!']) {
      const bytes = Buffer.from(`${'ÿ?>x~}'.slice(0, bytesBefore)}${key}${after}`, 'latin1');
      for (const coding of ['base64', 'base64url'] as const) {
        const shown = redact(`the header was ${bytes.toString(coding)}.`);
        expect(shown).toMatch(/^the header was .{0,8}\[redacted\].{0,8}\.$/);
        const rest = shown.replace(/^the header was |\[redacted\]|\.$/g, '');
        expect(Buffer.from(rest, 'base64').toString('latin1')).not.toMatch(/known|secret|process/);
      }
    }
  });

  it.each<[string, string]>([
    ['a signed link', 'https://h/a.png?X-Amz-Signature=s3cret'],
    ['a signed link of unknown parameters', 'https://h/a.png?e=1&s=s3cret'],
    ['a link with a password', 'https://name:s3cret@h/a.png'],
    ['a link without a scheme', 'GET /results/a.png?Expires=1&Signature=s3cret'],
    ['a link without a scheme, of unknown parameters', 'at h/results/a.png?expires=1790000000&s=s3cret'],
    ['a percent-encoded link', 'to=https%3A%2F%2Fh%2Fa.png%3Fx-oss-signature%3Ds3cret'],
    ['a link in JSON', '{"url":"https:\\/\\/h\\/a.png?Signature=s3cret"}'],
    ['a link in JSON escapes', 'https:\\u002f\\u002fh\\u002fa.png\\u003fSignature\\u003ds3cret'],
    ['a link in HTML', '<a href="/a.png?e=1&amp;Signature=s3cret">'],
    ['a bearer line', 'Authorization: Bearer s3cret'],
    ['a percent-encoded bearer line', 'Authorization%3A%20Bearer%20s3cret'],
    ['a field of a credential', '{"access_key_secret": "s3cret"}'],
    ['a field of a credential in JSON in JSON', JSON.stringify(JSON.stringify({ password: 's3cret' }))],
    ['a header of several values', '"authorization":["s3cret"]'],
    ['a header of AWS', 'AWS4-HMAC-SHA256 Credential=s3cret/2026/r/s3, SignedHeaders=host, Signature=s3cret'],
  ])('takes out the secret of %s that it does not know', (_what, text) => {
    expect(redact(text)).not.toContain('s3cret');
  });

  it.each([
    'The node 2:ImageScale.width is 100%, or 50%25.',
    'https://h/a/b.png',
    'Is it a photo? width=5',
    'C:\\photos\\new',
    '{"status":"Failed","tokens":3}',
  ])('leaves %j as it is', (text) => {
    expect(redact(text)).toBe(text);
  });

  it('knows the last 192 temporary credentials, and every lasting secret for good', () => {
    knownSecrets.addTemporary('the-first-credential');
    for (let number = 0; number < 192; number += 1) knownSecrets.addTemporary(`credential-number-${number}`);

    expect(redact('the-first-credential credential-number-0')).toBe('the-first-credential [redacted]');
    expect(redact(key)).toBe('[redacted]');
  });

  it('finds every secret of hundreds, wherever it stands and whatever is around it', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '\u{1f600}'), minLength: 4, maxLength: 9 });
    const pieces = fc.array(fc.tuple(fc.nat(), fc.string({ unit: fc.constantFrom('a', 'b', '-'), maxLength: 3 })));
    fc.assert(
      fc.property(fc.uniqueArray(letters, { minLength: 1, maxLength: 60 }), pieces, (values, places) => {
        knownSecrets.addTemporary(...values);
        const text = places.map(([place, between]) => `${between}${values[place % values.length] ?? ''}`).join('');
        const shown = redact(text);
        expect(values.filter((value) => shown.includes(value))).toEqual([]);
        expect(places.length === 0 || shown.includes('[redacted]')).toBe(true);
      }),
    );
  });

  it('takes a secret out of the end of a text that was cut in the middle of it', () => {
    const text = fc.record({ before: fc.nat(30_000), copies: fc.integer({ min: 1, max: 2_000 }) });
    fc.assert(
      fc.property(text, ({ before, copies }) => {
        const shown = safeText('x '.repeat(before) + key.repeat(copies), [], 200);
        expect(shown).not.toMatch(/sk\//);
        expect(shown.length).toBeLessThanOrEqual(200);
      }),
    );
  });
});

describe('a request id', () => {
  it('that holds a secret is none: it would be shown everywhere', () => {
    expect(isRequestId('1b7c-r')).toBe(true);
    expect([key, `id-${key}`, encodeURIComponent(key), 'h/a?Signature=abc'].filter(isRequestId)).toEqual([]);
  });
});

describe('text from outside', () => {
  it('is well-formed and printable, whatever it was', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(40), (text, length) => {
        const shown = [safeText(`\ud800${text}\u0000`, [], length + 1), boundedText(`${text}\udc00\u0000`, length + 1)];
        expect(shown.join('')).not.toMatch(/(?!\n|\t)[\p{Cc}\p{Cs}]/u);
        expect(Math.max(...shown.map((one) => one.length))).toBeLessThanOrEqual(length + 1);
      }),
    );
  });
});

/** Texts that drive an expression into one attempt for each of their characters. */
const hostile = [
  ...['\\', '\\"', 'a', 'a:/', ':', '-', ' ', '\n', '/', '?', '/?', '=', '&', ';', '"', '[', '\ud800', '\u200b'],
  ...[
    'https://',
    'a://:',
    'a://@',
    'Bearer ',
    'bearer',
    'token=',
    'Signature=&',
    '%41',
    '%',
    '&amp;',
    '&#1',
    '\\u0041',
  ],
  ...['"password":[', '"password":"', '\\"password\\":\\"', '"password"', '"password" ', 'x-amz-', '[redacted]'],
];
const functions: Readonly<Record<string, (text: string) => unknown>> = {
  redact: (text) => redact(text),
  safeText: (text) => safeText(text),
  withoutUrls,
  redactUrl,
  showValue,
  hasPassword,
  signatureParameterOf,
  isRequestId,
  scrubLine: (text) => scrubLine(JSON.stringify({ msg: text })),
  parseRetryAfter: (text) => parseRetryAfter(text, text),
};

describe('the time for a text', () => {
  const length = 200_000;

  it.each(Object.entries(functions))('that %s needs grows with its length only', (_name, work) => {
    for (const unit of hostile) {
      const text = `"password x://${unit.repeat(length / unit.length)}`;
      const startedAtMs = performance.now();
      work(text);
      // A linear expression needs some milliseconds for it, a quadratic one minutes.
      const isSlow = performance.now() - startedAtMs > 10_000;
      expect({ unit, isSlow }).toEqual({ unit, isSlow: false });
    }
  });
});

describe('redactJson', () => {
  it('redacts every text, every name and every field of a credential, however deep', () => {
    const value = {
      a: [{ [`name ${key}`]: `text ${key}` }],
      Authorization: 'abc',
      access_key_secret: ['abc'],
      n: 5,
      no: null,
    };
    expect(redactJson(value)).toEqual({
      a: [{ 'name [redacted]': 'text [redacted]' }],
      ...{ Authorization: '[redacted]', access_key_secret: '[redacted]', n: 5, no: null },
    });
  });

  it('ends at what is nested too deep for JSON', () => {
    const deep: unknown = JSON.parse(`${'['.repeat(200_000)}${']'.repeat(200_000)}`);
    expect(JSON.stringify(redactJson(deep))).toContain('nested too deep');
  });
});
