import { diskFailure } from '../../../../src/storage/archive/disk';

describe('a folder archive that the system refuses', () => {
  it.each([
    [
      'is described with a remedy that does not take it away from the workers',
      'EACCES',
      'this user may not write or read there; run this as a user that may, or give this user the right, too (LONGHAUL_UMASK: for what Longhaul writes)',
    ],
    [
      'is described with the remedy, which is not another folder: that knows none of the tasks',
      'EROFS',
      'the file system is read-only; mount it writable, or name the folder in ReadWritePaths= of its systemd unit',
    ],
    [
      'is described as too long a name',
      'ENAMETOOLONG',
      'a name or its whole path is longer than the file system takes; use a folder with a shorter path, on a disk that takes names of 143 bytes',
    ],
    [
      'is described as one that cannot flush',
      'EINVAL',
      'the file system does not flush what is written, so that a power failure could lose it; use a folder on another one',
    ],
  ])('%s (%s)', (_what, code, remedy) => {
    const syscall = code === 'EINVAL' ? 'fsync' : 'open';
    const refused = Object.assign(new Error(`${code}: refused`), { code, syscall });
    const { message } = diskFailure(refused, { where: 'the archive /srv/archive', name: 'r/manifest.json' });
    expect(message).toBe(`the archive /srv/archive cannot keep or give r/manifest.json (${code}): ${remedy}`);
  });
});
