import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, relative } from 'node:path';
import { SourceError } from '../../../../src/storage/errors';
import { openFailure } from '../../../../src/storage/input/folder-source';
import { openSource } from '../../../../src/storage/input/open-source';
import { contentOf } from '../../../support/opened-content';
import { temporaryFolder } from '../../../support/temporary-folder';

const folder = temporaryFolder();
const root = join(folder.path, 'in');
const otherRoot = join(folder.path, 'more');
const outside = join(folder.path, 'secret.txt');
const rules = {
  inputRoots: [root, otherRoot],
  inputHosts: [],
  maxBytes: 1_000,
  spoolFolder: join(folder.path, 'spool'),
};

beforeAll(() => {
  mkdirSync(join(root, 'deep'), { recursive: true });
  mkdirSync(otherRoot);
  writeFileSync(join(root, 'deep', 'photo: 1.jpg'), 'picture');
  writeFileSync(join(otherRoot, 'sound.mp3'), 'sound');
  writeFileSync(outside, 'secret');
  writeFileSync(join(root, 'empty.png'), '');
  writeFileSync(join(root, 'page.png'), '\uFEFF<!doctype html><title>Sign in</title>');
  writeFileSync(join(root, 'large.png'), '');
  truncateSync(join(root, 'large.png'), 1_001);
  symlinkSync(outside, join(root, 'escape.png'));
  symlinkSync(folder.path, join(root, 'escape'));
  symlinkSync(join(root, 'nowhere'), join(root, 'dangling.png'));
  symlinkSync(join(otherRoot, 'sound.mp3'), join(root, 'linked.mp3'));
  symlinkSync(root, join(folder.path, 'alias'));
});
afterAll(() => {
  folder.remove();
});

async function refusalOf(source: string, change: Partial<typeof rules> = {}): Promise<SourceError> {
  const error: unknown = await openSource(source, { ...rules, ...change }).catch((thrown: unknown) => thrown);
  if (!(error instanceof SourceError)) throw new Error('expected a SourceError', { cause: error });
  return error;
}

describe('openSource of a path', () => {
  it.each(['C:\\photos\\x.png', 'c:/photos/x.png'])('says that %j is a path of Windows', async (source) => {
    const refusal = await refusalOf(source);
    expect(refusal.code).toBe('NOT_FOUND');
    expect(refusal.message).toMatch(/it is a path of Windows.*: give the path that the file has on the worker/);
  });

  it.each([
    ['relative to a root', 'deep/photo: 1.jpg'],
    ['relative with detours', 'deep/../deep/photo: 1.jpg'],
    ['absolute', join(root, 'deep/photo: 1.jpg')],
    ['through a link to a root', join(folder.path, 'alias/deep/photo: 1.jpg')],
  ])('opens a file that is %s', async (_how, source) => {
    const opened = await openSource(source, rules);
    expect(opened).toMatchObject({
      name: 'photo: 1.jpg',
      sizeBytes: 7,
      contentType: 'image/jpeg',
    });
    expect(await contentOf(opened)).toBe('picture');
    await opened.release();
    await opened.release();
  });

  it('looks under each root in turn, and follows links that stay under a root', async () => {
    for (const source of ['sound.mp3', 'linked.mp3']) {
      const opened = await openSource(source, rules);
      expect(opened).toMatchObject({ name: 'sound.mp3', contentType: 'audio/mpeg' });
      expect(await contentOf(opened)).toBe('sound');
      await opened.release();
    }
  });

  it.each([
    ['is outside', outside],
    ['is outside and does not exist', join(folder.path, 'not-there')],
    ['climbs out', '../secret.txt'],
    ['climbs out to nothing', '../not-there'],
    ['climbs out of an absolute root', `${root}/../secret.txt`],
    ['is a link to outside', 'escape.png'],
    ['passes through a link to outside', 'escape/secret.txt'],
    ['only begins like a root', `${root}-other/x`],
    ['is the system', '/etc/passwd'],
  ])('refuses a file that %s, without telling whether it exists', async (_how, source) => {
    const error = await refusalOf(source);
    expect(error).toMatchObject({ code: 'OUTSIDE_INPUT_ROOTS', isRetryable: false, source });
    expect(error.message).toContain(root);
    expect(error.message).toContain('LONGHAUL_INPUT_ROOTS');
  });

  it.each([
    ['NOT_FOUND', 'deep/other.jpg'],
    ['NOT_THE_FILE', 'page.png'],
    ['NOT_FOUND', join(root, 'other.jpg')],
    ['NOT_FOUND', 'dangling.png'],
    ['NOT_A_FILE', 'deep'],
    ['EMPTY', 'empty.png'],
    ['TOO_LARGE', 'large.png'],
  ])('refuses with %s: %s', async (code, source) => {
    expect(await refusalOf(source)).toMatchObject({ code, source });
  });

  it('says of a file in a folder that this process may not search that it cannot be read, not that it does not exist', async () => {
    const locked = join(root, 'locked');
    mkdirSync(locked);
    writeFileSync(join(locked, 'photo.jpg'), 'picture');
    chmodSync(folder.path, 0o755);
    chmodSync(locked, 0o000);
    const isRoot = process.geteuid?.() === 0;
    // Root may search any folder.
    if (isRoot) process.seteuid?.('nobody');
    try {
      const refusals = await Promise.all([refusalOf(join(locked, 'photo.jpg')), refusalOf('locked/photo.jpg')]);
      for (const { code, message } of refusals) {
        expect({ code, message }).toEqual({
          code: 'UNREADABLE',
          message: expect.stringContaining('(EACCES)') as string,
        });
      }
    } finally {
      if (isRoot) process.seteuid?.(0);
      chmodSync(locked, 0o755);
    }
  });

  it('says of a relative path that leads nowhere below which folders it was looked for', async () => {
    expect((await refusalOf('other.jpg')).message).toContain(`"other.jpg" does not exist below ${root}`);
    expect((await refusalOf(join(root, 'other.jpg'))).message).toContain('other.jpg" does not exist; check the path');
  });

  it('refuses a root itself, a device and a socket', async () => {
    expect(await refusalOf(root)).toBeInstanceOf(SourceError);
    expect(await refusalOf('null', { inputRoots: ['/dev'] })).toMatchObject({ code: 'NOT_A_FILE' });
    const path = join(root, 'a.sock');
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(path, resolve));
    expect(await refusalOf('a.sock')).toMatchObject({ code: 'NOT_A_FILE' });
    await new Promise((resolve) => server.close(resolve));
  });

  it('refuses pipes at once, more of them than there are threads for files, and others are still read', async () => {
    const pipes = Array.from({ length: 8 }, (_, index) => `pipe-${index}`);
    execFileSync('mkfifo', pipes, { cwd: root });
    const refused = Promise.all(pipes.map((pipe) => refusalOf(pipe)));
    expect((await refused).map(({ code }) => code)).toEqual(pipes.map(() => 'NOT_A_FILE'));
    const opened = await openSource('sound.mp3', rules);
    expect(await contentOf(opened)).toBe('sound');
    await opened.release();
  });

  it('refuses files of the system that are only made when they are read', async () => {
    const inputRoots = ['/proc'];
    expect(await refusalOf('self/environ', { inputRoots })).toMatchObject({ code: 'EMPTY' });
    expect(await refusalOf('self/root/etc/passwd', { inputRoots })).toMatchObject({ code: 'OUTSIDE_INPUT_ROOTS' });
  });

  it('refuses every path when the worker has no input roots', async () => {
    expect(await refusalOf('x.png', { inputRoots: [] })).toMatchObject({ code: 'NO_INPUT_ROOTS' });
  });

  it('has a file that may lie in a root that is away tried again, and finds those in other roots meanwhile', async () => {
    const away = join(folder.path, 'unmounted');
    const inputRoots = [root, away];
    for (const source of [join(away, 'photo.jpg'), 'deep/other.jpg']) {
      const error = await refusalOf(source, { inputRoots });
      expect(error).toMatchObject({ code: 'UNREADABLE_NOW', isRetryable: true, source });
      expect(error.message).toContain(`${away}, which this worker cannot read now (ENOENT); mount that folder`);
    }
    for (const source of [outside, '../secret.txt', `${away}/../secret.txt`]) {
      expect(await refusalOf(source, { inputRoots })).toMatchObject({ code: 'OUTSIDE_INPUT_ROOTS' });
    }
    expect(await refusalOf(join(root, 'other.jpg'), { inputRoots })).toMatchObject({ code: 'NOT_FOUND' });
    const opened = await openSource('deep/photo: 1.jpg', { ...rules, inputRoots });
    await opened.release();
  });

  it.each([
    ['EMFILE', 'UNREADABLE_NOW', true],
    ['ESTALE', 'UNREADABLE_NOW', true],
    ['EACCES', 'UNREADABLE', false],
    ['ENOENT', 'UNREADABLE', false],
  ])('tells by %s whether a file may be read later', (code, expected, isRetryable) => {
    const error = openFailure('deep/photo: 1.jpg', Object.assign(new Error('no'), { code }));
    expect(error).toMatchObject({ code: expected, isRetryable });
    expect(error.message).toContain(`(${code})`);
  });

  it('takes roots that are relative or do not exist', async () => {
    const inputRoots = [join(folder.path, 'missing'), relative(process.cwd(), otherRoot)];
    const opened = await openSource('sound.mp3', { ...rules, inputRoots });
    expect(opened).toMatchObject({ name: 'sound.mp3' });
    await opened.release();
  });
});

describe('openSource', () => {
  it('refuses a bucket that is not allowed, without the query of its link', async () => {
    const error = await refusalOf('s3://bucket/key?X-Amz-Signature=1');
    expect(error).toMatchObject({ code: 'BUCKET_NOT_ALLOWED' });
    expect(error.message).not.toContain('Signature');
  });

  it.each(['gs://bucket/key?X-Amz-Signature=1', 'file:///etc/passwd', 'ftp://h/x', 'https:h/x', 'data:,x'])(
    'refuses %s, naming what is allowed',
    async (source) => {
      const error = await refusalOf(source);
      expect(error).toMatchObject({ code: 'UNKNOWN_SCHEME' });
      expect(error.message).toContain('https: URL');
      expect(error.message).not.toContain('Signature');
    },
  );

  it('rejects with the reason of a signal that is already aborted', async () => {
    const reason = new Error('stop');
    await expect(openSource('sound.mp3', rules, AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});
