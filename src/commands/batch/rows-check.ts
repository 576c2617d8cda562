import type { PreparedRow, RowSinks, RowsReport } from '../../rows';
import type { TellEvent } from './batch-events';
import type { BatchSettings } from './batch-settings';
import type { RowFileOptions, RowFileToRead } from './row-file-options';
import { type CheckedRows, maxShownProblems, problemFacts } from './rows-report';
import { shownRow } from './shown-row';
import { TextLikeFiles } from './text-like-files';

/** One check of a row file: tells problems as they are found, and remembers what is worth a look. */
export class RowsCheck {
  /** For `checkRows` and `prepareRows`. */
  readonly sinks: RowSinks;
  readonly #settings: BatchSettings;
  readonly #first: number | undefined;
  readonly #textLikeFiles: TextLikeFiles;
  #firstRow: PreparedRow | undefined;

  constructor(
    settings: BatchSettings,
    { file, options: { constants = {}, template } }: RowFileToRead,
    { first, string = [], textColumn = [] }: RowFileOptions & { readonly first?: number | undefined },
    tell: TellEvent,
  ) {
    this.#settings = settings;
    this.#first = first;
    this.#textLikeFiles = new TextLikeFiles(
      [...textColumn, ...string.map((text) => text.slice(0, text.indexOf('=')))],
      (key) => key in constants || (file.format !== 'jsonl' && template === undefined),
    );
    this.sinks = {
      maxProblems: maxShownProblems,
      ...(first !== undefined && { maxGoodRows: first }),
      onRow: (row) => {
        this.#firstRow ??= row;
        this.#textLikeFiles.add(row);
      },
      onProblem: (problem) => {
        tell('problem', problemFacts(problem));
      },
    };
  }

  /** What was found, after the last row. */
  async checked(report: RowsReport): Promise<CheckedRows> {
    const { input, outputs } = this.#settings;
    return {
      ...{ source: input.source ?? '', batchId: input.id, outputs, report, first: this.#first ?? null },
      firstRow: this.#firstRow === undefined ? null : await shownRow(this.#firstRow),
      textLikeFiles: this.#textLikeFiles.found,
    };
  }
}
