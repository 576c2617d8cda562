import type { PriceList } from '../../config/prices';
import { parseBudget } from '../../contract/batch/batch-input';
import type { InputValue } from '../../contract/task-input';
import { formatRowPlace, pickPlace } from '../../core/batch/row-place';
import { safeText } from '../../core/text';
import { isUri } from '../../core/uri';
import {
  type BatchPrices,
  budgetProblem,
  defaultAccount,
  noSpending,
  PriceCheck,
  viewBudget,
} from '../../money/batch-budget';
import { dailyBudgetProblem } from '../../money/day-operations';
import type { Money, Prices } from '../../money/money';
import { inspectInputFile, type PreparedRow, type RowSinks, type RowsReport } from '../../rows';
import { fit } from '../terminal';
import type { BatchSettings } from './batch-settings';
import type { FileEstimate } from './file-estimate';
import type { EmitEvent } from './follow-batch';
import type { RecordLookup } from './record-lookup';
import { ProblemGroups } from './row-problems';

export type KnownPrices = Prices & Partial<Pick<PriceList, 'dailyBudgets'>>;

export interface CheckedRows {
  readonly source: string;
  readonly batchId: string;
  /** Folder in the archive. */
  readonly outputs: string;
  readonly report: RowsReport;
  /** Read up to this many good rows; null: all of them. */
  readonly first: number | null;
  /** Null when there is none. */
  readonly firstRow: ShownRow | null;
  readonly problemLines: readonly string[];
  /** Null when not asked for. */
  readonly onRecord: ReturnType<RecordLookup['result']> | null;
  readonly isRecordKnown: boolean;
  /** Whether the run refuses the file: rows changed under their keys, or have other keys than on record. */
  readonly isRefused: boolean;
  /** Null when not asked for, and where the run is refused. */
  readonly estimate: FileEstimate | null;
  /** Good rows to start; all of them where that is not known. */
  readonly rowsToRun: number;
  /** Null: no limit. */
  readonly budget: Money | null;
  /** What the rows on record took of it; null where that is not known, and without a budget. */
  readonly spent: Money | null;
  /** Of the rows to run; null where one has no known, fixed price. */
  readonly fixedCosts: readonly Money[] | null;
  /** Rows to run whose price is not known, where that of others is; null when there are none. */
  readonly unpricedRows: BatchPrices | null;
  /** How many rows the budget lets start at fixed prices; null without either. */
  readonly rowsWithinBudget: number | null;
}

/** Emits problems as they are found, and collects what the report shows. */
export class RowsCheck {
  readonly sinks: RowSinks;
  /** Of the good rows, with `--first`. */
  readonly keys = new Set<string>();
  /** Good rows by app. */
  readonly rowsByApp = new Map<number, number>();
  /** Those to start; all of them where that is not known. */
  readonly rowsToRun = new Map<number, number>();
  readonly #settings: BatchSettings;
  readonly #first: number | undefined;
  /** Null when no prices are known. */
  readonly #prices: KnownPrices | null;
  readonly #lookup: RecordLookup | null;
  readonly #allPrices: PriceCheck;
  /** Of the rows to start. */
  readonly #pricesToPay: PriceCheck;
  readonly #problems = new ProblemGroups();
  #firstRow: PreparedRow | undefined;
  /** Of the first row that no worker with these prices would create. */
  #dailyProblem: string | undefined;

  constructor(
    settings: BatchSettings,
    first: number | undefined,
    emit: EmitEvent,
    known: { readonly prices?: KnownPrices | null; readonly lookup?: RecordLookup | null } = {},
  ) {
    this.#settings = settings;
    this.#first = first;
    this.#prices = known.prices ?? null;
    this.#lookup = known.lookup ?? null;
    this.#allPrices = new PriceCheck(this.#prices ?? undefined, Date.now());
    this.#pricesToPay = new PriceCheck(this.#prices ?? undefined, Date.now());
    this.sinks = {
      maxProblems: 0,
      maxGoodRows: first,
      onRow: (row) => this.#add(row),
      onProblem: (problem) => {
        const { key = null, code, field, value, message } = problem;
        emit('problem', { ...pickPlace(problem), key, code, field, value, message });
        this.#problems.add(problem);
      },
    };
  }

  async #add(row: PreparedRow): Promise<void> {
    this.#firstRow ??= row;
    if (this.#first !== undefined) this.keys.add(row.key);
    this.#allPrices.add(row);
    this.#dailyProblem ??= this.#findDailyProblem(row);
    countApp(this.rowsByApp, row);
    if ((await this.#lookup?.add(row)) === false) return;
    this.#pricesToPay.add(row);
    countApp(this.rowsToRun, row);
  }

  #findDailyProblem({ input: { account = defaultAccount, webAppId }, ...place }: PreparedRow): string | undefined {
    const limit = this.#prices?.dailyBudgets?.get(account);
    if (limit === undefined) return undefined;
    const currency = this.#prices?.find(account, webAppId, Date.now())?.currency;
    const found = dailyBudgetProblem({ account, webAppId }, limit, currency);
    return found && `In ${formatRowPlace(place)}: ${found}`;
  }

  /** Undefined when the rows can be run with the budgets, as far as prices are known. */
  get budgetProblem(): string | undefined {
    const budget = this.#prices === null ? undefined : parseBudget(this.#settings.input.budget);
    const problem = budget && budgetProblem(budget, this.#allPrices.result(), noSpending, ' and of this command');
    return problem ?? this.#dailyProblem;
  }

  /** Called after the last row. */
  async checked(report: RowsReport, estimate: FileEstimate | null = null): Promise<CheckedRows> {
    const { input, outputs } = this.#settings;
    const onRecord = this.#lookup?.result(isWhole(this.#first, report)) ?? null;
    const isRefused = onRecord !== null && !('unknown' in onRecord) && onRecord.refused !== null;
    // A refused run costs nothing. Where no price is known at all, there is nothing to say of single rows.
    const toPay = isRefused ? null : this.#pricesToPay.result();
    const isPartlyPriced = toPay !== null && toPay.unpriced > 0 && Object.keys(toPay.currencies).length > 0;
    const fixedCosts = isRefused ? null : this.#pricesToPay.fixedCosts;
    const budget = parseBudget(input.budget) ?? null;
    const spending = this.#lookup?.spending ?? null;
    const view = budget && viewBudget(budget, this.#allPrices.result(), spending ?? noSpending, 0);
    return {
      source: input.source ?? '',
      batchId: input.id,
      outputs,
      report,
      first: this.#first ?? null,
      firstRow: this.#firstRow === undefined ? null : await shownRow(this.#firstRow),
      problemLines: this.#problems.lines(),
      onRecord,
      isRecordKnown: this.#lookup?.isKnown ?? false,
      isRefused,
      estimate: isRefused ? null : estimate,
      rowsToRun: [...this.rowsToRun.values()].reduce((sum, rows) => sum + rows, 0),
      budget,
      spent: view === null || spending === null ? null : view.settled,
      fixedCosts,
      unpricedRows: isPartlyPriced ? toPay : null,
      rowsWithinBudget: view === null || fixedCosts === null ? null : view.places,
    };
  }
}

/** Of a file that was not read to its end, it is not known which rows it no longer has. */
export function isWhole(first: number | undefined, { goodRows }: RowsReport): boolean {
  return first === undefined || goodRows < first;
}

export function countApp(rowsByApp: Map<number, number>, { input: { webAppId } }: PreparedRow): void {
  rowsByApp.set(webAppId, (rowsByApp.get(webAppId) ?? 0) + 1);
}

const maxShownInputs = 10;
const maxShownLength = 100;

export type ShownRow = Awaited<ReturnType<typeof shownRow>>;
/** `bytes`: of a file of this machine. `as`: the form in which the app gets it. */
export type ShownInput = ShownRow['inputs'][number];

async function shownRow({ key, originalKey, input, ...place }: PreparedRow) {
  const inputs = Object.entries(input.inputs);
  return {
    ...pickPlace(place),
    key: originalKey ?? key,
    webAppId: input.webAppId,
    account: input.account ?? defaultAccount,
    inputs: await Promise.all(inputs.slice(0, maxShownInputs).map(([name, value]) => shownInput(name, value))),
    moreInputs: Math.max(0, inputs.length - maxShownInputs),
  };
}

async function shownInput(key: string, value: InputValue) {
  if (typeof value === 'number') return { key, kind: 'number', value: String(value) } as const;
  if (typeof value === 'string') return { key, kind: 'text', value: fit(safeText(value), maxShownLength) } as const;
  const { file, as = 'url' } = value;
  const bytes = isUri(file) ? undefined : await inspectInputFile(file, '');
  const size = typeof bytes === 'number' ? bytes : undefined;
  return { key, kind: 'file', value: safeText(file), bytes: size, as } as const;
}
