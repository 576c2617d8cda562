import fc from 'fast-check';
import { safeText } from '../../../src/core/text';
import { redactUrl } from '../../../src/core/uri';

describe('safeText', () => {
  it.each([
    ['a given secret', 'key k-1 is wrong', 'key [redacted] is wrong'],
    ['a bearer token', 'got Authorization: Bearer abc.def', 'got Authorization: Bearer [redacted]'],
    ['the query of a URL', 'GET https://h/p?X-Amz-Signature=1 failed', 'GET https://h/p failed'],
    ['user information in a URL', 'at http://u:p@h/x', 'at http://h/x'],
    ['line breaks and escapes', 'a\r\nb\u001b[31mc', 'a b [31mc'],
  ])('takes out %s', (_what, text, expected) => {
    expect(safeText(text, ['k-1'])).toBe(expected);
  });

  it('is bounded', () => {
    expect(safeText('x'.repeat(10_000))).toHaveLength(500);
  });

  it('never lets a secret through, wherever it stands', () => {
    const secret = fc.stringMatching(/^[A-Za-z0-9]{12,40}$/);
    fc.assert(
      fc.property(fc.string(), secret, fc.string(), (before, key, after) => {
        expect(safeText(`${before}${key}${after}`, [key])).not.toContain(key);
      }),
    );
  });
});

describe('redactUrl', () => {
  it.each([
    ['https://h:8080/a/b?sig=1#f', 'https://h:8080/a/b'],
    ['https://h/a#f?x', 'https://h/a'],
    ['https://user:pa%40ss@h/a', 'https://h/a'],
    ['/only/a/path?token=1', '/only/a/path'],
    ['https://h', 'https://h'],
  ])('shows %s as %s', (url, expected) => {
    expect(redactUrl(url)).toBe(expected);
  });
});
