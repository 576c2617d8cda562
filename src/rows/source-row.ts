import type { RowProblems } from './row-problem';

/** What a row says, whatever its format: not yet checked as the input of a task. */
export interface SourceRow {
  /** From 1. */
  readonly line: number;
  readonly problems: RowProblems;
  /** Missing when there are problems that leave nothing to look at. */
  readonly said?: {
    /** `webAppId`, `inputs` and what else a task's input has. */
    readonly fields: Readonly<Record<string, unknown>>;
    /** `undefined` when it gives none. */
    readonly key: unknown;
    /** What its key is derived from when it gives none. */
    readonly content: Readonly<Record<string, unknown>>;
    readonly columns: Readonly<Record<string, string>>;
  };
}
