import type { MetricMeter } from '@temporalio/common';

/** One metric as dashboards and alerts know it: its name is durable. `docs/reference/metrics.md` lists them all. */
export interface Metric<
  Kind extends 'counter' | 'histogram' | 'gauge' = 'counter' | 'histogram' | 'gauge',
  Label extends string = string,
> {
  /** Temporal's meter appends `_total` to that of a counter, and its unit to that of a histogram. */
  readonly name: string;
  readonly kind: Kind;
  readonly unit: '' | 'seconds';
  readonly help: string;
  /** None of them is an id: each has few values. */
  readonly labels: readonly Label[];
  /** Upper bounds of a histogram's buckets, in its unit. */
  readonly buckets?: readonly number[];
}

const waits = [0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 14_400, 86_400];
const transfers = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 3_600];

function metricOf<const Kind extends Metric['kind']>(kind: Kind, unit: Metric['unit'] = '') {
  return <const Label extends string>(
    name: string,
    help: string,
    labels: readonly Label[],
    buckets?: readonly number[],
  ): Metric<Kind, Label> => ({ name, kind, unit, help, labels, buckets });
}
const counter = metricOf('counter');
const histogram = metricOf('histogram', 'seconds');
const gauge = metricOf('gauge');

export const metrics = {
  taskEnds: counter('longhaul_task_ends', 'Tasks that ended: `Success`, `Canceled`, or the type of their failure.', [
    'account',
    'end',
  ]),
  taskState: histogram('longhaul_task_state_duration', 'How long a task was in a state.', ['state'], waits),
  endNotice: histogram(
    'longhaul_task_end_notice',
    'From the end of a task at the service, by its clock, until Longhaul knew of it.',
    ['watch'],
    waits,
  ),
  creates: counter(
    'longhaul_creates',
    'Attempts to create a task: `accepted`, `rejected`, `uncertain`, `not_sent`, or `retried`: held back, or refused for now.',
    ['account', 'outcome'],
  ),
  createsHeldBack: gauge(
    'longhaul_creates_held_back',
    'Creates that wait in this worker for their turn, for up to 2 s; those that wait longer wait in Temporal and are not counted.',
    ['account'],
  ),
  limiterClosed: gauge(
    'longhaul_create_limiter_closed',
    '1 while creates of an account are refused. `account`: balance, suspension, key or permission; `busy`: the service asks to wait; `service`: anything else.',
    ['account', 'cause'],
  ),
  keyRefused: gauge(
    'longhaul_key_refused',
    '1 while the service refuses the API key of an account (401 or 403), by its last answer to this worker, else 0.',
    ['account'],
  ),
  polls: counter(
    'longhaul_polls',
    'Queries for the state of a task: `answered`, `failed`, or `unknown_state`: answered in a word that is no known state.',
    ['account', 'outcome'],
  ),
  uploadBytes: counter('longhaul_uploaded_bytes', 'Bytes of inputs that were uploaded.', ['account']),
  uploads: histogram('longhaul_upload_duration', 'How long the upload of an input took.', ['account'], transfers),
  archiveBytes: counter('longhaul_archived_bytes', 'Bytes of outputs that were archived.', ['account']),
  archives: histogram('longhaul_archive_duration', 'How long the archive of a task took.', ['account'], transfers),
  expiryMargin: histogram(
    'longhaul_archive_expiry_margin',
    'Time left, when a task was archived, before the service deletes its results.',
    ['account'],
    [60, 600, 3_600, 21_600, 86_400, 259_200, 604_800],
  ),
  expiring: gauge(
    'longhaul_results_expiring',
    'Tasks whose archive failed in this worker, that run still, and whose results the service deletes within six hours.',
    ['account'],
  ),
  callbacks: counter(
    'longhaul_callbacks',
    'Requests that the receiver answered, by what came of them, such as `signaled`, `wrong token` or `not taken by Temporal`.',
    ['outcome'],
  ),
  cost: counter('longhaul_cost_micros', 'Cost of tasks that ended, in millionths of the currency’s unit.', [
    'account',
    'currency',
    'end',
  ]),
  webhooks: counter(
    'longhaul_webhooks',
    'Attempts to deliver a webhook: `delivered`, `refused` (no 2xx), `unreachable`, `gone` (410), `unknown` (not configured), `given_up`.',
    ['webhook', 'outcome'],
  ),
  ready: gauge(
    'longhaul_ready',
    '1 while a part that the process needs can be used (`temporal`; of a worker also `archive`), else 0.',
    ['part'],
  ),
  replays: counter(
    'longhaul_replays',
    'Replays of workflows that the worker did not have in its cache; `slow`: `yes` for one that took longer than a second.',
    ['slow'],
  ),
  clockApart: gauge('longhaul_clock_apart_seconds', 'How far the clock of a worker is from that of Temporal.', []),
  rowEnds: counter('longhaul_row_ends', 'Rows of batches that ended.', ['status']),
  rowsLate: gauge(
    'longhaul_rows_late',
    'Rows of running batches that are at the service for five times as long as others of their batch took.',
    [],
  ),
  stuck: gauge(
    'longhaul_workflows_stuck',
    'Tasks and batches whose workflow tasks fail (`failed`) or time out (`timed_out`), several times in a row.',
    ['problem'],
  ),
  unserved: gauge(
    'longhaul_workflows_unserved',
    'Running tasks and batches that are pinned to a version of which no worker polls.',
    [],
  ),
  batchesAtBudget: gauge(
    'longhaul_batches_at_budget',
    'Batches that start no rows because of their budget or their account’s daily budget.',
    [],
  ),
  notSafe: gauge(
    'longhaul_not_safe',
    'What the last scheduled sweep found not safe and left so, such as `running` or `notArchived`.',
    ['kind'],
  ),
  sweepDue: gauge(
    'longhaul_sweep_due_timestamp_seconds',
    'When the next scheduled sweep must have ended, in seconds since 1970; 0 if none is scheduled.',
    [],
  ),
  waitForPerson: gauge('longhaul_tasks_waiting_for_person', 'Tasks that wait for a decision.', ['status']),
} as const;

type LabelsOf<M> = M extends Metric<Metric['kind'], infer Label> ? Readonly<Record<Label, string>> : never;

/** Cheap; does nothing while metrics are off or a workflow is replayed. */
export function count<M extends Metric<'counter'>>(meter: MetricMeter, metric: M, labels: LabelsOf<M>, by = 1): void {
  if (by > 0) meter.createCounter(metric.name, metric.unit, metric.help).add(by, labels);
}

export function record<M extends Metric<'histogram'>>(
  meter: MetricMeter,
  metric: M,
  labels: LabelsOf<M>,
  value: number,
): void {
  const instrument = meter.createHistogram(metric.name, 'float', metric.unit, metric.help);
  instrument.record(Math.max(0, value), labels);
}

export function setGauge<M extends Metric<'gauge'>>(
  meter: MetricMeter,
  metric: M,
  labels: LabelsOf<M>,
  value: number,
): void {
  meter.createGauge(metric.name, 'int', metric.unit, metric.help).set(value, labels);
}

export type ReplaySinks = Readonly<Record<'longhaulReplays', { readonly ended: (tookMs: number) => void }>>;
