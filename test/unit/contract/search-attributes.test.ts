import { maxTags, tagProblems } from '../../../src/contract/search-attributes';

describe('the tags of a task', () => {
  it.each(['a', 'customer:42', 'env=prod', 'x/y.z_1+2@h-3', 'a'.repeat(64)])('may be %j', (tag) => {
    expect(tagProblems([tag])).toEqual([]);
  });

  it.each([
    ['empty', ''],
    ['too long', 'a'.repeat(65)],
    ['two words', 'two words'],
    ['a quote', 'a"b'],
    ['a control character', 'a\nb'],
    ['a beginning that is no letter', '-a'],
    ['another alphabet', 'Größe'],
    ['a number', 7],
    ['a credential', 'token=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abcdefghijkl'],
  ])('may not be %s', (_name, tag) => {
    expect(tagProblems(['good', tag])).toEqual([expect.stringMatching(/^tags\[1\] is .*; give 1 to 64 letters/)]);
  });

  it('are a list, of so many at most', () => {
    expect(tagProblems('spring')).toEqual(['tags is "spring"; give a list of texts.']);
    expect(tagProblems(Array.from({ length: maxTags }, (_, index) => `t${index}`))).toEqual([]);
    expect(tagProblems(Array.from({ length: maxTags + 1 }, () => 't'))).toEqual([
      `tags has ${maxTags + 1} entries; a task takes at most ${maxTags}.`,
    ]);
  });
});
