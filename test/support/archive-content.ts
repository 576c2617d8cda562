import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Archive } from '../../src/storage/archive/archive';

export function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/** A content that comes in these chunks. */
export function stream(...chunks: string[]): Readable {
  return Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
}

export async function listed(archive: Archive, folder = '', prefix?: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of archive.list(folder, undefined, prefix)) names.push(name);
  return names.sort();
}
