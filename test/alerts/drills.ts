/** A gauge's value, or by how much a counter grows in 15 s; null: there is no such series. */
export type Value = number | { readonly grows: number } | null;
type Series = Readonly<Record<string, Value>>;

export interface Drill {
  readonly name: string;
  /** What is otherwise than in {@link healthy} while the trouble lasts. */
  readonly ill: Series;
  /** Exactly these fire. */
  readonly alerts: readonly string[];
  /** How long the trouble lasts, in minutes. @default {@link usualMin} */
  readonly lastsMin?: number;
  /** After at most so many minutes they fire. @default 2 */
  readonly withinMin?: number;
  /** So many minutes after the trouble they have ended. @default 3 */
  readonly endsMin?: number;
}

/** Longer than a target that vanishes is there. */
export const usualMin = 20;

const counter = (grows: number): Value => ({ grows });
const worker = 'instance="w1",';
const temporal = 'instance="w1",namespace="default",task_queue="longhaul"';
const bucket = (le: string): string =>
  `temporal_workflow_task_schedule_to_start_latency_seconds_bucket{${temporal},le="${le}"}`;
const slots = `temporal_worker_task_slots_available{${temporal},worker_type="ActivityWorker"}`;
const pollers = `temporal_num_pollers{${temporal},poller_type="workflow_task"}`;
const failedTasks = `temporal_workflow_task_execution_failed_total{${temporal},workflow_type="task",failure_reason="NonDeterminismError"}`;
const up = `up{${worker}job="longhaul"}`;
const ready = (part: string): string => `longhaul_ready{${worker}part="${part}"}`;
const ofAccount = (name: string, label = ''): string => `${name}{${worker}account="studio"${label}}`;
const closed = (cause: string): string => ofAccount('longhaul_create_limiter_closed', `,cause="${cause}"`);
const polls = (outcome: string): string => ofAccount('longhaul_polls_total', `,outcome="${outcome}"`);
const ends = (end: string): string => ofAccount('longhaul_task_ends_total', `,end="${end}"`);
const waiting = (status: string): string => `longhaul_tasks_waiting_for_person{${worker}status="${status}"}`;
const notSafe = (kind: string): string => `longhaul_not_safe{${worker}kind="${kind}"}`;
const stuck = (problem: string): string => `longhaul_workflows_stuck{${worker}problem="${problem}"}`;
const keyRefused = ofAccount('longhaul_key_refused');
const expiring = ofAccount('longhaul_results_expiring');
const single = (name: string): string => `${name}{${worker.slice(0, -1)}}`;
const callbacks = (outcome: string): string => `longhaul_callbacks_total{instance="r1",outcome="${outcome}"}`;
const webhooks = (outcome: string): string => `longhaul_webhooks_total{${worker}webhook="orders",outcome="${outcome}"}`;
const replays = (slow: string): string => `longhaul_replays_total{${worker}slow="${slow}"}`;
const refused = `temporal_request_failure_total{${temporal},operation="PollWorkflowTaskQueue",status_code="RESOURCE_EXHAUSTED"}`;

/** What one worker and one receiver export when all is well. */
export const healthy: Series = {
  [up]: 1,
  'up{instance="r1",job="longhaul"}': 1,
  'up{instance="r1",job="another"}': 0,
  [ready('temporal')]: 1,
  [ready('archive')]: 1,
  [waiting('CreateUncertain')]: 0,
  [waiting('ArchiveIncomplete')]: 0,
  [notSafe('running')]: 0,
  [notSafe('lost')]: 3,
  [stuck('failed')]: 0,
  [stuck('timed_out')]: 0,
  [single('longhaul_rows_late')]: 0,
  [single('longhaul_workflows_unserved')]: 0,
  [single('longhaul_clock_apart_seconds')]: 1,
  [single('longhaul_batches_at_budget')]: 0,
  // No sweep is scheduled.
  [single('longhaul_sweep_due_timestamp_seconds')]: 0,
  [expiring]: 0,
  [closed('service')]: 0,
  [closed('busy')]: 0,
  [closed('account')]: 0,
  [keyRefused]: 0,
  [polls('answered')]: counter(60),
  [polls('failed')]: counter(20),
  [polls('unknown_state')]: counter(0),
  [ends('Success')]: counter(5),
  [ends('TaskFailed')]: counter(1),
  [callbacks('signaled')]: counter(5),
  [callbacks('another path')]: counter(5),
  // What a doctor asks.
  [callbacks('no token')]: counter(1),
  [webhooks('delivered')]: counter(5),
  [webhooks('refused')]: counter(1),
  [pollers]: 2,
  [slots]: 1,
  // All slots for uploads in use is what a batch of large files does.
  [slots.replace('"longhaul"', '"longhaul-transfer"')]: 0,
  [replays('no')]: counter(0),
  [replays('yes')]: counter(0),
  [`temporal_sticky_cache_size{${temporal}}`]: 20,
  [failedTasks]: counter(0),
  [refused]: counter(0),
  [refused.replace('RESOURCE_EXHAUSTED', 'NOT_FOUND')]: counter(1),
  [bucket('1')]: counter(10),
  [bucket('10')]: counter(10),
  [bucket('+Inf')]: counter(10),
};

const noAnswers = { [polls('answered')]: counter(0), [polls('failed')]: counter(80) };
const nothingOfTheWorker = Object.fromEntries(
  Object.keys(healthy).map((series) => [series, series.includes('w1') ? null : (healthy[series] ?? null)]),
);

/** The troubles of a night, as an operator's metrics have them. */
export const drills: readonly Drill[] = [
  {
    name: 'the reply to a create is lost',
    ill: { [waiting('CreateUncertain')]: 1 },
    alerts: ['LonghaulDecisionNeeded'],
  },
  { name: 'the disk of the archive is full', ill: { [ready('archive')]: 0 }, alerts: ['LonghaulNotReady'] },
  {
    name: 'the service answers 500 to all, with creates that it left uncertain',
    ill: { ...noAnswers, [closed('service')]: 1, [waiting('CreateUncertain')]: 3 },
    lastsMin: 15,
    alerts: ['LonghaulCreatesRefused'],
  },
  {
    name: 'the service refuses one account for hours, and the reply to a create of another is lost',
    ill: {
      [closed('service')]: 1,
      [closed('service').replace('studio', 'other')]: 0,
      [waiting('CreateUncertain')]: 1,
    },
    lastsMin: 60,
    withinMin: 32,
    alerts: ['LonghaulCreatesRefused', 'LonghaulDecisionNeeded'],
  },
  { name: 'the service answers no query', ill: noAnswers, lastsMin: 15, alerts: ['LonghaulQueriesFail'] },
  {
    name: 'the key is revoked',
    ill: { ...noAnswers, [closed('account')]: 1, [keyRefused]: 1 },
    alerts: ['LonghaulKeyRefused'],
  },
  { name: 'the balance is used up', ill: { [closed('account')]: 1 }, alerts: ['LonghaulAccountRefused'] },
  {
    name: 'the workers are dead',
    ill: { ...nothingOfTheWorker, [up]: 0 },
    alerts: ['LonghaulProcessGone', 'LonghaulQueueWithoutWorkers'],
  },
  {
    name: 'one of two workers is stopped',
    ill: { [up]: 0, [pollers.replace('w1', 'w9')]: 2, [pollers]: null },
    alerts: ['LonghaulProcessGone'],
  },
  { name: 'a worker does not poll', ill: { [pollers]: 0 }, alerts: ['LonghaulQueueWithoutWorkers'] },
  { name: 'Temporal is restarted', ill: { [ready('temporal')]: 0 }, lastsMin: 0.5, alerts: [] },
  { name: 'Temporal is away', ill: { [ready('temporal')]: 0 }, alerts: ['LonghaulNotReady'] },
  {
    name: 'the clock is wrong',
    ill: { [single('longhaul_clock_apart_seconds')]: 3_600 },
    alerts: ['LonghaulClockWrong'],
  },
  {
    name: 'the bucket refuses writes, and results expire',
    ill: { [ready('archive')]: 0, [expiring]: 2, [waiting('ArchiveIncomplete')]: 2 },
    alerts: ['LonghaulDecisionNeeded', 'LonghaulNotReady', 'LonghaulResultsExpire'],
  },
  {
    name: 'a deploy does not fit the open tasks',
    ill: { [failedTasks]: counter(3) },
    endsMin: 7,
    alerts: ['LonghaulWorkflowTasksFail'],
  },
  {
    name: 'one task is stuck, and its workflow task is tried every ten minutes',
    ill: { [stuck('failed')]: 1 },
    alerts: ['LonghaulWorkflowTasksFail'],
  },
  {
    name: 'workflow tasks time out',
    ill: { [stuck('timed_out')]: 40 },
    alerts: ['LonghaulWorkflowTasksTimeOut'],
  },
  { name: '28 rows hang', ill: { [single('longhaul_rows_late')]: 28 }, alerts: ['LonghaulRowsLate'] },
  { name: 'a colleague terminated a task', ill: { [notSafe('running')]: 1 }, alerts: ['LonghaulNotSafe'] },
  {
    name: 'the workers of a version are gone',
    ill: { [single('longhaul_workflows_unserved')]: 7 },
    alerts: ['LonghaulVersionWithoutWorkers'],
  },
  { name: 'results expire', ill: { [expiring]: 2 }, alerts: ['LonghaulResultsExpire'] },
  { name: 'a sweep finds one more lost', ill: { [notSafe('lost')]: 4 }, lastsMin: 50, alerts: ['LonghaulResultLost'] },
  {
    name: 'a result is lost',
    ill: { [ends('ResultLost')]: 1 },
    lastsMin: 50,
    endsMin: 15,
    alerts: ['LonghaulResultLost'],
  },
  {
    name: 'the queue of the service is full',
    ill: { [closed('busy')]: 1 },
    withinMin: 11,
    alerts: ['LonghaulCreatesRefused'],
  },
  {
    name: 'the service has a word that is not known',
    ill: { [polls('unknown_state')]: counter(15) },
    endsMin: 16,
    alerts: ['LonghaulStateUnknown'],
  },
  {
    name: 'many tasks fail',
    ill: { [ends('TaskFailed')]: counter(5) },
    lastsMin: 60,
    withinMin: 30,
    endsMin: 31,
    alerts: ['LonghaulTasksFail'],
  },
  {
    name: 'batches are at their budget',
    ill: { [single('longhaul_batches_at_budget')]: 2 },
    withinMin: 6,
    alerts: ['LonghaulBatchAtBudget'],
  },
  {
    name: 'a sweep was due a minute after the start',
    ill: { [single('longhaul_sweep_due_timestamp_seconds')]: 60 },
    withinMin: 6,
    alerts: ['LonghaulSweepLate'],
  },
  {
    name: 'a callback has the wrong token',
    ill: { [callbacks('wrong token')]: counter(1) },
    withinMin: 11,
    endsMin: 11,
    alerts: ['LonghaulCallbacksFail'],
  },
  {
    name: 'a webhook is taken by no receiver',
    ill: { 'longhaul_webhooks_total{instance="w1",webhook="invoices",outcome="refused"}': counter(1) },
    lastsMin: 60,
    withinMin: 31,
    endsMin: 71,
    alerts: ['LonghaulWebhooksFail'],
  },
  {
    name: 'workflow tasks wait for workers',
    ill: { [bucket('1')]: counter(1) },
    withinMin: 6,
    endsMin: 6,
    alerts: ['LonghaulWorkflowTasksWait'],
  },
  {
    name: 'replays are slow',
    ill: { [replays('yes')]: counter(1) },
    withinMin: 6,
    endsMin: 6,
    alerts: ['LonghaulReplaysSlow'],
  },
  {
    name: 'a cache is too small',
    ill: { [replays('no')]: counter(100) },
    withinMin: 11,
    endsMin: 6,
    alerts: ['LonghaulCacheTooSmall'],
  },
  { name: 'a worker has no slot', ill: { [slots]: 0 }, withinMin: 6, alerts: ['LonghaulSlotsExhausted'] },
  {
    name: 'Temporal refuses requests',
    ill: { [refused]: counter(1) },
    withinMin: 6,
    endsMin: 6,
    alerts: ['LonghaulTemporalRefuses'],
  },
];
