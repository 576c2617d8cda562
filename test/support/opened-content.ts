import type { OpenedSource } from '../../src/storage/input/input-source';

/** Everything in an opened source, read from what is open. */
export async function contentOf({ file, sizeBytes }: OpenedSource, encoding: BufferEncoding = 'utf8'): Promise<string> {
  const { buffer } = await file.read({ buffer: Buffer.alloc(sizeBytes), position: 0 });
  return buffer.toString(encoding);
}
