import { formatBytes } from '../core/text';
import { RowFileError } from './row-problem';

/** @throws RowFileError when there are more bytes than are held. */
export async function collectBytes(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
  remedy: string,
): Promise<Buffer> {
  const all: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new RowFileError(`The row file has more than ${formatBytes(maxBytes)}; ${remedy}.`);
    all.push(chunk);
  }
  return Buffer.concat(all);
}
