import fc from 'fast-check';
import { parseJson } from '../../../src/domain/json';

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
