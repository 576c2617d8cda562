import fc from 'fast-check';
import { isFields, parseJson } from '../../../src/core/json';

describe('parseJson', () => {
  it('says what a JSON text says', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.stringify(parseJson(JSON.stringify(value)))).toBe(JSON.stringify(value));
      }),
    );
  });

  it.each(['', ' ', '{', '[1,]', 'undefined', "{'a':1}", '\uFEFF{}', '1 2'])('knows nothing of %j', (text) => {
    expect(parseJson(text)).toBeUndefined();
  });
});

describe('isFields', () => {
  class Inputs {
    readonly width = 512;
  }

  it.each<[string, unknown]>([
    ['an object', {}],
    ['one without a prototype', Object.assign(Object.create(null) as object, { a: 1 })],
    ['one of a class', new Inputs()],
  ])('takes %s, whose fields are what it holds', (_name, value) => {
    expect(isFields(value)).toBe(true);
  });

  it.each<[string, unknown]>([
    ['a Map', new Map([['width', 512]])],
    ['a Set', new Set(['width'])],
    ['a Date', new Date()],
    ['a URLSearchParams', new URLSearchParams('width=512')],
    ['a FormData', new FormData()],
    ['a Headers', new Headers({ width: '512' })],
    ['one that JSON writes as something else', { width: 512, toJSON: () => '512' }],
    ['a list', []],
    ['null', null],
    ['a text', 'width'],
  ])('does not take %s, of which nothing would be seen', (_name, value) => {
    expect(isFields(value)).toBe(false);
  });
});
