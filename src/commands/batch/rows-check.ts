import type { PriceList } from '../../config/prices';
import { parseBudget } from '../../contract/batch/batch-input';
import type { InputValue } from '../../contract/task-input';
import {
  type BatchPrices,
  budgetProblem,
  defaultAccount,
  noSpending,
  PriceCheck,
  viewBudget,
} from '../../money/batch-budget';
import { formatRowPlace, pickPlace, type RowPlace } from '../../core/batch/row-place';
import { dailyBudgetProblem } from '../../money/day-operations';
import type { Money, Prices } from '../../money/money';
import { safeText } from '../../core/text';
import { isUri } from '../../core/uri';
import { inspectInputFile, type PreparedRow, type RowSinks, type RowsReport } from '../../rows';
import { fit } from '../terminal';
import type { BatchSettings } from './batch-settings';
import type { FileEstimate } from './file-estimate';
import type { EmitEvent } from './follow-batch';
import type { RecordLookup } from './record-lookup';
import { ProblemGroups } from './row-problems';
/** It has checked the budget with the prices of its own file. */
const thisCommand = ' and of this command';

/** One check of a row file: emits problems as they are found, and collects what the report shows. */
export class RowsCheck {
  /** For `checkRows` and `prepareRows`. */
  readonly sinks: RowSinks;
  readonly #settings: BatchSettings;
  readonly #first: number | undefined;
  /** Null when this command knows no prices. */
  readonly #prices: PriceCheck | null;
  /** The same of the rows that the run would start. */
  readonly #pricesToPay: PriceCheck | null;
  readonly #dailyBudgets: DailyBudgetCheck | null;
  readonly #lookup: RecordLookup | null;
  #firstRow: PreparedRow | undefined;
  readonly #problems = new ProblemGroups();
  /** Of the good rows, with `--first`. */
  readonly keys = new Set<string>();
  /** Good rows of each app. */
  readonly rowsByApp = new Map<number, number>();
  /** Those of them that the run would start; all of them where that is not known. */
  readonly rowsToRun = new Map<number, number>();

  constructor(
    settings: BatchSettings,
    first: number | undefined,
    emit: EmitEvent,
    {
      prices = null,
      lookup = null,
    }: { readonly prices?: KnownPrices | null; readonly lookup?: RecordLookup | null } = {},
  ) {
    this.#lookup = lookup;
    this.#dailyBudgets = prices === null ? null : new DailyBudgetCheck(prices);
    this.#prices = prices === null ? null : new PriceCheck(prices, Date.now());
    this.#pricesToPay = prices === null ? null : new PriceCheck(prices, Date.now());
    this.#settings = settings;
    this.#first = first;
    this.sinks = {
      maxProblems: 0,
      maxGoodRows: first,
      onRow: async (row) => {
        this.#firstRow ??= row;
        if (first !== undefined) this.keys.add(row.key);
        this.#prices?.add(row);
        if ((await this.#lookup?.add(row)) ?? true) {
          this.#pricesToPay?.add(row);
          countApp(this.rowsToRun, row);
        }
        this.#dailyBudgets?.add(row);
        countApp(this.rowsByApp, row);
      },
      onProblem: (problem) => {
        const { key = null, code, field, value, message } = problem;
        emit('problem', { ...pickPlace(problem), key, code, field, value, message });
        this.#problems.add(problem);
      },
    };
  }

  /** Why the rows cannot be run with the budgets; undefined when they can, as far as this command knows prices. */
  get budgetProblem(): string | undefined {
    const budget = parseBudget(this.#settings.input.budget);
    const problem =
      budget && this.#prices ? budgetProblem(budget, this.#prices.result(), undefined, thisCommand) : undefined;
    return problem ?? this.#dailyBudgets?.problem;
  }

  /** What was found, after the last row. */
  async checked(report: RowsReport, estimate: FileEstimate | null = null): Promise<CheckedRows> {
    const { input, outputs } = this.#settings;
    const onRecord = this.#lookup?.result(isWhole(this.#first, report)) ?? null;
    const isRefused = onRecord !== null && !('unknown' in onRecord) && onRecord.refused !== null;
    return {
      source: input.source ?? '',
      batchId: input.id,
      outputs,
      report,
      first: this.#first ?? null,
      firstRow: this.#firstRow === undefined ? null : await shownRow(this.#firstRow),
      problemLines: this.#problems.lines(),
      onRecord,
      isRefused,
      // A run that is refused costs nothing.
      estimate: isRefused ? null : estimate,
      rowsToRun: [...this.rowsToRun.values()].reduce((sum, rows) => sum + rows, 0),
      isRecordKnown: this.#lookup?.isKnown ?? false,
      ...this.#costs(parseBudget(input.budget) ?? null, isRefused),
    };
  }

  #costs(
    budget: Money | null,
    isRefused: boolean,
  ): Pick<CheckedRows, 'budget' | 'spent' | 'fixedCosts' | 'rowsWithinBudget' | 'unpricedRows'> {
    const toPay = isRefused ? undefined : this.#pricesToPay?.result();
    // Where no price is known at all, there is nothing to say of single rows.
    const isPriced = toPay !== undefined && Object.keys(toPay.currencies).length > 0;
    const unpricedRows = isPriced && toPay.unpriced > 0 ? toPay : null;
    const fixedCosts = isRefused ? null : (this.#pricesToPay?.fixedCosts ?? null);
    const spending = this.#lookup?.spending ?? null;
    const prices = this.#prices?.result();
    if (budget === null) return { budget, spent: null, fixedCosts, rowsWithinBudget: null, unpricedRows };
    const view = viewBudget(budget, prices ?? noPrices, spending ?? noSpending, 0);
    const spent = spending === null ? null : view.settled;
    const rowsWithinBudget = fixedCosts === null ? null : view.places;
    return { budget, spent, fixedCosts, rowsWithinBudget, unpricedRows };
  }
}

/** Whether the file was read to its end. Of one that was not it is not known which rows it no longer has. */
export function isWhole(first: number | undefined, { goodRows }: RowsReport): boolean {
  return first === undefined || goodRows < first;
}

const noPrices: BatchPrices = { unpriced: 0, firstUnpriced: null, currencies: {} };

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
  /** For people. */
  readonly problemLines: readonly string[];
  /** Null when that was not asked for. */
  readonly onRecord: ReturnType<RecordLookup['result']> | null;
  /** Whether the run refuses the file, because rows changed under their keys or have other keys than on record. */
  readonly isRefused: boolean;
  /** Null when none was asked for, and where the run is refused. */
  readonly estimate: FileEstimate | null;
  /** So many rows the run would start; all good ones where that is not known. */
  readonly rowsToRun: number;
  readonly isRecordKnown: boolean;
  /** What the batch may cost; null: no limit. */
  readonly budget: Money | null;
  /** What of the budget the rows on record have taken; null where that is not known, and without a budget. */
  readonly spent: Money | null;
  /** What the rows that the run would start cost together, where this command knows the price of each and none depends on a time; else null. */
  readonly fixedCosts: readonly Money[] | null;
  /** Rows that the run would start and whose price is not known, where that of others is; null when there are none. */
  readonly unpricedRows: BatchPrices | null;
  /** How many rows the budget lets start at fixed prices; null without either. */
  readonly rowsWithinBudget: number | null;
}

/** Counts a row for its app. */
export function countApp(rowsByApp: Map<number, number>, { input: { webAppId } }: PreparedRow): void {
  rowsByApp.set(webAppId, (rowsByApp.get(webAppId) ?? 0) + 1);
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
  readonly account: string;
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
    account: input.account ?? defaultAccount,
    inputs: await Promise.all(inputs.slice(0, maxShownInputs).map(([name, value]) => shownInput(name, value))),
    moreInputs: Math.max(0, inputs.length - maxShownInputs),
  };
}

async function shownInput(key: string, value: InputValue): Promise<ShownInput> {
  if (typeof value === 'number') return { key, kind: 'number', value: String(value) };
  if (typeof value === 'string') return { key, kind: 'text', value: fit(safeText(value), maxShownLength) };
  const { file, as = 'url' } = value;
  const bytes = isUri(file) ? undefined : await inspectInputFile(file, '');
  return { key, kind: 'file', value: safeText(file), bytes: typeof bytes === 'number' ? bytes : undefined, as };
}

/** Prices as the command knows them. */
export type KnownPrices = Prices & Partial<Pick<PriceList, 'dailyBudgets'>>;

/** Finds rows that no worker with these prices would create: their account has a daily budget, and they no price for it. */
class DailyBudgetCheck {
  readonly #prices: KnownPrices;
  readonly #checked = new Set<string>();
  /** Of the first of them. */
  problem: string | undefined;

  constructor(prices: KnownPrices) {
    this.#prices = prices;
  }

  add({ input: { account = defaultAccount, webAppId }, ...place }: PreparedRow): void {
    const limit = this.#prices.dailyBudgets?.get(account);
    const name = `${webAppId} ${account}`;
    if (limit === undefined || this.#checked.has(name)) return;
    this.#checked.add(name);
    const currency = this.#prices.find(account, webAppId, Date.now())?.currency;
    const found = dailyBudgetProblem({ account, webAppId }, limit, currency);
    if (found !== undefined) this.problem ??= `In ${formatRowPlace(place)}: ${found}`;
  }
}
