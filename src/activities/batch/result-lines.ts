import { stringify } from 'csv-stringify/sync';
import type { RowOutput, RowStatus } from '../../contract/batch-rows';
import { rowWorkflowId } from '../../contract/workflow-ids';
import type { JoinedRow } from './joined-rows';

/** One line of `results.jsonl`. */
export interface ResultLine {
  /** As the row gave it. */
  readonly key: string;
  readonly line: number;
  readonly status: RowStatus | 'NotStarted';
  readonly workflowId: string;
  readonly requestId: string | null;
  readonly failure: { readonly type: string; readonly message: string } | null;
  readonly outputs: readonly RowOutput[];
  /** All of them; `outputs` has the first 20, the manifest every one. */
  readonly outputCount: number;
  /** Outputs that the service reports as failed; the manifest tells each. */
  readonly failedOutputCount: number;
  readonly manifest: string | null;
  /** ISO-8601; null for a row that was never started. */
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly seconds: number | null;
}

/** Between the paths of one cell. No name in an archive has one. */
const pathSeparator = '|';

const csvColumns = [
  ...['key', 'line', 'status', 'request_id', 'failure_type', 'failure'],
  ...['outputs', 'manifest', 'started_at', 'ended_at', 'seconds', 'failed_outputs'],
];

/** A row of the batch as its result files tell it. */
export function resultLine(batchId: string, { row, record }: JoinedRow): ResultLine {
  return {
    key: row.originalKey ?? row.key,
    line: row.line,
    status: record?.status ?? 'NotStarted',
    workflowId: rowWorkflowId(batchId, row.key),
    requestId: record?.requestId ?? null,
    failure: record?.failure ?? null,
    outputs: record?.outputs ?? [],
    outputCount: record?.outputCount ?? 0,
    failedOutputCount: record?.failedOutputCount ?? 0,
    manifest: record?.manifest ?? null,
    startedAt: record?.startedAt ?? null,
    endedAt: record?.endedAt ?? null,
    seconds: record === undefined ? null : (Date.parse(record.endedAt) - Date.parse(record.startedAt)) / 1_000,
  };
}

/** Lines of `results.jsonl`. */
export function jsonlText(lines: readonly ResultLine[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** The first line of `results.csv`. */
export function csvHead(): string {
  return stringify([csvColumns]);
}

/** Lines of `results.csv`, quoted as RFC 4180 has it, and of texts only. */
export function csvText(lines: readonly ResultLine[]): string {
  return stringify(
    lines.map(({ key, line, status, requestId, failure, outputs, manifest, startedAt, endedAt, ...more }) => [
      ...[plainCell(key), line, status, plainCell(requestId), plainCell(failure?.type), plainCell(failure?.message)],
      ...[plainCell(outputs.map(({ path }) => path).join(pathSeparator)), plainCell(manifest)],
      ...[startedAt, endedAt, more.seconds, more.failedOutputCount],
    ]),
  );
}

const formula = /^'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;
const plainNumber = /^[+-]?\d+(?:[.,]\d+)?$/;

/**
 * A cell that no spreadsheet takes for a formula: what would begin one gets an apostrophe in front, and so does what has
 * apostrophes before it already. To have the text back, take one away where what follows is such a text. Numbers stay.
 *
 * @internal exported for tests
 */
export function plainCell(text: string | null | undefined): string | null {
  if (text == null) return null;
  return formula.test(text) && !plainNumber.test(text) ? `'${text}` : text;
}
