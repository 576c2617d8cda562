import type { RowPlace } from '../core/batch/row-place';
import type { PreparedRow } from './prepared-rows';
import type { RowProblemCode } from './row-problem';

/** Why a row cannot be read. */
export interface RecordProblem {
  readonly code: RowProblemCode;
  readonly message: string;
  readonly at?: { readonly field: string; readonly value: unknown };
}

/** A row of a table, as its reader gives it; one of them checks the cells. */
export interface TableRecord extends RowPlace {
  /** Undefined where they cannot be read. */
  readonly cells?: readonly string[] | undefined;
  /** By the cell's index: why what it shows is not known. */
  readonly cellProblems?: ReadonlyMap<number, string>;
  readonly problem?: RecordProblem | undefined;
}

/** A row that has named values. */
export interface ObjectRecord extends RowPlace {
  readonly value?: unknown;
  /** Cells that go along, for results.csv. */
  readonly own?: Pick<PreparedRow, 'table' | 'cells'>;
  readonly problem?: RecordProblem | undefined;
}
