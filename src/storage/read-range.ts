import type { FileHandle } from 'node:fs/promises';

/** Bytes read at a time. */
const chunkBytes = 1024 * 1024;

/**
 * Reads a piece of an open file, less when the file is shorter. Several can be read from one file at the same time; its
 * handle stays open, which a stream of Node's would close when it is destroyed.
 */
export async function* readRange(
  file: FileHandle,
  startByte: number,
  sizeBytes: number,
): AsyncGenerator<Buffer, void, undefined> {
  for (let read = 0; read < sizeBytes;) {
    const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, sizeBytes - read));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, startByte + read);
    if (bytesRead === 0) return;
    read += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
