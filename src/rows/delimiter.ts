import type { RowFormat } from './row-file';

/** What stands between the cells of a table. */
export type Delimiter = ',' | ';' | '|' | '\t';

/** All that are known. */
export const delimiters: readonly Delimiter[] = [',', ';', '|', '\t'];

/** What separates cells when nothing else is said. */
export const delimiterOfFormat: Readonly<Record<Exclude<RowFormat, 'jsonl'>, Delimiter>> = { csv: ',', tsv: '\t' };

/** A delimiter as the command line takes it. */
export function delimiterWord(delimiter: Delimiter): string {
  return delimiter === '\t' ? 'tab' : `"${delimiter}"`;
}

/** What the first line of a table says of its delimiter, and how many bytes that line has. */
export interface DeclaredDelimiter {
  readonly delimiter: Delimiter;
  readonly bytes: number;
}

/** Reads a first line such as `sep=;`, which Excel understands and which is no row. */
export function declaredDelimiter(head: Buffer): DeclaredDelimiter | undefined {
  const [line, delimiter] = /^"?sep=([,;|\t])"?\r?\n/i.exec(head.toString('latin1')) ?? [];
  return line === undefined ? undefined : { delimiter: delimiter as Delimiter, bytes: line.length };
}
