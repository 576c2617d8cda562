export interface RowPlace {
  /** The line of the text file on which it begins, from 1. */
  readonly line: number;
  /** As a spreadsheet numbers it, the header as 1: a cell with line breaks is one row of it. Absent: not counted. */
  readonly sheetRow?: number | undefined;
}

/** `row 5`; `row 5, line 7 of the file` where the numbers differ; `line 7` where there is no sheet. */
export function formatRowPlace({ line, sheetRow }: RowPlace): string {
  if (sheetRow === undefined) return `line ${line}`;
  return sheetRow === line ? `row ${sheetRow}` : `row ${sheetRow}, line ${line} of the file`;
}

/** Under which key a row's task runs, and the key that the row gave, where that is another one. */
export interface PlacedKeys {
  /** Matches `[A-Za-z0-9._-]{1,80}`. */
  readonly key: string;
  /** Absent, or null: the same, or the row gave none. */
  readonly originalKey?: string | null | undefined;
}

export function shownKey({ key, originalKey }: PlacedKeys): string {
  return originalKey ?? key;
}

/** The keys of a row alone, the one that the row gave only where it is another one. */
export function pickKeys({ key, originalKey }: PlacedKeys): { readonly key: string; readonly originalKey?: string } {
  return { key, ...(originalKey != null && originalKey !== key && { originalKey }) };
}

export function pickPlace({ line, sheetRow }: RowPlace): RowPlace {
  return { line, ...(sheetRow !== undefined && { sheetRow }) };
}
