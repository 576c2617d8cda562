import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { spoolFolder } from '../../../src/storage/spool';
import { temporaryFolder } from '../../support/temporary-folder';

const temporary = temporaryFolder();
afterAll(() => {
  temporary.remove();
});

describe('the folder of contents on their way', () => {
  it('is the process’s own: under a random name, for its user only, and the same until it ends', () => {
    const folder = spoolFolder();

    expect(basename(folder)).toMatch(/^longhaul-spool-\w{6}$/);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(spoolFolder()).toBe(folder);
  });

  it('is made anew, not filled, when somebody put something else in its place', () => {
    const folder = spoolFolder();
    rmSync(folder, { recursive: true });
    symlinkSync(dirname(folder), folder);

    const next = spoolFolder();
    rmSync(folder);

    expect(next).not.toBe(folder);
    expect(statSync(next).isDirectory()).toBe(true);
  });

  it('is gone with its process, and what others prepared there is left alone', () => {
    mkdirSync(join(temporary.path, 'longhaul-spool'));
    writeFileSync(join(temporary.path, 'longhaul-spool', 'planted'), '');
    const script = `const { spoolFolder } = require('./src/storage/spool.ts'); console.log(spoolFolder())`;
    const folder = execFileSync(process.execPath, ['--import', 'tsx', '-e', script], {
      cwd: join(__dirname, '../../..'),
      encoding: 'utf8',
      env: { ...process.env, TMPDIR: temporary.path },
    }).trim();

    expect(dirname(folder)).toBe(temporary.path);
    expect(existsSync(folder)).toBe(false);
    expect(readdirSync(join(temporary.path, 'longhaul-spool'))).toEqual(['planted']);
  });
});
