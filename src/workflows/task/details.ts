import type { ManifestInput } from '../../contract/activities';
import { operatorChoices } from '../../contract/operator-choices';
import { rowsOfBatch } from '../../contract/search-attributes';
import type { TaskStatus } from '../../contract/task-messages';
import type { TaskPlan } from '../../contract/parse-task-input';
import type { TaskResult } from '../../contract/task-result';
import { formatMoney, type Money } from '../../domain/money';
import { formatBytes, markdownText } from '../../domain/text';
import { formatMoment } from '../../domain/time';

/**
 * The page an operator sees in the Web UI: what is, since when, what is waited for, and what comes next. It is Markdown;
 * the service's words in it are not.
 */
export function taskDetails(
  status: TaskStatus,
  { watch = 'timer', inputs = [], cost = null, archived = null, batchId = null, isOver = false }: TaskPage = {},
): string {
  const rows = [
    ['Request id', status.requestId ?? (isOver ? 'none' : 'none yet')],
    ['At the service', formatServiceStatus(status, isOver), formatAsOf(status, isOver)],
    ['Waiting for', status.waitingFor],
    ['Next', status.nextStep],
    ['Queries so far', watch === 'activity' && !isOver ? formatWatchQueries(status) : formatQueries(status)],
    // An activity that creates counts for itself, until it is over.
    ...(status.status === 'Creating' ? [] : [['Creates sent', String(status.createRequests)]]),
    ...formatCost(status, cost, isOver),
    ...(isOver ? [] : [['To stop it', howToStop(status)]]),
    ...(batchId === null ? [] : [['Row of', `batch:${batchId}`]]),
  ];
  return [
    `### ${status.status}`,
    `since ${formatMoment(status.since)}`,
    ...(isOver ? [] : formatChoices(status)),
    '',
    ...rows.map(([name = '', value = '', asOf = '']) => `- **${name}:** ${markdownText(value)}${asOf}`),
    ...(batchId === null ? [] : [`- **Rows of its batch:** list with ${markdownText(rowsOfBatch(batchId))}`]),
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
  readonly watch?: TaskPlan['watch'];
  /** Once all of them are uploaded. */
  readonly inputs?: readonly Pick<ManifestInput, 'name' | 'bytes'>[];
  readonly cost?: Money | null;
  /** Once its outputs are archived. */
  readonly archived?: ArchivedPart | null;
  /** Of a row. */
  readonly batchId?: string | null;
  readonly isOver?: boolean;
}

function formatQueries({ polls, failedPolls }: TaskStatus): string {
  return `${polls}${failedPolls === 0 ? '' : `, ${failedPolls} failed`}`;
}

/** States in which an activity may watch. */
const watchedStates: readonly string[] = ['Queuing', 'Preparing', 'Running', 'Watching'];

/** An activity that watches counts for itself, until it comes back. */
function formatWatchQueries(status: TaskStatus): string {
  if (!watchedStates.includes(status.status)) return formatQueries(status);
  return 'counted by the pending activity watchTask, in its heartbeat';
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

/** What a stop does in this state, and what Terminate does instead. */
function howToStop({ status, stopRequests }: TaskStatus): string {
  switch (status) {
    case 'PreparingInputs':
      return 'Request Cancellation; nothing is created yet, so nothing is paid';
    case 'Creating':
      return 'Request Cancellation: a create that was not sent yet is not sent, and nothing is paid; after Terminate, one that was sent runs on at the service and is paid';
    case 'CreateUncertain':
      return 'decide first; after Request Cancellation this workflow ends as StopUnconfirmed, and a task that exists is paid';
    case 'Archiving':
    case 'ArchiveIncomplete':
      return 'it is over at the service, so a stop changes nothing there; after Terminate its outputs are not archived';
    default: {
      const isAsked = stopRequests.some(({ verb, outcome }) => verb === 'stop' && open.has(outcome));
      const how = status === 'Stopping' || isAsked ? 'it is asked already' : 'Request Cancellation';
      return `${how}; after Terminate it runs on at the service and is paid`;
    }
  }
}

/** Of a request that is under way. */
const open: ReadonlySet<string> = new Set(['waiting', 'sent']);

function formatServiceStatus({ serviceStatus, queuePosition }: TaskStatus, isOver: boolean): string {
  if (serviceStatus === null) return isOver ? 'not seen' : 'not seen yet';
  return queuePosition === null ? serviceStatus : `${serviceStatus}, ${queuePosition} ahead in the queue`;
}

/** A watch by activity tells the workflow less often than it polls; the state of a task that is over stays. */
function formatAsOf({ serviceStatusAt }: TaskStatus, isOver: boolean): string {
  return serviceStatusAt === undefined || isOver ? '' : `, as of ${formatMoment(serviceStatusAt)}`;
}
