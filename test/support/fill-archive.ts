import { mkdirSync } from 'node:fs';
import { Readable } from 'node:stream';
import { ArchiveError, SourceError, StagingError } from '../../src/storage/errors';
import { openArchive } from '../../src/storage/archive/open-archive';
import { createFail, spoolSource } from '../../src/storage/input/input-source';
import { createArchiveClient } from '../../src/storage/s3/s3-client';
import { spoolFolder } from '../../src/storage/spool';
import { Staging } from '../../src/storage/staging';
import { listFiles } from './list-files';

/*
 * A program of its own, so that a limit on it limits nobody else: puts a file of so many bytes into an archive, in the
 * folder or by way of it into a bucket, or brings an input there or stages one, and prints what came of it and which files are left.
 */
const [, , kind = '', folder = '', bytes = ''] = process.argv;

async function main(): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const content = Readable.from(contentThatComplains(Number(bytes)), { objectMode: false });
  const put = { input: bringInput, staging: stageInput }[kind] ?? putOutput;
  const outcome = await put(content).then(
    () => ({ code: 'kept', message: '' }),
    (error: unknown) => {
      if (error instanceof StagingError) return { code: error.name, message: error.message };
      if (!(error instanceof ArchiveError) && !(error instanceof SourceError)) throw error;
      return { code: error.code, message: error.message };
    },
  );
  process.stdout.write(JSON.stringify({ ...outcome, files: listFiles(folder) }));
}

async function putOutput(content: Readable): Promise<void> {
  const archive = openArchive(
    kind === 'folder'
      ? { kind: 'folder', path: folder }
      : { kind: 's3', bucket: 'photos', prefix: '', isPathStyle: true },
  );
  await archive.put('r/0.mp4', content);
}

async function bringInput(content: Readable): Promise<void> {
  const opened = await spoolSource(content, {
    ...{ name: '0.mp4', announcedBytes: 0, signal: undefined, onProgress: () => undefined },
    ...{ rules: { maxBytes: Infinity, spoolFolder: spoolFolder() }, fail: createFail('https://photos.example/0.mp4') },
  });
  await opened.release();
}

async function stageInput(content: Readable): Promise<void> {
  const staging = new Staging({ client: createArchiveClient(true), bucket: 'photos', prefix: '' });
  await staging.keepContent(content, '0.mp4');
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
