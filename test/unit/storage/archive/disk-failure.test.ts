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
  ])('%s (%s)', (_what, code, remedy) => {
    const refused = Object.assign(new Error(`${code}: refused`), { code });
    const { message } = diskFailure(refused, { where: 'the archive /srv/archive', name: 'r/manifest.json' });
    expect(message).toBe(`the archive /srv/archive cannot keep or give r/manifest.json (${code}): ${remedy}`);
  });
});
