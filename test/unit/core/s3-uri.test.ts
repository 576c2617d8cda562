import { isUnder, parseS3Uri, s3Uri } from '../../../src/core/uri';

describe('an s3: URI', () => {
  it.each([
    ['s3://photos/a/b c.jpg', { bucket: 'photos', key: 'a/b c.jpg' }],
    ['s3://my.photos-2/#1?.jpg', { bucket: 'my.photos-2', key: '#1?.jpg' }],
    ['s3://photos', { bucket: 'photos', key: '' }],
    ['s3://photos/', { bucket: 'photos', key: '' }],
  ])('%s is bucket and key', (text, place) => {
    expect(parseS3Uri(text)).toEqual(place);
  });

  it.each([
    ...[
      's3://',
      's3:///a',
      's3://Photos/a',
      's3://me:secret@photos/a',
      's3://-photos/a',
      'https://photos/a',
      's3:photos/a',
    ],
    ...[
      's3://photos/a//b',
      's3://photos/../b',
      's3://photos/a/.',
      's3://photos/a/',
      's3://photos/a\\b',
      's3://photos/a\nb',
    ],
  ])('%j is none', (text) => {
    expect(parseS3Uri(text)).toBeUndefined();
  });

  it('is written as it is read', () => {
    expect(s3Uri({ bucket: 'photos', key: 'a/b c.jpg' })).toBe('s3://photos/a/b c.jpg');
  });

  it.each([
    ['a/b.jpg', 'a', true],
    ['a/b.jpg', '', true],
    ['a', 'a', false],
    ['ab/c.jpg', 'a', false],
  ])('of the key %j is under %j: %j', (key, folder, expected) => {
    expect(isUnder({ bucket: 'photos', key }, { bucket: 'photos', key: folder })).toBe(expected);
    expect(isUnder({ bucket: 'films', key }, { bucket: 'photos', key: folder })).toBe(false);
  });
});
