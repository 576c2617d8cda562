import fc from 'fast-check';
import { manifestName, outputName, safeExtension } from '../../../src/domain/archive-name';
import { isRequestId } from '../../../src/domain/request-id';

const requestIds = fc.oneof(
  fc.uuid(),
  fc.stringMatching(/^[\x21-\x7e]{1,40}$/),
  fc.constantFrom('.', '..', '...', '../up', 'a/b', 'a:b', 'a_b', 'a%3Ab', '.hidden', 'end.', '~', '*'),
);

describe('the archive’s names of a task', () => {
  it('are {requestId}/{index}{ext} and {requestId}/manifest.json for the ids that the service gives', () => {
    const requestId = '3f0c9f6e-1f0b-4e7c-8f3a-0a1b2c3d4e5f';
    expect(outputName(requestId, 0, '.png')).toBe(`${requestId}/0.png`);
    expect(outputName(requestId, 12, '')).toBe(`${requestId}/12`);
    expect(manifestName(requestId)).toBe(`${requestId}/manifest.json`);
  });

  it('have two parts, and none that leads out of the archive or hides', () => {
    fc.assert(
      fc.property(requestIds, fc.nat(), fc.string({ unit: 'binary' }), (requestId, index, ext) => {
        for (const name of [outputName(requestId, index, ext), manifestName(requestId)]) {
          const parts = name.split('/');
          expect(parts).toHaveLength(2);
          for (const part of parts) expect(part).toMatch(/^[A-Za-z0-9_%-][A-Za-z0-9_%.-]*(?<!\.)$/);
        }
      }),
    );
  });

  it('are never shared by two tasks, for an archived file that is there is taken as it is', () => {
    fc.assert(
      fc.property(requestIds, requestIds, (one, other) => {
        fc.pre(one !== other && isRequestId(one) && isRequestId(other));
        expect(outputName(one, 0, '.png')).not.toBe(outputName(other, 0, '.png'));
        expect(manifestName(one)).not.toBe(manifestName(other));
      }),
    );
  });
});

describe('safeExtension', () => {
  it.each([
    ['.png', '.png'],
    ['.PNG', '.png'],
    ['.mp4', '.mp4'],
    ['png', ''],
    ['', ''],
    ['.', ''],
    ['.tar.gz', ''],
    ['./../x', ''],
    ['.png\n', ''],
    ['.averyverylongone', ''],
  ])('keeps of %j: %j', (ext, kept) => {
    expect(safeExtension(ext)).toBe(kept);
  });
});
