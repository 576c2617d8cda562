export { checkRows, type InputFileCount, inspectInputFile, type RowSinks, type RowsReport } from './check-rows';
export type { PreparedRow, RowTable } from './prepared-rows';
export { preparedIndexPath } from './prepared-rows';
export { type PageLimits, PreparedRowsWriter, type PreparedRowsSummary } from './prepared-rows-writer';
export {
  type ByteRanges,
  type PreparedRows,
  preparedRowsAt,
  PreparedRowsError,
  readBytes,
  readPreparedPage,
} from './prepared-rows';
export { type DecimalSign, type Delimiter, numberRemedy } from './cells';
export { readRows, type RowOutcome } from './read-rows';
export { type RowFile, rowFileAt, type RowFormat } from './row-file';
export { rowsFrom } from './rows-from';
export type { EmptyCells, FixedField, RowOptions } from './row-options';
export {
  type OptionNames,
  RowFileError,
  type RowProblem,
  type RowProblemCode,
  rowProblemAdvice,
  rowProblemText,
} from './row-problem';
export { parseRowTemplate, type RowTemplate } from './row-template';
export { looksLikeMediaFile } from './prepare-row';
export { findFolderProblem, prepareRows, type PreparedRowFile, type PrepareRowsOptions } from './prepare-rows';
export { givenKey } from './row-key';
export { RowsDigest } from './prepared-rows';
export { RecordComparison, type RefusedRows, refusalWords } from './record-comparison';
export {
  allowedRetry,
  chooseRows,
  type ChosenRow,
  countNames,
  cursorAfter,
  isToStart,
  maxEndBytes,
  mayReplace,
} from './row-choice';
export { appColumn } from './table-columns';
export { type RowStaging, stageInputs, stageRows } from './stage-rows';
export { type TableForm, TableFormReader } from './table-form';
