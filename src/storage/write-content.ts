import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Measure } from './hash-file';
import { TransferMeter } from './transfer-meter';

/** A content ended badly by itself, not by the file it was written to; what it ended with is the cause. */
export class ContentError extends Error {}

/**
 * To be called before the first wait: a content that fails while its file is being opened would otherwise end the
 * process. The failure is not lost; whoever reads the content meets it.
 */
export function hearOut(content: Readable): void {
  content.on('error', () => undefined);
}

/**
 * Writes a content to an open file, hashing it in passing.
 *
 * @throws the signal's reason, ContentError, or the system's error about the file. Which of the two failed can be told
 *   only here: a content that is let go because of the other's failure ends with an error of its own.
 */
export async function writeContent(content: Readable, file: FileHandle, signal?: AbortSignal): Promise<Measure> {
  const meter = new TransferMeter(() => undefined);
  let diskFailure: { readonly error: unknown } | undefined;
  const write = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of chunks) {
      await file.writeFile(chunk).catch((error: unknown) => {
        diskFailure = { error };
        throw error;
      });
    }
  };
  hearOut(content);
  try {
    await pipeline(content, meter, write, { ...(signal !== undefined && { signal }) });
    return { bytes: meter.bytes, sha256: meter.sha256() };
  } catch (error) {
    signal?.throwIfAborted();
    throw diskFailure === undefined ? new ContentError('', { cause: error }) : diskFailure.error;
  }
}
