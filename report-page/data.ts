import type { ReportCost, ReportFacts, ReportFile, ReportRow } from '../src/archive/report/report-data';

export type State = ReportRow['state'];
export type Kind = 'picture' | 'video' | 'audio' | 'file';
export type Order = 'line' | 'slowest' | 'dearest' | 'latest' | 'key';

/** Which rows are shown, and in which order. */
export interface Selection {
  readonly text: string;
  readonly state: State | 'all';
  /** A failure's type and message, as `failureKey` puts them together; null for any. */
  readonly failure: string | null;
  readonly order: Order;
}

/** Rows that failed in the same way. */
export interface FailureGroup {
  readonly key: string;
  readonly type: string;
  readonly message: string;
  readonly count: number;
}

export const states: readonly State[] = ['Success', 'Failed', 'Canceled', 'NotStarted'];
export const stateNames: Readonly<Record<State, string>> = {
  Success: 'Succeeded',
  Failed: 'Failed',
  Canceled: 'Canceled',
  NotStarted: 'Not started',
};

const kinds: readonly (readonly [Kind, RegExp])[] = [
  ['picture', /\.(?:png|jpe?g|gif|webp|avif|svg|bmp|ico)$/i],
  ['video', /\.(?:mp4|webm|mov|m4v|ogv)$/i],
  ['audio', /\.(?:mp3|wav|ogg|flac|m4a|aac|opus)$/i],
];

export function kindOf({ name }: ReportFile): Kind {
  return kinds.find(([, names]) => names.test(name))?.[0] ?? 'file';
}

/** The name of a file that a click saves: what may hold scripts is not opened. */
export function savedAs({ name }: ReportFile): string | undefined {
  return /\.(?:[a-z]*html?|svgz?|xml|xsl|js|mjs)$/i.test(name) ? name : undefined;
}

/** Reads what the file itself carries. */
export function readData(): { readonly facts: ReportFacts; readonly rows: readonly ReportRow[] } {
  const text = (id: string): string => document.getElementById(id)?.textContent ?? 'null';
  return {
    facts: JSON.parse(text('facts')) as ReportFacts,
    rows: JSON.parse(text('rows')) as ReportRow[],
  };
}

export function durationMs({ startedMs, endedMs }: ReportRow): number | null {
  return startedMs === null || endedMs === null ? null : Math.max(0, endedMs - startedMs);
}

// Ids, counts and times make messages differ that mean the same.
const particulars = /"[^"]*"|[0-9a-f]{8}-[0-9a-f-]{27}|\d+(?:[.,]\d+)*/gi;

function failureKey({ type, message }: { readonly type: string; readonly message: string }): string {
  return `${type}\n${message.replace(particulars, '…')}`;
}

/** Most frequent first. */
export function groupFailures(rows: readonly ReportRow[]): readonly FailureGroup[] {
  const groups = new Map<string, FailureGroup>();
  for (const { failure } of rows) {
    if (failure === null) continue;
    const key = failureKey(failure);
    const group = groups.get(key) ?? { key, ...failure, count: 0 };
    groups.set(key, { ...group, count: group.count + 1 });
  }
  return [...groups.values()].sort((one, other) => other.count - one.count);
}

/** What rows cost that brought no result, attempts before the one that did included. */
export function sumLostCosts(rows: readonly ReportRow[]): readonly ReportCost[] {
  return sumCosts(rows.map((row) => ({ ...row, cost: row.lostCost }))).sums;
}

/** In each currency. */
export function sumCosts(rows: readonly Pick<ReportRow, 'cost' | 'requestId'>[]): {
  readonly sums: readonly ReportCost[];
  readonly unknown: number;
} {
  const sums = new Map<string, number>();
  let unknown = 0;
  for (const { cost, requestId } of rows) {
    if (cost !== null) sums.set(cost[0], (sums.get(cost[0]) ?? 0) + cost[1]);
    else if (requestId !== null) unknown += 1;
  }
  return { sums: [...sums].sort(([one], [other]) => (one < other ? -1 : 1)), unknown };
}

const comparisons: Readonly<Record<Order, (one: ReportRow, other: ReportRow) => number>> = {
  line: (one, other) => one.line - other.line,
  key: (one, other) => one.key.localeCompare(other.key, 'en', { numeric: true }),
  slowest: (one, other) => (durationMs(other) ?? -1) - (durationMs(one) ?? -1),
  dearest: (one, other) => (other.cost?.[1] ?? -1) - (one.cost?.[1] ?? -1),
  latest: (one, other) => (other.endedMs ?? -1) - (one.endedMs ?? -1),
};

export function selectRows(
  rows: readonly ReportRow[],
  { text, state, failure, order }: Selection,
): readonly ReportRow[] {
  const wanted = text.trim().toLowerCase();
  const isWanted = (row: ReportRow): boolean =>
    (state === 'all' || row.state === state) &&
    (failure === null || (row.failure !== null && failureKey(row.failure) === failure)) &&
    (wanted === '' || searchText(row).includes(wanted));
  return rows.filter(isWanted).sort(comparisons[order]);
}

const searchTexts = new WeakMap<ReportRow, string>();

function searchText(row: ReportRow): string {
  let text = searchTexts.get(row);
  if (text === undefined) {
    const { key, line, sheetRow, requestId, failure, files, cells } = row;
    const place = sheetRow === undefined ? `line ${line}` : `row ${sheetRow}\nline ${line}`;
    const named = [...files.map(({ name }) => name), ...cells.map(([, value]) => value)];
    const words = [key, place, requestId, failure?.type, failure?.message, ...named];
    text = words.join('\n').toLowerCase();
    searchTexts.set(row, text);
  }
  return text;
}

/** The value that so many of 100 do not exceed; null of none. */
export function percentile(values: readonly number[], percent: number): number | null {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)] ?? null;
}

/** From the first start to the last end, and how many files there are. */
export function totals(rows: readonly ReportRow[]): {
  startedMs: number | null;
  endedMs: number | null;
  files: number;
} {
  let startedMs: number | null = null;
  let endedMs: number | null = null;
  let files = 0;
  for (const row of rows) {
    files += row.fileCount;
    if (row.startedMs !== null) startedMs = Math.min(startedMs ?? Infinity, row.startedMs);
    if (row.endedMs !== null) endedMs = Math.max(endedMs ?? 0, row.endedMs);
  }
  return { startedMs, endedMs, files };
}
