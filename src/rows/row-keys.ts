import { createHash } from 'node:crypto';

/**
 * The keys of a file's rows and the lines they stand on. Keys that differ only in case are one key: on many file
 * systems their archived files would be. Remembers a hash and a line for each: some 140 bytes a row.
 */
export class RowKeys {
  private readonly lines = new Map<string, number>();

  /** The line of the earlier row with this key; `undefined` for a key that is new. */
  add(key: string, line: number): number | undefined {
    const name = createHash('sha256').update(key.toLowerCase()).digest('base64').slice(0, 22);
    const earlier = this.lines.get(name);
    if (earlier === undefined) this.lines.set(name, line);
    return earlier;
  }
}
