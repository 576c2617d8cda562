import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
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
function fill(kind: 'folder' | 's3' | 'input' | 'staging', limitBytes: number, temporary?: string): unknown {
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
    env: { ...process.env, TMPDIR: temporary ?? path, TSX_DISABLE_CACHE: '1' },
    encoding: 'utf8',
  });
  return JSON.parse(stdout);
}

describe('a disk without room', () => {
  const full = 'has no space left for it \\(EFBIG\\); make room on its disk, or set TMPDIR to another folder$';

  it.each([
    [
      'the archive',
      'folder',
      'ARCHIVE_FULL',
      '^the archive .* has no space left for r/0.mp4 \\(EFBIG\\); make room on its disk$',
    ],
    [
      'files on their way into a bucket',
      's3',
      'ARCHIVE_FULL',
      `^s3://.*r/0.mp4 cannot be kept: the temporary folder .*longhaul-spool-\\w+ ${full}`,
    ],
    // The words do not blame where it comes from.
    [
      'an input that is brought here',
      'input',
      'UNREADABLE_NOW',
      `^input file "https://photos.example/0.mp4" cannot be brought here: the temporary folder .*longhaul-spool-\\w+ ${full}`,
    ],
    [
      'a content that is staged',
      'staging',
      'StagingError',
      `^"0.mp4" cannot be staged: the temporary folder /.* ${full}`,
    ],
  ] as const)('under %s is told in words, and nothing is left on it', (_what, kind, code, words) => {
    expect(fill(kind, mebibyte)).toEqual({ code, message: expect.stringMatching(words) as string, files: [] });
  });

  it('is what fails there: with room, the file is kept', () => {
    expect(fill('folder', 8 * mebibyte)).toEqual({ code: 'kept', message: '', files: ['r/0.mp4'] });
    expect(fill('input', 8 * mebibyte)).toEqual({ code: 'kept', message: '', files: [] });
  });
});

describe('a temporary folder that cannot be', () => {
  const file = join(folder.path, 'file');
  beforeAll(() => {
    writeFileSync(file, '');
  });

  it('is told in words by an archive in a bucket', () => {
    expect(fill('s3', 8 * mebibyte, join(file, 'tmp'))).toEqual({
      code: 'ARCHIVE_UNUSABLE',
      message: expect.stringMatching(
        `^s3://.*r/0\\.mp4 cannot be kept: the temporary folder ${file}/tmp cannot take it \\(ENOTDIR\\); check its disk and its permissions, or set TMPDIR to another folder$`,
      ) as string,
      files: [],
    });
  });

  it('is told in words by an input that is brought here', () => {
    expect(fill('input', 8 * mebibyte, join(file, 'tmp'))).toEqual({
      code: 'UNREADABLE_NOW',
      message: `input file "https://photos.example/0.mp4" cannot be brought here: the temporary folder ${file}/tmp cannot take it (ENOTDIR); check its disk and its permissions, or set TMPDIR to another folder`,
      files: [],
    });
  });
});
