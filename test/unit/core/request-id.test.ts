import { isRequestId } from '../../../src/core/create-outcome';

describe('isRequestId', () => {
  it.each(['3f0c9f6e-1f0b-4e7c-8f3a-0a1b2c3d4e5f', 'r', 'a:b.c_d', 'MTIz/+==', 'x'.repeat(200)])(
    'takes %s',
    (value) => {
      expect(isRequestId(value)).toBe(true);
    },
  );

  it.each(['', ' ', 'two words', 'line\nbreak', 'ümlaut', 'x'.repeat(201), 7, null, undefined, {}, ['r']])(
    'refuses %p',
    (value) => {
      expect(isRequestId(value)).toBe(false);
    },
  );
});
