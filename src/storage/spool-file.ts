import { randomUUID } from 'node:crypto';
import { mkdir, open, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { TransferMeter } from './transfer-meter';

/** A content on its way, in a file without a name: when its handle closes, or its process dies, it is gone. */
export interface SpooledFile {
  readonly file: FileHandle;
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

/**
 * Writes a content to a file of this machine, hashing it in passing. Close the handle afterwards.
 *
 * @throws what the content ends with, the signal's reason, or the system's error.
 */
export async function spoolFile(content: Readable, folder: string, signal?: AbortSignal): Promise<SpooledFile> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, `archive-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  try {
    await rm(path);
    const meter = new TransferMeter(() => undefined);
    const write = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
      for await (const chunk of chunks) await file.writeFile(chunk);
    };
    await pipeline(content, meter, write, { ...(signal !== undefined && { signal }) });
    return { file, bytes: meter.bytes, sha256: meter.sha256() };
  } catch (error) {
    await file.close();
    throw error;
  }
}
