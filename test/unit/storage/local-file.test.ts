import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SourceError } from '../../../src/storage/errors';
import { openFolderSource } from '../../../src/storage/input/folder-source';
import { FileMovedError, NotAFileError, openFileBeneath, openRegularFile } from '../../../src/storage/local-file';
import { contentOf } from '../../support/opened-content';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();
const root = join(folder.path, 'in');
const outside = join(folder.path, 'out');
const tries = 3_000;

beforeEach(() => {
  rmSync(root, { recursive: true, force: true });
  rmSync(outside, { recursive: true, force: true });
  for (const place of [root, outside, join(root, 'folder')]) mkdirSync(place);
  writeFileSync(join(root, 'file'), 'inside');
  writeFileSync(join(root, 'folder', 'file'), 'inside');
  writeFileSync(join(outside, 'file'), 'secret');
  symlinkSync(outside, join(root, 'other-folder'));
  symlinkSync(join(outside, 'file'), join(root, 'other-file'));
  execFileSync('mkfifo', [join(root, 'pipe'), join(root, 'other-pipe')]);
});
afterAll(() => {
  folder.remove();
});

/** A process that gives two names each other's file, again and again. */
async function swapping(one: string, other: string, during: () => Promise<void>): Promise<void> {
  const code = `
    const { renameSync } = require('node:fs');
    const [, one, other] = process.argv;
    console.log('begun');
    for (;;) { renameSync(one, one + '.tmp'); renameSync(other, one); renameSync(one + '.tmp', other); }`;
  const child = spawn(process.execPath, ['-e', code, join(root, one), join(root, other)]);
  const closed = once(child, 'close');
  try {
    await once(child.stdout, 'data');
    await during();
  } finally {
    child.kill('SIGKILL');
    await closed;
  }
}

describe('a path that is swapped while it is opened', () => {
  it.each([
    ['a file and a link to one outside', 'file', 'other-file', 'file'],
    ['a folder and a link to one outside', 'folder', 'other-folder', 'folder/file'],
    ['a file and a pipe', 'file', 'pipe', 'file'],
  ])('never leads outside, and never waits: %s', async (_what, one, other, source) => {
    const seen = new Map<string, number>();
    await swapping(one, other, async () => {
      for (let count = 0; count < tries; count += 1) {
        const outcome = await openFolderSource(source, { inputRoots: [root], maxBytes: 100 }).then(
          async (opened) => {
            const content = await contentOf(opened);
            await opened.release();
            return content;
          },
          (error: unknown) => (error instanceof SourceError ? error.code : String(error)),
        );
        seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
      }
    });
    const allowed = ['inside', 'NOT_FOUND', 'OUTSIDE_INPUT_ROOTS', 'FILE_MOVED', 'NOT_A_FILE', 'UNREADABLE'];
    expect([...seen.keys()].filter((outcome) => !allowed.includes(outcome))).toEqual([]);
    expect(seen.get('inside')).toBeGreaterThan(0);
  });
});

describe('openFileBeneath', () => {
  it.each([
    ['by what the kernel tells', '/proc/self/fd'],
    ['by what the path leads to, where the kernel does not tell', '/nowhere'],
  ])('refuses what lies elsewhere, %s', async (_how, descriptors) => {
    const path = join(outside, 'file');
    const { file } = await openFileBeneath(path, [outside], descriptors);
    await file.close();
    await expect(openFileBeneath(path, [root], descriptors)).rejects.toBeInstanceOf(FileMovedError);
  });
});

describe('openRegularFile', () => {
  it('takes no folder, pipe or device', async () => {
    for (const path of [root, join(root, 'other-pipe'), '/dev/zero']) {
      await expect(openRegularFile(path)).rejects.toBeInstanceOf(NotAFileError);
    }
  });
});
