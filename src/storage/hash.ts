import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { readRange } from './local-file';

export interface Measure {
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

/** Throws the system's error. */
export async function hashFile(path: string, signal?: AbortSignal): Promise<Measure> {
  return await hashStream(createReadStream(path, { highWaterMark: 1024 * 1024 }), signal);
}

/** Throws the system's error. */
export async function hashOpenFile(file: FileHandle, sizeBytes: number, signal?: AbortSignal): Promise<Measure> {
  return await hashStream(readRange(file, 0, sizeBytes), signal);
}

/** Throws the stream's error. */
export async function hashStream(content: AsyncIterable<Buffer>, signal?: AbortSignal): Promise<Measure> {
  const hash = createHash('sha256');
  let bytes = 0;
  await pipeline(
    content,
    async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) {
        hash.update(chunk);
        bytes += chunk.length;
      }
    },
    { signal },
  );
  return { bytes, sha256: hash.digest('hex') };
}
