import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { temporaryFolder } from '../../../support/temporary-folder';

const folder = temporaryFolder();
afterAll(() => {
  folder.remove();
});

const mebibyte = 1024 * 1024;

/**
 * Puts a file of 4 MiB into an archive, in a process that the kernel lets write so many bytes into a file, as a disk or
 * a quota with no more room would.
 */
function fill(kind: 'folder' | 's3', limitBytes: number): unknown {
  const path = join(folder.path, `${kind}-${limitBytes}`);
  const program = [
    '--import',
    'tsx',
    join(__dirname, '../../../support/fill-archive.ts'),
    kind,
    path,
    String(4 * mebibyte),
  ];
  const stdout = execFileSync('prlimit', [`--fsize=${limitBytes}:`, process.execPath, ...program], {
    // A file on its way into a bucket waits in the temporary folder.
    env: { ...process.env, TMPDIR: path, TSX_DISABLE_CACHE: '1' },
    encoding: 'utf8',
  });
  return JSON.parse(stdout);
}

describe('a disk without room', () => {
  it('under the archive is told in words, and nothing is left on it', () => {
    expect(fill('folder', mebibyte)).toEqual({
      code: 'ARCHIVE_FULL',
      message: expect.stringMatching(
        /^the archive .* has no space left for r\/0\.mp4 \(EFBIG\); make room on its disk$/,
      ) as string,
      files: [],
    });
  });

  it('under files on their way into a bucket is told in words, and nothing is left on it', () => {
    expect(fill('s3', mebibyte)).toEqual({
      code: 'ARCHIVE_FULL',
      message: expect.stringMatching(
        /^the folder .*longhaul-spool-\w+ has no space left for r\/0\.mp4 \(EFBIG\); make room/,
      ) as string,
      files: [],
    });
  });

  it('is what fails there: with room, the file is kept', () => {
    expect(fill('folder', 8 * mebibyte)).toEqual({ code: 'kept', message: '', files: ['r/0.mp4'] });
  });
});
