import { exactNumber } from '../../../src/core/input-values';

describe('a text as a number', () => {
  it.each([
    ['0', 0],
    ['-0.5e3', -500],
    ['0e400', 0],
    ['9007199254740991', 9007199254740991],
    ['5e-324', 5e-324],
  ])('is one: %s', (text, value) => {
    expect(exactNumber(text)).toBe(value);
  });

  it.each(['9007199254740993', '1e400', '1e-400', '-0.1e-400', '007', '1e', '.5', '0x10', ''])(
    'stays text where it would arrive as another one, or is none: "%s"',
    (text) => {
      expect(exactNumber(text)).toBeUndefined();
    },
  );
});
