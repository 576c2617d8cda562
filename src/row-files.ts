/**
 * Row files of batches, for a backend: checked, and written where the workers read them. A module of its own, because
 * what reads the formats is half of the client, and few backends need it.
 */

export {
  type DecimalSign,
  type Delimiter,
  type EmptyCells,
  type PreparedRow,
  prepareRows,
  type PrepareRowsOptions,
  type PreparedRowFile,
  parseRowTemplate,
  readRows,
  type RowFile,
  rowFileAt,
  RowFileError,
  type RowFormat,
  type RowOptions,
  type RowOutcome,
  type RowProblem,
  type RowProblemCode,
  rowsFrom,
  type RowsReport,
  type RowStaging,
  type RowTemplate,
} from './rows';
