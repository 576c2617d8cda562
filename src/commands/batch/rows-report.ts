import { parseBudget } from '../../contract/batch/batch-input';
import type { InputValue } from '../../contract/task-input';
import { batchWorkflowId } from '../../contract/workflow-ids';
import { type AppInputs, InputShapes, type UnusualInput } from '../../domain/app-inputs';
import { budgetProblem, PriceCheck } from '../../domain/batch/batch-budget';
import { formatMoney, type Money } from '../../domain/money';
import { formatRowPlace, pickPlace, type RowPlace } from '../../domain/batch/row-place';
import { formatBytes, formatCount, formatCountOf, safeText, showValue } from '../../domain/text';
import { isUri } from '../../domain/uri';
import {
  looksLikeMediaFile,
  type PreparedRow,
  type RowProblem,
  type RowSinks,
  type RowsReport,
  inspectInputFile,
} from '../../rows';
import { fit } from '../terminal';
import { formatRowCount } from './batch-display';
import type { BatchSettings } from './batch-settings';
import { DailyBudgetCheck, type KnownPrices } from './daily-budget-check';
import { type FileEstimate, formatEstimate } from './file-estimate';
import type { EmitEvent } from './follow-batch';
import { formatOnRecord, type RecordLookup } from './record-lookup';
import { formatMixedInput, type MixedInput, MixedInputs } from './mixed-inputs';
import { ProblemGroups } from './problem-groups';
import type { RowFileOptions, RowFileToRead } from './row-file-options';

/** One check of a row file: emits problems as they are found, and collects what the report shows. */
export class RowsCheck {
  /** For `checkRows` and `prepareRows`. */
  readonly sinks: RowSinks;
  readonly #settings: BatchSettings;
  readonly #first: number | undefined;
  readonly #textLikeFiles: TextLikeFiles;
  /** Null when this command knows no prices. */
  readonly #prices: PriceCheck | null;
  readonly #dailyBudgets: DailyBudgetCheck | null;
  readonly #lookup: RecordLookup | null;
  #firstRow: PreparedRow | undefined;
  readonly #shapes = new InputShapes();
  readonly #mixed = new MixedInputs();
  readonly #problems = new ProblemGroups();
  /** Good rows of each app. */
  readonly rowsByApp = new Map<number, number>();

  constructor(
    settings: BatchSettings,
    { file, options: { constants = {}, template } }: RowFileToRead,
    { first, string = [], textColumn = [] }: RowFileOptions & { readonly first?: number | undefined },
    emit: EmitEvent,
    {
      prices = null,
      lookup = null,
    }: { readonly prices?: KnownPrices | null; readonly lookup?: RecordLookup | null } = {},
  ) {
    this.#lookup = lookup;
    this.#dailyBudgets = prices === null ? null : new DailyBudgetCheck(prices);
    this.#prices = prices === null ? null : new PriceCheck(prices, Date.now());
    this.#settings = settings;
    this.#first = first;
    this.#textLikeFiles = new TextLikeFiles(
      [...textColumn, ...string.map((text) => text.slice(0, text.indexOf('=')))],
      (key) => key in constants || (file.format !== 'jsonl' && template === undefined),
    );
    this.sinks = {
      maxProblems: 0,
      ...(first !== undefined && { maxGoodRows: first }),
      onRow: (row) => {
        this.#firstRow ??= row;
        this.#textLikeFiles.add(row);
        this.#mixed.add(row);
        this.#lookup?.add(row);
        this.#prices?.add(row);
        this.#dailyBudgets?.add(row);
        countApp(this.rowsByApp, row);
        this.#shapes.add(row.input.webAppId, row, Object.keys(row.input.inputs));
      },
      onProblem: (problem) => {
        emit('problem', problemFacts(problem));
        this.#problems.add(problem);
      },
    };
  }

  /** Why the rows cannot be run with the budgets; undefined when they can, as far as this command knows prices. */
  get budgetProblem(): string | undefined {
    const budget = parseBudget(this.#settings.input.budget);
    const problem = budget && this.#prices ? budgetProblem(budget, this.#prices.result()) : undefined;
    return problem ?? this.#dailyBudgets?.problem;
  }

  /** What was found, after the last row. */
  async checked(
    report: RowsReport,
    estimate: FileEstimate | null = null,
    earlierInputs: ReadonlyMap<number, AppInputs> = new Map(),
  ): Promise<CheckedRows> {
    const { input, outputs } = this.#settings;
    return {
      ...{ source: input.source ?? '', batchId: input.id, outputs, report, first: this.#first ?? null },
      firstRow: this.#firstRow === undefined ? null : await shownRow(this.#firstRow),
      textLikeFiles: this.#textLikeFiles.found,
      mixedInputs: this.#mixed.found,
      unusualInputs: this.#shapes.unusual(earlierInputs),
      problemLines: this.#problems.lines(),
      onRecord: this.#lookup?.result ?? null,
      estimate,
      budget: parseBudget(input.budget) ?? null,
    };
  }
}

/** The result of the check of a row file. */
export interface CheckedRows {
  /** The row file as it was named. */
  readonly source: string;
  readonly batchId: string;
  /** Where in the archive the outputs go. */
  readonly outputs: string;
  readonly report: RowsReport;
  /** The file was read up to this many good rows; null: all of it. */
  readonly first: number | null;
  /** The first good row; null when there is none. */
  readonly firstRow: ShownRow | null;
  readonly textLikeFiles: readonly TextLikeFile[];
  readonly mixedInputs: readonly MixedInput[];
  /** By what earlier rows of the same apps had. */
  readonly unusualInputs: readonly UnusualInput[];
  /** For people. */
  readonly problemLines: readonly string[];
  /** Null when that was not asked for. */
  readonly onRecord: RecordLookup['result'] | null;
  /** Null when none was asked for. */
  readonly estimate: FileEstimate | null;
  /** What the batch may cost; null: no limit. */
  readonly budget: Money | null;
}

/** Counts a row for its app. */
export function countApp(rowsByApp: Map<number, number>, { input: { webAppId } }: Pick<PreparedRow, 'input'>): void {
  rowsByApp.set(webAppId, (rowsByApp.get(webAppId) ?? 0) + 1);
}

/** What the check of a row file found: counts, what is to upload, what the first row sends, and the first problems. */
export function rowsReportText(checked: CheckedRows): string {
  const { source, batchId, outputs, report, first, firstRow } = checked;
  const { rows, goodRows, badRows, derivedKeys, files } = report;
  const counts = `${formatCount(rows)}: ${formatCount(goodRows)} good, ${formatCount(badRows)} bad`;
  const isCut = first !== null && goodRows >= first;
  const facts: readonly (readonly [string, string])[] = [
    ['batch', batchWorkflowId(batchId)],
    ['outputs', `${outputs}, in the archive`],
    ['rows', isCut ? `${counts}; --first ${first} read no further` : counts],
    ['to upload', formatUploads(files)],
    ...(files.remoteReferences > 0
      ? [['by URI', `${formatCount(files.remoteReferences)} inputs, fetched by the workers`] as const]
      : []),
    ...(derivedKeys > 0 ? [['keys', `${formatCount(derivedKeys)} derived from the rows’ content`] as const] : []),
    ...(checked.onRecord === null ? [] : formatOnRecord(checked.onRecord)).map(
      (line, n) => [n === 0 ? 'on record' : '', line] as const,
    ),
    ...(firstRow === null ? [] : shownRowLines(firstRow).map((line, n) => [n === 0 ? 'first row' : '', line] as const)),
    ...checked.textLikeFiles.map((text) => ['look at', formatTextLikeFile(text)] as const),
    ...checked.mixedInputs.map((input) => ['look at', formatMixedInput(input)] as const),
    ...checked.unusualInputs.map((input) => ['look at', formatUnusualInput(input)] as const),
    ...estimateFacts(checked).map((words) => ['estimate', words] as const),
    ...(badRows > 0 ? [['problems', formatProblemCounts(report)] as const] : []),
  ];
  const lines = [source, ...facts.map(([name, words]) => `  ${name.padEnd(11)}${words}`), ...checked.problemLines];
  return lines.map((line) => fit(line, Infinity)).join('\n');
}

/** What the rows will cost, were none of them on record, which the check does not know; and whether a budget lasts. */
function estimateFacts({ estimate, budget }: CheckedRows): string[] {
  if (estimate === null) return [];
  if ('unknown' in estimate) return [formatEstimate(estimate)];
  const words = `${formatEstimate(estimate)}; if all of them run: rows on record are not paid again`;
  const cost = estimate.costs.find(({ currency }) => currency === budget?.currency);
  if (budget === null || cost === undefined || cost.p90 <= budget.micros) return [words];
  const verb = cost.median > budget.micros ? 'is' : 'may be';
  return [words, `the budget of ${formatMoney(budget)} ${verb} reached before the last row, if all of them run`];
}

/** A note, not a problem: the text may be intended. */
function formatTextLikeFile({ key, rows, example, asFile }: TextLikeFile): string {
  const where = formatRowCount(rows);
  return `${showValue(key)} is text that looks like a file in ${where}, e.g. ${example}; ${asFile} would upload it`;
}

/** A warning: an app may take inputs that can be left out. */
function formatUnusualInput(input: UnusualInput): string {
  const { webAppId, key, kind, rows, earlierRows } = input;
  const where = `${formatRowCount(rows)} (${rows === 1 ? '' : 'first '}${formatRowPlace(input)})`;
  const earlier = `${formatCountOf(earlierRows, 'earlier row')} of app ${webAppId} that succeeded`;
  return kind === 'missing'
    ? `${showValue(key)} is missing in ${where}, and all of ${earlier} had it`
    : `${showValue(key)} is in ${where}, and none of ${earlier} had it`;
}

/** The report for `--json`; its problems were emitted one by one. */
export function rowsReportFacts(checked: CheckedRows): object {
  const { source, batchId, outputs, report, first, firstRow, textLikeFiles, mixedInputs, unusualInputs } = checked;
  const { estimate, onRecord } = checked;
  const { rows, goodRows, badRows, derivedKeys, problemCount, problemsByCode, files } = report;
  const counts = { rows, goodRows, badRows, derivedKeys, problemCount, problemsByCode, files };
  return {
    source,
    batchId,
    outputs,
    ...counts,
    first,
    firstRow,
    textLikeFiles,
    mixedInputs,
    unusualInputs,
    ...(estimate && { estimate }),
    ...(onRecord && { onRecord }),
  };
}

/** A problem as a program gets it. */
function problemFacts({ key, code, field, value, message, ...place }: RowProblem): object {
  return { ...pickPlace(place), key: key ?? null, code, field, value, message };
}

function formatUploads({ references, referencedBytes, distinct, distinctBytes }: RowsReport['files']): string {
  if (references === 0) return 'nothing';
  const files = `${formatCountOf(distinct, 'file')}, ${formatBytes(distinctBytes)}`;
  return references === distinct
    ? files
    : `${files}; named ${formatCount(references)} times, ${formatBytes(referencedBytes)} in all`;
}

function formatProblemCounts({ problemsByCode }: RowsReport): string {
  return Object.entries(problemsByCode)
    .map(([code, count]) => `${formatCount(count)} ${code}`)
    .join(', ');
}

/** An input of a row, as it is sent. */
export interface ShownInput {
  readonly key: string;
  readonly kind: 'file' | 'number' | 'text';
  /** Shortened where it is long. */
  readonly value: string;
  /** Of a file of this machine. */
  readonly bytes?: number;
  /** In which form the app gets a file. */
  readonly as?: string;
}

/** A row, as it is sent. */
export interface ShownRow extends RowPlace {
  readonly key: string;
  readonly webAppId: number;
  readonly inputs: readonly ShownInput[];
  /** So many inputs are not shown. */
  readonly moreInputs: number;
}

const maxShownInputs = 10;
const maxShownLength = 100;

/** What would be sent for a row, for people and for programs. */
async function shownRow({ key, originalKey, input, ...place }: PreparedRow): Promise<ShownRow> {
  const inputs = Object.entries(input.inputs);
  return {
    ...pickPlace(place),
    key: originalKey ?? key,
    webAppId: input.webAppId,
    inputs: await Promise.all(inputs.slice(0, maxShownInputs).map(([name, value]) => shownInput(name, value))),
    moreInputs: Math.max(0, inputs.length - maxShownInputs),
  };
}

async function shownInput(key: string, value: InputValue): Promise<ShownInput> {
  if (typeof value === 'number') return { key, kind: 'number', value: String(value) };
  if (typeof value === 'string') return { key, kind: 'text', value: fit(safeText(value), maxShownLength) };
  const { file, as = 'url' } = value;
  const bytes = isUri(file) ? undefined : await inspectInputFile(file, '');
  return { key, kind: 'file', value: safeText(file), ...(typeof bytes === 'number' && { bytes }), as };
}

/** The same in lines; the first says which row it is. */
function shownRowLines({ key, webAppId, inputs, moreInputs, ...place }: ShownRow): string[] {
  return [
    `${formatRowPlace(place)}, key ${showValue(key)}, app ${webAppId}`,
    ...inputs.map(inputLine),
    ...(moreInputs > 0 ? [`and ${formatCount(moreInputs)} more`] : []),
  ];
}

function inputLine({ key, kind, value, bytes, as = 'url' }: ShownInput): string {
  const shown = kind === 'text' ? showValue(value) : value;
  const size = bytes === undefined ? '' : ` (${formatBytes(bytes)})`;
  const form = as === 'url' ? '' : `, given as its ${as}`;
  return `${safeText(key)}  ${kind} ${shown}${size}${form}`;
}

/** An input whose text looks like the name of a file. */
export interface TextLikeFile {
  readonly key: string;
  /** So many rows have such a text there. */
  readonly rows: number;
  /** The first of the texts, shortened. */
  readonly example: string;
  /** How it would be written as a file. */
  readonly asFile: string;
}

const maxKeys = 20;

/** Finds text inputs that look like file names without their mark; keeps one example for each key. */
export class TextLikeFiles {
  readonly #texts: ReadonlySet<string>;
  readonly #markedByAt: (key: string) => boolean;
  readonly #found = new Map<string, { rows: number; readonly example: string }>();

  /**
   * @param texts - keys of inputs that were said to be text.
   * @param markedByAt - whether a file is marked by an `@` there, as in cells, and not by `{ "file": … }`.
   */
  constructor(texts: Iterable<string>, markedByAt: (key: string) => boolean) {
    this.#texts = new Set(texts);
    this.#markedByAt = markedByAt;
  }

  add({ input }: PreparedRow): void {
    for (const [key, value] of Object.entries(input.inputs)) {
      if (typeof value !== 'string' || this.#texts.has(key) || !looksLikeMediaFile(value)) continue;
      const found = this.#found.get(key);
      if (found !== undefined) found.rows += 1;
      else if (this.#found.size < maxKeys) this.#found.set(key, { rows: 1, example: safeText(value) });
    }
  }

  get found(): readonly TextLikeFile[] {
    return [...this.#found].map(([key, { rows, example }]) => ({
      ...{ key, rows, example },
      asFile: this.#markedByAt(key) ? `@${example}` : JSON.stringify({ file: example }),
    }));
  }
}
