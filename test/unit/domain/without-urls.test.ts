import fc from 'fast-check';
import { safeText } from '../../../src/domain/safe-text';
import { withoutUrls } from '../../../src/domain/without-urls';

describe('withoutUrls', () => {
  it.each([
    ['GET https://host:8080/a/b?sig=1#f failed', 'GET host:8080 failed'],
    ['at https://name:pass@host/a', 'at host'],
    ['"https://a/x","https://b/y"', '"a","b"'],
    ['my_https://host/a?sig=1', 'my_host'],
    ['no address, just 1:2', 'no address, just 1:2'],
  ])('shows %s as %s', (text, shown) => {
    expect(withoutUrls(text)).toBe(shown);
  });
});

describe('a signature in a link', () => {
  const signed = 'https://host/path?X-Amz-Signature=s3cret';

  it.each([
    ['withoutUrls', withoutUrls],
    ['safeText', (text: string) => safeText(text)],
  ])('is taken out by %s, whatever stands before the link', (_name, clean) => {
    const before = fc.oneof(fc.string(), fc.stringMatching(/^\w{0,60}$/), fc.constant('url_'));
    fc.assert(
      fc.property(before, (text) => {
        expect(clean(`${text}${signed}`)).not.toContain('s3cret');
      }),
    );
  });

  it('takes no time to speak of to look for in a long text', () => {
    for (const text of ['a'.repeat(200_000), 'a:/'.repeat(100_000), 'https://'.repeat(30_000)]) {
      expect(withoutUrls(text).length).toBeLessThanOrEqual(text.length);
      expect(safeText(text).length).toBeLessThanOrEqual(500);
    }
  }, 10_000);
});
