import fc from 'fast-check';
import { hasPassword, signatureParameterOf } from '../../../src/domain/signed-url';

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
    ['https://h/k?X%2DAmz%2DSignature=1', 'X%2DAmz%2DSignature'],
    ['https://h/k?a=1;sig=2', 'sig'],
    ['https://h/k#access_token=1', 'access_token'],
    ['A photo like this one? See https://h/k?sig=2 please', 'sig'],
    ['https://h/a https://h/b?sig=2', 'sig'],
  ])('finds in %s the parameter %s', (text, parameter) => {
    expect(signatureParameterOf(text)).toBe(parameter);
  });

  it.each([
    'https://h/photo.jpg',
    'https://h/photo.jpg?width=5&design=round',
    'https://h/photo.jpg?mysig=1',
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

  it('never throws', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(() => signatureParameterOf(`https://h/?${text}`)).not.toThrow();
      }),
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
