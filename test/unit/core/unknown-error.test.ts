import { readFile } from 'node:fs/promises';
import { runInNewContext } from 'node:vm';
import { errorCode, errorMessage } from '../../../src/core/text';

describe('errorMessage', () => {
  it.each([
    [new RangeError('too far'), 'too far'],
    [runInNewContext('new Error("of another realm")'), 'of another realm'],
    [{ message: 'an error in all but class' }, 'an error in all but class'],
    [new Error(), ''],
    ['words', 'words'],
    [undefined, 'undefined'],
    [null, 'null'],
    [7, '7'],
    [{ message: 7 }, '[object Object]'],
  ])('of %p is %j', (thrown: unknown, message) => {
    expect(errorMessage(thrown)).toBe(message);
  });
});

describe('errorCode', () => {
  it('is the code of an error of the system', async () => {
    const error: unknown = await readFile('/no/such/file').catch((thrown: unknown) => thrown);
    expect(errorCode(error)).toBe('ENOENT');
  });

  it.each([[new Error('without')], [{ code: 7 }], ['ENOENT'], [null], [undefined]])(
    'is empty for %p',
    (thrown: unknown) => {
      expect(errorCode(thrown)).toBe('');
    },
  );
});
