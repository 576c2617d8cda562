import fc from 'fast-check';
import {
  boundedPathPart,
  fittedName,
  manifestName,
  outputName,
  pathPart,
  safeExtension,
} from '../../../src/core/archive-name';
import { isRequestId } from '../../../src/core/create-outcome';

const requestIds = fc.oneof(
  fc.uuid(),
  fc.stringMatching(/^[\x21-\x7e]{1,200}$/),
  fc.stringMatching(/^[%/:;]{80,200}$/),
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
          for (const part of parts) {
            expect(part).toMatch(/^[A-Za-z0-9_%-][A-Za-z0-9_%.~-]*(?<!\.)$/);
            expect(part.length).toBeLessThanOrEqual(143);
          }
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

describe('a part that is too long', () => {
  it('is cut and ends in a hash; one that fits stays as it is', () => {
    const long = '/'.repeat(200);
    expect(boundedPathPart(long)).toMatch(/^(%2F)+%?2?~[0-9a-f]{16}$/);
    expect(boundedPathPart(long)).toHaveLength(143);
    expect(boundedPathPart('/'.repeat(47))).toBe(pathPart('/'.repeat(47)));
  });

  it('keeps apart what differs only at its end', () => {
    expect(boundedPathPart(`${'/'.repeat(199)}a`)).not.toBe(boundedPathPart(`${'/'.repeat(199)}b`));
  });
});

describe('a name that is fitted into an archive', () => {
  const parts = fc.stringMatching(/^[\p{L}\p{N}_-]{1,400}$/u);
  const names = fc.array(parts, { minLength: 1, maxLength: 30 }).map((all) => `${all.join('/')}/0.png`);

  it('has no part above 143 bytes and no more bytes than the archive takes', () => {
    fc.assert(
      fc.property(names, fc.integer({ min: 300, max: 4_000 }), (name, maxBytes) => {
        const fitted = fittedName(name, maxBytes);
        expect(Buffer.byteLength(fitted)).toBeLessThanOrEqual(maxBytes);
        for (const part of fitted.split('/')) {
          expect(part).not.toBe('');
          expect(Buffer.byteLength(part)).toBeLessThanOrEqual(143);
        }
        expect(fittedName(fitted, maxBytes)).toBe(fitted);
      }),
    );
  });

  it('is the same every time, stands for one name alone, and stays beside those of its folder', () => {
    fc.assert(
      fc.property(names, names, fc.integer({ min: 300, max: 2_000 }), (one, other, maxBytes) => {
        fc.pre(one !== other);
        expect(fittedName(one, maxBytes)).toBe(fittedName(one, maxBytes));
        expect(fittedName(one, maxBytes)).not.toBe(fittedName(other, maxBytes));
        const beside = fittedName(one.replace(/0\.png$/, 'manifest.json'), maxBytes);
        expect(beside.split('/').slice(0, -1).length).toBeGreaterThan(0);
      }),
    );
  });

  it.each(['.png', '.manifest.json', 'manifest.json'])('keeps what tells the type of a file: %s', (end) => {
    expect(fittedName(`r/${'山'.repeat(60)}${end}`, 1_000)).toMatch(
      new RegExp(`^r/山+~[0-9a-f]{16}${end.slice(-13)}$`),
    );
  });

  it('stays as it is where it fits', () => {
    expect(fittedName('campaign-7/r-1/0.png', 100)).toBe('campaign-7/r-1/0.png');
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
    ['/../../etc/passwd', ''],
    ['.pñg', ''],
    ['.\u202Egnp', ''],
    [`.${'g'.repeat(10_000)}`, ''],
  ])('keeps of %j: %j', (ext, kept) => {
    expect(safeExtension(ext)).toBe(kept);
  });
});
