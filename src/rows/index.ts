export { checkRows, type RowSinks, type RowsReport } from './check-rows';
export { type InputFileCount, sizeOfInputFile } from './input-file-census';
export { digestOfInput } from './prepare-row';
export type { PreparedRow } from './prepared-row';
export {
  type PageLimits,
  preparedIndexPath,
  PreparedRowsWriter,
  type PreparedRowsSummary,
} from './prepared-rows-writer';
export {
  type ByteRanges,
  type PreparedRows,
  preparedRowsAt,
  PreparedRowsError,
  readBytes,
  readPreparedPage,
} from './read-prepared-page';
export type { Delimiter } from './delimiter';
export { readRows, type RowOutcome } from './read-rows';
export { type RowFile, rowFileAt, type RowFormat } from './row-file';
export type { EmptyCells, FixedField, RowOptions } from './row-options';
export { RowFileError, type RowProblem, type RowProblemCode, rowProblemText } from './row-problem';
export { parseRowTemplate, type RowTemplate } from './row-template';
export { looksLikeMediaFile } from './media-file';
export { prepareRows, type PreparedRowFile, type PrepareRowsOptions } from './prepare-rows';
export { givenKey } from './row-key';
export { RowsDigest } from './rows-digest';
export { appColumn } from './table-columns';
