export { checkRows, type InputFileCount, inspectInputFile, type RowSinks, type RowsReport } from './check-rows';
export { type PageLimits, PreparedRowsWriter, type PreparedRowsSummary } from './prepared-rows-writer';
export {
  type ByteRanges,
  preparedIndexPath,
  type PreparedRow,
  type PreparedRows,
  preparedRowsAt,
  PreparedRowsError,
  readBytes,
  readPreparedPage,
  RowsDigest,
  type RowTable,
} from './prepared-rows';
export { type DecimalSign, type Delimiter, numberRemedy } from './cells';
export { readRows, type RowOutcome } from './read-rows';
export { type RowFile, rowFileAt, type RowFormat, type TableForm, TableFormReader } from './row-file';
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
