export { checkRows, inspectInputFile, type RowSinks, type RowsReport } from './check-rows';
export {
  type ByteRanges,
  type PageLimits,
  preparedIndexPath,
  type PreparedRow,
  type PreparedRows,
  preparedRowsAt,
  PreparedRowsError,
  PreparedRowsWriter,
  readBytes,
  readPreparedPage,
  RowsDigest,
  type RowTable,
} from './prepared-rows';
export { type DecimalSign, type Delimiter, numberRemedy } from './cells';
export { readRows, type RowOutcome } from './read-rows';
export type { FormerBatch, FormerOutput, FormerOutputs, FormerRow } from './picked-outputs';
export {
  outputsOf,
  type RowFile,
  rowFileAt,
  type RowFileForm,
  type RowFormat,
  rowsFrom,
  type TableForm,
  TableFormReader,
} from './row-file';
export type { EmptyCells, FixedField, RandomSeeds, RowOptions } from './row-options';
export { RowFileError, type RowProblem, type RowProblemCode, rowProblemAdvice, rowProblemText } from './row-problem';
export { parseRowTemplate, type RowTemplate } from './row-template';
export { fixedPart, looksLikeMediaFile } from './media-files';
export {
  findFolderProblem,
  type PreparedRowFile,
  prepareRows,
  type PrepareRowsOptions,
  type RowStaging,
  stageInputs,
  stageRows,
} from './prepare-rows';
export { givenKey } from './row-key';
export {
  allowedRetry,
  chooseRows,
  type ChosenRow,
  countNames,
  cursorAfter,
  isToStart,
  maxEndBytes,
  mayReplace,
  RecordComparison,
  type RefusedRows,
  refusalWords,
} from './row-choice';
export { appColumn } from './row-fields';
export { parseVary } from './vary';
