import { diskFailure } from '../../../../src/storage/archive/disk';

describe('a folder archive that the system refuses', () => {
  it.each([
    ['EACCES', /this user may not write or read there.*LONGHAUL_UMASK/],
    // Not another folder: that knows none of the tasks.
    ['EROFS', /read-only; mount it writable, or .*ReadWritePaths=/],
    ['ENAMETOOLONG', /a shorter path, on a disk that takes names of 143 bytes/],
    ['EINVAL', /does not flush what is written/],
  ])('is told with the remedy: %s', (code, remedy) => {
    const syscall = code === 'EINVAL' ? 'fsync' : 'open';
    const refused = Object.assign(new Error(`${code}: refused`), { code, syscall });
    const failure = diskFailure(refused, { where: 'the archive /srv/archive', name: 'r/manifest.json' });
    expect(failure).toMatchObject({ code: 'ARCHIVE_UNUSABLE', message: expect.stringMatching(remedy) as string });
  });
});
