import fc from 'fast-check';
import { parseS3Uri, s3Uri } from '../../../src/domain/uri';
import { stagedKey } from '../../../src/storage/staging';

const sha256 = 'ab'.repeat(32);

describe('the key of a staged file', () => {
  it.each([
    ['team/staging', '/home/ada/my photo.jpg', `team/staging/${sha256}/my photo.jpg`],
    ['', '/photo.jpg', `${sha256}/photo.jpg`],
    ['s', '/a/b\\c?#\u0007\u202e.png', `s/${sha256}/b_c____.png`],
    ['s', `/${'n'.repeat(200)}.jpeg`, `s/${sha256}/${'n'.repeat(100)}.jpeg`],
  ])('in %j of %j is %s', (prefix, path, key) => {
    expect(stagedKey(prefix, sha256, path)).toBe(key);
  });

  it('is one that a worker can read, whatever the file is called', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 255 }), (name) => {
        const key = stagedKey('staging', sha256, `/photos/${name.replaceAll('/', '')}x`);
        expect(parseS3Uri(s3Uri({ bucket: 'photos', key }))).toEqual({ bucket: 'photos', key });
        expect(Buffer.byteLength(key)).toBeLessThan(1_000);
      }),
    );
  });
});
