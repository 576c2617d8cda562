import type { AccountDayInput } from '../contract/account-day';
import type { ManifestInput } from '../contract/activities';
import type { BatchProgress } from '../contract/batch-messages';
import { operatorChoices } from '../contract/operator-choices';
import { searchAttributes } from '../contract/search-attributes';
import type { SweepResult } from '../contract/sweep';
import type { TaskStatus } from '../contract/task-messages';
import type { TaskResult } from '../contract/task-result';
import type { WebhookDelivery, WebhookInput } from '../contract/webhook';
import { formatBudget } from '../domain/batch-budget';
import type { DayView } from '../domain/daily-budget';
import { formatMoney, type Money } from '../domain/money';
import { formatBytes, markdownText } from '../domain/text';
import { mostFrequent } from '../domain/batch-pace';
import { statesThatWait } from '../domain/task-state';
import { formatMinute, formatMoment } from '../domain/time';

/**
 * The page an operator sees in the Web UI: what is, since when, what is waited for, and what comes next. It is Markdown;
 * the service's words in it are not.
 */
export function liveDetails(
  status: TaskStatus,
  { inputs = [], cost = null, archived = null, batchId = null, isOver = false }: TaskPage = {},
): string {
  const rows = [
    ['Request id', status.requestId ?? 'none yet'],
    ['At the service', formatServiceStatus(status)],
    ['Waiting for', status.waitingFor],
    ['Next', status.nextStep],
    ['Queries so far', `${status.polls}${status.failedPolls === 0 ? '' : `, ${status.failedPolls} failed`}`],
    ['Creates sent', String(status.createRequests)],
    ...formatCost(status, cost, isOver),
    ...(isOver ? [] : [['To stop it', 'Request Cancellation; after Terminate it runs on at the service and is paid']]),
    ...(batchId === null ? [] : [['Row of', `batch:${batchId}`]]),
  ];
  return [
    `### ${status.status}`,
    `since ${formatMoment(status.since)}`,
    ...(isOver ? [] : formatChoices(status)),
    '',
    ...rows.map(([name = '', value = '']) => `- **${name}:** ${markdownText(value)}`),
    ...(batchId === null ? [] : [`- **Rows of its batch:** list with ${markdownText(rowsOf(batchId))}`]),
    ...(status.problem === null ? [] : ['', `**Problem:** ${markdownText(status.problem)}`]),
    ...(status.stopRequests.length === 0 ? [] : ['', '**Requests to end it**', '']),
    ...status.stopRequests.map(
      ({ verb, askedAt, words }) => `- \`${verb}\` at ${formatMoment(askedAt)}: ${markdownText(words)}`,
    ),
    ...formatInputs(inputs),
    ...formatArchived(archived),
  ].join('\n');
}

/** What a result says of the archive. */
export type ArchivedPart = Pick<TaskResult, 'outputs' | 'outputCount' | 'outputBytes' | 'manifest'>;

/** What the page of a task tells beside its status. */
interface TaskPage {
  /** Once all of them are uploaded. */
  readonly inputs?: readonly Pick<ManifestInput, 'name' | 'bytes'>[];
  readonly cost?: Money | null;
  /** Once its outputs are archived. */
  readonly archived?: ArchivedPart | null;
  /** Of a row. */
  readonly batchId?: string | null;
  readonly isOver?: boolean;
}

function formatCost({ requestId }: TaskStatus, cost: Money | null, isOver: boolean): string[][] {
  if (cost !== null) return [['Cost', formatMoney(cost)]];
  return isOver && requestId !== null ? [['Cost', 'not known: there is no price for its app']] : [];
}

/** What a person can decide now, to be sent from the page or in a terminal. */
function formatChoices({ status, workflowId }: TaskStatus): string[] {
  const choices = operatorChoices(status, workflowId);
  if (choices.length === 0) return [];
  return [
    '',
    '**For you to decide**, with More Actions, Send an Update; or in a terminal:',
    '',
    ...choices.map(({ update, argument, command, meaning }) => {
      return `- \`${update}\`${argument === null ? '' : ` with \`${argument}\``}, or \`${command}\`: ${meaning}`;
    }),
  ];
}

/** So many inputs and outputs are named, each by so many characters. */
const maxInputs = 5;
const maxNameLength = 100;
const maxOutputs = 5;
const maxPathLength = 300;

/** What was uploaded; each content once. */
function formatInputs(inputs: NonNullable<TaskPage['inputs']>): string[] {
  if (inputs.length === 0) return [];
  const bytes = inputs.reduce((sum, input) => sum + input.bytes, 0);
  const more = inputs.length - maxInputs;
  return [
    '',
    `**Uploaded inputs:** ${inputs.length}, ${formatBytes(bytes)}`,
    '',
    ...inputs.slice(0, maxInputs).map((input) => {
      return `- ${markdownText(input.name, maxNameLength)}, ${formatBytes(input.bytes)}`;
    }),
    ...(more > 0 ? [`- and ${more} more`] : []),
  ];
}

/** Where the outputs are; the manifest names those that are not shown. */
function formatArchived(archived: ArchivedPart | null): string[] {
  if (archived === null) return [];
  const { outputs, outputCount, outputBytes, manifest } = archived;
  const shown = outputs.slice(0, maxOutputs).map(({ path }) => path);
  const more = outputCount - shown.length;
  const places = [
    ...shown.map((path) => markdownText(path, maxPathLength)),
    ...(more > 0 ? [`and ${more} more`] : []),
    ...(manifest === null ? [] : [`manifest: ${markdownText(manifest, maxPathLength)}`]),
  ];
  const title = `**Archived outputs:** ${outputCount}, ${formatBytes(outputBytes)}`;
  return ['', title, ...(places.length === 0 ? [] : ['']), ...places.map((place) => `- ${place}`)];
}

/** Filters of Temporal's lists, for its Web UI. */
function rowsOf(batchId: string): string {
  return `${searchAttributes.batch.name} = "${batchId}"`;
}

function failedRowsOf(batchId: string): string {
  return `${rowsOf(batchId)} AND ExecutionStatus = "Failed"`;
}

function waitingRowsOf(batchId: string): string {
  const states = statesThatWait.map((state) => `"${state}"`).join(', ');
  return `${rowsOf(batchId)} AND ${searchAttributes.status.name} IN (${states}) AND ExecutionStatus = "Running"`;
}

function formatServiceStatus({ serviceStatus, queuePosition }: TaskStatus): string {
  if (serviceStatus === null) return 'not seen yet';
  return queuePosition === null ? serviceStatus : `${serviceStatus}, ${queuePosition} ahead in the queue`;
}

/** So many types of failure are shown. */
const maxTypes = 10;

/**
 * The page an operator sees in the Web UI: how far the batch is, what fails, and when it will be over. It is Markdown;
 * the words of rows and of the service in it are not.
 */
export function batchDetails(progress: BatchProgress): string {
  const { state, rows, success, failed, canceled, running, waiting, concurrency, badRows } = progress;
  const ended = success + failed + canceled;
  const percent = rows === 0 ? 100 : Math.floor((100 * ended) / rows);
  const lines = [
    ['Rows', `${ended} of ${rows} ended (${percent} %)${badRows === 0 ? '' : `, ${badRows} bad ones left out`}`],
    ['Ended', `${success} succeeded, ${failed} failed, ${canceled} canceled`],
    ['Now', `${running} running (at most ${concurrency}), ${waiting} waiting`],
    ...((progress.attempt?.of ?? 1) > 1 ? [['Attempt', `${progress.attempt?.number} of ${progress.attempt?.of}`]] : []),
    ...formatStates(progress),
    ...(progress.report === null ? [['Pace', formatPace(progress, ended)]] : formatReport(progress.report)),
    ...(formatUploads(progress) === null ? [] : [['Uploads', formatUploads(progress)]]),
    ...costLines(progress),
    ['Failures', formatFailures(progress)],
    ...(failed === 0 ? [] : [['Failed rows', `list with ${markdownText(failedRowsOf(progress.batchId))}`]]),
    ['Rows by state', `list with ${markdownText(rowsOf(progress.batchId))}`],
  ];
  return [
    `### ${state}`,
    '',
    ...lines.map(([name = '', value = '']) => `- **${name}:** ${value}`),
    ...(progress.problem === null ? [] : ['', `**Problem:** ${markdownText(progress.problem)}`]),
    ...(progress.lastFailures.length === 0 ? [] : ['', '**Last failures**', '']),
    ...progress.lastFailures.map(
      ({ key, line, message }) => `- ${markdownText(key)} (line ${line}): ${markdownText(message)}`,
    ),
  ].join('\n');
}

/** How many rows wait for a person. */
export function rowsThatWait(counts: Readonly<Record<string, number>> = {}): number {
  return statesThatWait.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
}

/** What the running rows do, and which of them wait for a person, as of the last poll of all. */
function formatStates({ batchId, rowStates }: BatchProgress): string[][] {
  if (rowStates === undefined) return [];
  const { asOf, counts } = rowStates;
  const states = mostFrequent(counts).map(([state, count]) => `${count} ${state}`);
  const waiting = rowsThatWait(counts);
  const list = `\`longhaul list --batch ${batchId} --needs-person\``;
  return [
    ['Running rows', `${states.length === 0 ? 'none' : states.join(', ')}, as of ${formatMinute(asOf)}`],
    ...(waiting === 0
      ? []
      : [['Wait for you', `${waiting} rows: ${list}, or list with ${markdownText(waitingRowsOf(batchId))}`]]),
  ];
}

/** Where what came of the batch is, once it is over. */
function formatReport({ csv, html }: NonNullable<BatchProgress['report']>): string[][] {
  const files = [
    ['Table', csv],
    ['Report', html],
  ];
  return files.flatMap(([name = '', path = '']) => (path === '' ? [] : [[name, markdownText(path, maxPathLength)]]));
}

function formatPace(progress: BatchProgress, ended: number): string {
  const { perMinute, expectedEnd, lastMovedAt } = progress;
  if (perMinute === null) return ended === 0 ? 'nothing has ended yet' : 'nothing has ended since the start';
  const pace = perMinute >= 10 ? perMinute.toFixed(0) : perMinute.toFixed(1);
  const end = expectedEnd === null ? '' : `, over at about ${formatMinute(expectedEnd)}`;
  // The page shows what was known then: without workers it stays as it is.
  const asOf = lastMovedAt == null ? '' : `, as of ${formatMinute(lastMovedAt)}`;
  return `${pace} rows a minute${end}${end === '' ? '' : asOf}`;
}

/** What the rows cost; nothing where no price is known. */
function costLines({ costs, budget, dailyBudget, running }: BatchProgress): string[][] {
  const daily = dailyBudget === undefined ? [] : [['No more rows today', markdownText(dailyBudget.words)]];
  if (budget != null) return [['Budget', formatBudget(budget, running)], ...daily];
  return [...daily, ...sumLines(costs)];
}

function sumLines(costs: BatchProgress['costs']): string[][] {
  return costs === undefined || costs.sums.length === 0 ? [] : [['Costs', costs.sums.map(formatMoney).join(' and ')]];
}

function formatUploads({ uploads: { files, bytes, shared } }: BatchProgress): string | null {
  return files + shared === 0 ? null : `${files} files (${formatBytes(bytes)}) sent, ${shared} shared`;
}

function formatFailures({ failures }: BatchProgress): string {
  const types = mostFrequent(failures);
  const shown = types.slice(0, maxTypes).map(([type, count]) => `${count} × ${markdownText(type)}`);
  return shown.length === 0 ? 'none' : shown.join(', ');
}

/** The page of an account's day: what is spent, what is reserved, and whether tasks wait for the next one. */
export function dayDetails({ account, day }: AccountDayInput, view: DayView): string {
  const { limit, settledMicros, reservedMicros, settled, unknown, running, held, refusedSince } = view;
  if (limit === null) return `### ${markdownText(account)}, ${day} (UTC)\n\nnothing yet`;
  const money = (micros: number): string => formatMoney({ currency: limit.currency, micros });
  const notKnown = unknown === 0 ? '' : `, of ${unknown} of them as much as the most expensive one of their app`;
  const lines = [
    ['Daily budget', formatMoney(limit)],
    ['Settled', `${money(settledMicros)} for ${settled} tasks${notKnown}`],
    ['Reserved', `${money(reservedMicros)} for ${running} tasks that run and ${held} rows that are being started`],
    ['Left', money(Math.max(0, limit.micros - settledMicros - reservedMicros))],
  ];
  return [
    `### ${markdownText(account)}, ${day} (UTC)`,
    '',
    ...lines.map(([name = '', value = '']) => `- **${name}:** ${value}`),
    ...(refusedSince === null
      ? []
      : ['', `**Tasks wait since ${formatMoment(refusedSince)}:** for tomorrow, a cheaper end, or a larger budget`]),
  ].join('\n');
}

/** The page of a sweep that is over: how much is safe, and what is not, with the commands. */
export function sweepDetails({ unsafe, safe, handled, report, text }: SweepResult): string {
  const count = (counts: Readonly<Record<string, number>>): number => {
    return Object.values(counts).reduce((sum, one) => sum + one, 0);
  };
  const fence = '````';
  return [
    count(unsafe) === 0 ? '### Everything is safe' : `### ${count(unsafe)} not safe`,
    '',
    `- **Safe:** ${count(safe)}`,
    ...(handled === 0 ? [] : [`- **Taken care of by this sweep:** ${handled}`]),
    `- **Report:** ${markdownText(report)}`,
    '',
    fence,
    text.replaceAll('`', "'"),
    fence,
  ].join('\n');
}

/** How a delivery stands. */
type WebhookState =
  | { readonly state: 'waiting' }
  | ({ readonly state: 'delivered' } & WebhookDelivery)
  | { readonly state: 'givenUp'; readonly words: string };

/** The page of a webhook: what is sent to which receiver, and whether it has it. */
export function webhookDetails({ webhook, id, event }: WebhookInput, delivery: WebhookState): string {
  const lines = [
    ['Webhook', webhook],
    ['Tells', `${event.type} of ${event.data.workflowId}`],
    ['webhook-id', id],
  ];
  return [
    ...deliveryLines(delivery),
    '',
    ...lines.map(([name = '', value = '']) => `- **${name}:** ${markdownText(value)}`),
  ].join('\n');
}

function deliveryLines(delivery: WebhookState): string[] {
  switch (delivery.state) {
    case 'waiting':
      return ['### Being delivered', 'tried again for three days; the last failure is under Pending Activities'];
    case 'delivered': {
      const { deliveredAt, httpStatus, attempt } = delivery;
      return ['### Delivered', `${formatMoment(deliveredAt)}, HTTP ${httpStatus}, attempt ${attempt}`];
    }
    case 'givenUp':
      return ['### Not delivered', `${markdownText(delivery.words)}. To send it again, reset this workflow.`];
  }
}
