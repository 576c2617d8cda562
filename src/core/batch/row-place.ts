/** Where a row of a row file stands. */
export interface RowPlace {
  /** The line of the text file on which it begins, from 1. */
  readonly line: number;
  /**
   * The number under which a spreadsheet shows it, the header being row 1: a cell with line breaks is one row of the sheet and
   * several lines of the file. Absent where the file is no table, or a version before did not count it.
   */
  readonly sheetRow?: number | undefined;
}

/**
 * A place as every message names it: `row 5` of the sheet, `row 5, line 7 of the file` where that is another number, and `line 7`
 * where there is no sheet.
 */
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

/** The key by which a person knows a row. */
export function shownKey({ key, originalKey }: PlacedKeys): string {
  return originalKey ?? key;
}

/** The keys of a row alone, the one that the row gave only where it is another one. */
export function pickKeys({ key, originalKey }: PlacedKeys): { readonly key: string; readonly originalKey?: string } {
  return { key, ...(originalKey != null && originalKey !== key && { originalKey }) };
}

/** The same fields alone, to go along with what is said of the row. */
export function pickPlace({ line, sheetRow }: RowPlace): RowPlace {
  return { line, ...(sheetRow !== undefined && { sheetRow }) };
}
