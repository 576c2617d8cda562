import { diskFailure } from '../../../../src/storage/archive/disk';

const forbidden = Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });

describe('an archive that this user may not read', () => {
  it('is told with a remedy that does not take it away from the workers', () => {
    const { message } = diskFailure(forbidden, { where: 'the archive /srv/archive', name: 'r/manifest.json' });
    expect(message).toBe(
      'the archive /srv/archive cannot keep or give r/manifest.json (EACCES): this user may not write or read there; run this as a user that may, or give this user the right, too (LONGHAUL_UMASK: for what Longhaul writes)',
    );
  });
});

const readOnly = Object.assign(new Error('EROFS: read-only file system'), { code: 'EROFS' });

describe('an archive on a file system that is read-only', () => {
  it('is told with the remedy, which is not another folder: that knows none of the tasks', () => {
    const { message } = diskFailure(readOnly, { where: 'the archive /srv/archive', name: 'r/manifest.json' });
    expect(message).toBe(
      'the archive /srv/archive cannot keep or give r/manifest.json (EROFS): the file system is read-only; mount it writable, or name the folder in ReadWritePaths= of its systemd unit',
    );
  });
});
