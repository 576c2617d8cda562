import { mkdirSync } from 'node:fs';
import { Readable } from 'node:stream';
import { ArchiveError } from '../../src/storage/errors';
import { openArchive } from '../../src/storage/archive/open-archive';
import { listFiles } from './list-files';

/*
 * A program of its own, so that a limit on it limits nobody else: puts a file of so many bytes into an archive, in the
 * folder or by way of it into a bucket, and prints what came of it and which files are left there.
 */
const [, , kind = '', folder = '', bytes = ''] = process.argv;

async function main(): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const archive = openArchive(
    kind === 'folder'
      ? { kind: 'folder', path: folder }
      : { kind: 's3', bucket: 'photos', prefix: '', isPathStyle: true },
  );
  const content = Readable.from(contentThatComplains(Number(bytes)), { objectMode: false });
  const outcome = await archive.put('r/0.mp4', content).then(
    () => ({ code: 'kept', message: '' }),
    (error: unknown) => {
      if (!(error instanceof ArchiveError)) throw error;
      return { code: error.code, message: error.message };
    },
  );
  process.stdout.write(JSON.stringify({ ...outcome, files: listFiles(folder) }));
}

/** Like a download, it has words of its own when it is let go. */
function* contentThatComplains(sizeBytes: number): Generator<Buffer, void, undefined> {
  const chunkBytes = 64 * 1024;
  try {
    for (let sent = 0; sent < sizeBytes; sent += chunkBytes) yield Buffer.alloc(chunkBytes);
  } catch {
    throw new Error('the content was not read to its end');
  }
}

void main();
