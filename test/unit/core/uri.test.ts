import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { resolve } from 'node:path';
import { safeText } from '../../../src/core/text';
import { hasPassword, isDrivePath, isUri, signatureParameterOf, uriKind, withoutUrls } from '../../../src/core/uri';

describe('uriKind', () => {
  it.each([
    ['https://host/photo.png', 'http'],
    ['HTTP://host', 'http'],
    ['s3://bucket/key', 's3'],
    ['s3:bucket/key', 's3'],
    ['S3:', 's3'],
    ['ftp://host/photo.png', 'foreign'],
    ['gs://bucket/key', 'foreign'],
    ['file:///photos/cat.png', 'foreign'],
    ['file:/photos/cat.png', 'foreign'],
    ['https:photo.png', 'foreign'],
    ['https:/host/photo.png', 'foreign'],
    ['data:image/png;base64,AAAA', 'foreign'],
  ])('takes %j for a URI of the kind %s', (text, kind) => {
    expect(uriKind(text)).toBe(kind);
  });

  it.each([
    'ab:1.png',
    'ab:/1.png',
    'C:\\photos\\cat.png',
    'c://photos/cat.png',
    '/photos/s3:cat.png',
    './s3:cat.png',
    'photos/https://cat.png',
    '12:30.png',
    '://cat.png',
    's3',
    'https',
    '',
  ])('takes %j for a path', (text) => {
    expect(uriKind(text)).toBeUndefined();
    expect(isUri(text)).toBe(false);
  });

  it('takes every absolute path, and every path behind ./, for a path', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.webUrl(), fc.constantFrom('s3:a', 'file:b', 'ab:1.png')), (name) => {
        expect(isUri(resolve('/photos', name))).toBe(false);
        expect(isUri(`./${name}`)).toBe(false);
      }),
    );
  });

  it('takes every URL with an authority for a URI', () => {
    fc.assert(
      fc.property(fc.webUrl({ withFragments: true, withQueryParameters: true }), (url) => {
        expect(uriKind(url)).toBe('http');
      }),
    );
  });
});

describe('isDrivePath', () => {
  it.each(['C:\\photos\\cat.png', 'c:/photos/cat.png', 'Z:\\'])('finds a drive in %j', (text) => {
    expect(isDrivePath(text)).toBe(true);
  });

  it.each(['./C:\\cat.png', '/srv/C:\\cat.png', 'C:cat.png', 'ab:/cat.png', 's3://bucket/C:/', 'C: a letter', ''])(
    'finds none in %j',
    (text) => {
      expect(isDrivePath(text)).toBe(false);
    },
  );
});

describe('signatureParameterOf', () => {
  it.each([
    ['https://b.s3.amazonaws.com/k?X-Amz-Algorithm=a&X-Amz-Signature=1', 'X-Amz-Signature'],
    ['https://b.s3.amazonaws.com/k?x-amz-security-token=1', 'x-amz-security-token'],
    ['https://b.oss-cn-x.aliyuncs.com/k?OSSAccessKeyId=1&Expires=2&Signature=3', 'OSSAccessKeyId'],
    ['https://b/k?x-oss-signature=3', 'x-oss-signature'],
    ['https://storage.googleapis.com/b/k?X-Goog-Signature=1', 'X-Goog-Signature'],
    ['https://a.blob.core.windows.net/c/k?sv=1&sig=2', 'sig'],
    ['https://b.cos.myqcloud.com/k?q-sign-algorithm=sha1&q-signature=2', 'q-signature'],
    ['https://h/k?token=1', 'token'],
    ['https://h/k?a=1&API_KEY=1', 'API_KEY'],
    ['https://h/k?X%2DAmz%2DSignature=1', 'X-Amz-Signature'],
    ['https://b.tos-cn-x.volces.com/k?X-Tos-Signature=1', 'X-Tos-Signature'],
    ['https://h/resize?width=5&url=https%3A%2F%2Fh%2Fk%3Fwidth%3D5%26sig%3D2', 'sig'],
    ['https://h/k?a=1;sig=2', 'sig'],
    ['https://h/k#access_token=1', 'access_token'],
    ['A photo like this one? See https://h/k?sig=2 please', 'sig'],
    ['https://h/a https://h/b?sig=2', 'sig'],
    ['https://h/view?file=5d41402abc4b2a76b9719d911017c592&until=1700000000', 'file'],
    [
      'https://h/r?url=https%3A%2F%2Fh%2Fk%3Fu%3Dhttps%253A%252F%252Fi%252Fk%253Fs%253D5d41402abc4b2a76b9719d911017c592',
      'url',
    ],
  ])('finds in %s the parameter %s', (text, parameter) => {
    expect(signatureParameterOf(text)).toBe(parameter);
  });

  it.each([
    'https://h/photo.jpg',
    'https://h/photo.jpg?width=5&design=round',
    'https://h/photo.jpg?mysig=1',
    'https://h/_next/image?url=https%3A%2F%2Fcdn%2F5d41402abc4b2a76b9719d911017c592-900x600.png%3Fw%3D800&w=64&q=75',
    'https://h/image?url=%2Fmedia%2Fcat.5d41402abc4b2a76b9719d911017c592.jpg%3Fw%3D800&w=64',
    'https://b.oss-cn-x.aliyuncs.com/k.png?x-oss-process=image/watermark,text_SGVsbG8gV29ybGQgMTIzNDU2Nzg5MA,t_90',
    'https://h/view?file=5d41402abc4b2a76b9719d911017c592',
    'photo.jpg',
    'folder/what?sig.jpg',
    'Whose is it?token=lost, said the prompt',
    's3://bucket/key',
    'https://h/%E0%A4%A?x=%',
    '',
  ])('finds nothing in %j', (text) => {
    expect(signatureParameterOf(text)).toBeUndefined();
  });

  it('finds a signature wherever it stands among other parameters', () => {
    const parameter = fc.stringMatching(/^[a-f]{1,5}=[a-z0-9]{0,5}$/);
    fc.assert(
      fc.property(fc.array(parameter), fc.array(parameter), (before, after) => {
        const query = [...before, 'X-Amz-Signature=1', ...after].join('&');
        expect(signatureParameterOf(`https://h/k?${query}`)).toBe('X-Amz-Signature');
      }),
    );
  });

  const seeded = { seed: 27, numRuns: 500 };
  // As random as what signers make: numbers of a property are mostly small.
  const bytes = (outputLength: number): fc.Arbitrary<Buffer> =>
    fc.nat().map((number) => createHash('shake256', { outputLength }).update(String(number)).digest());
  const hex = (length: number): fc.Arbitrary<string> => bytes(length).map((value) => value.toString('hex'));
  const base64 = (length: number): fc.Arbitrary<string> =>
    bytes(length).map((value) => encodeURIComponent(value.toString('base64')));
  const base64Url = (length: number): fc.Arbitrary<string> => bytes(length).map((value) => value.toString('base64url'));
  const jwt = fc
    .tuple(fc.nat(), base64Url(32))
    .map(
      ([exp, mac]) =>
        `${['{"alg":"HS256"}', `{"exp":${exp}}`].map((part) => btoa(part).replace(/=/g, '')).join('.')}.${mac}`,
    );
  const moment = fc.integer({ min: 1_600_000_000, max: 2_000_000_000 });
  const expiring = (value: fc.Arbitrary<string>): fc.Arbitrary<string> =>
    fc.tuple(value, moment).map(([one, until]) => `${one}&t=${until}`);

  it.each([
    ['S3 v4, OSS v4 and TOS (a HMAC in hex)', hex(32)],
    ['COS (SHA-1 in hex)', hex(20)],
    ['Imgix and type C of CDNs (MD5 in hex)', hex(16)],
    ['type A of CDNs', fc.tuple(moment, hex(16)).map(([at, hash]) => `${at}-0-0-${hash}`)],
    ['GCS v4 (RSA in hex)', hex(256)],
    ['Azure SAS (SHA-256 in base64)', base64(32)],
    ['S3 v2 and OSS v2 (SHA-1 in base64)', expiring(base64(20))],
    ['secure_link of nginx (MD5 in base64)', expiring(base64Url(16))],
    ['CloudFront (RSA in base64 of its own)', base64Url(256).map((value) => value.replaceAll('_', '~'))],
    ['Qiniu', fc.tuple(base64Url(30), base64Url(20)).map(([key, mac]) => `${key}:${mac}`)],
    ['Akamai', fc.tuple(moment, hex(32)).map(([until, mac]) => `exp=${until}~acl=/*~hmac=${mac}`)],
    ['JWT', jwt],
  ])('finds a signature by its form, whatever its name is: %s', (_signer, signature) => {
    const names = fc.constantFrom('sign', 'jwt', 's', 'oh', 'x', 'q');
    const missed = fc
      .sample(fc.tuple(names, signature), seeded)
      .filter(([name, value]) => signatureParameterOf(`https://h/k.png?w=400&${name}=${value}&h=3`) !== name);
    // Of base64 one in 500 looks like words.
    expect(missed.length).toBeLessThanOrEqual(5);
  });

  const word = fc.constantFrom(
    'photo',
    'Cat',
    'Holiday',
    'final',
    'IMG',
    'Berlin',
    'seed',
    'v2',
    '2024',
    '00001',
    'DSC',
  );
  it.each([
    ['an id', fc.uuid().map((id) => `file=${id}`)],
    ['an id without dashes', hex(16).map((id) => `fileId=${id}`)],
    ['an id of a drive', base64Url(24).map((id) => `export=download&id=${id}`)],
    ['a version', base64Url(24).map((id) => `versionId=${id}`)],
    ['a hash of the content', hex(32).map((hash) => `v=${hash}`)],
    ['a file named by its hash', hex(32).map((hash) => `filename=${hash}.png&type=output`)],
    ['sizes', fc.tuple(fc.nat(), fc.nat()).map(([w, h]) => `width=${w}&height=${h}&fit=crop&q=85`)],
    ['a moment', moment.map((at) => `t=${at}&v=2`)],
    [
      'words',
      fc
        .tuple(fc.array(word, { minLength: 1, maxLength: 8 }), fc.constantFrom('-', '_', '+', '%20', '/', ','))
        .map(([words, between]) => `title=${words.join(between)}`),
    ],
  ])('finds nothing in a link with %s', (_what, query) => {
    fc.assert(
      fc.property(query, (text) => {
        expect(signatureParameterOf(`https://h/k.png?${text}`)).toBeUndefined();
      }),
      seeded,
    );
  });
});

describe('hasPassword', () => {
  it.each(['https://name:pass@h/k', 'https://:pass@h', 'see ftp://a:b@h/k there'])('sees it in %s', (text) => {
    expect(hasPassword(text)).toBe(true);
  });

  it.each(['https://h:8080/k@2x.png', 'https://h/a:b@c', 'ssh://git@h/k', 'a:b@c', 's3://b/k', ''])(
    'sees none in %j',
    (text) => {
      expect(hasPassword(text)).toBe(false);
    },
  );
});

describe('withoutUrls', () => {
  it.each([
    ['GET https://host:8080/a/b?sig=1#f failed', 'GET host:8080 failed'],
    ['at https://name:pass@host/a', 'at host'],
    ['"https://a/x","https://b/y"', '"a","b"'],
    ['my_https://host/a?sig=1', 'my_host'],
    ['the archive s3://user:pass@photos/a/b?X-Amz-Signature=1 is full', 'the archive s3://photos/a/b is full'],
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
  }, 60_000);
});
