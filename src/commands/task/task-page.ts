import { ReplyInvalidError, TaskFailedError, UnknownTaskError } from '../../client/errors';
import { isTaskResult } from '../../client/replies';
import type { TaskHandle } from '../../client/task/task-handle';
import type { TaskView } from '../../client/task/task-view';
import { parseTaskInput } from '../../contract/parse-task-input';
import type { TaskInput } from '../../contract/task-input';
import type { TaskResult } from '../../contract/task-result';
import { isRecord } from '../../domain/json';
import { redact } from '../../domain/redact';
import { statesThatWait } from '../../domain/task-state';
import { formatBytes, formatCountOf, printableLine } from '../../domain/text';
import type { KnownTask, WrittenTaskPage } from '../../results/task-page';
import type { Archive } from '../../storage/archive/archive';
import { type CommandContext, pageFile, printJson, withLonghaul } from '../command-context';
import { formatRetry, formatWebhook, formatState, transferLine } from './task-text';

interface PageOptions {
  readonly html: string;
  readonly embed: boolean;
  readonly json: boolean;
}

/** `longhaul status ID --html FILE`: the page of a task, from what Temporal and the archive know of it. */
export async function writeStatusPage(
  context: CommandContext,
  id: string,
  { html, embed, json }: PageOptions,
): Promise<void> {
  // Loaded on demand: the storage would slow the start of every other command.
  const { withArchive } = await import('../storage-access.js');
  const { writeTaskPage } = await import('../../results/task-page.js');
  const page = await withArchive(context, async (archive) => {
    const known = await withLonghaul(context, {}, (longhaul) => readTask(longhaul.task(id), archive));
    return await writeTaskPage(archive, known, {
      ...(await pageFile(context, html)),
      embed,
    });
  });
  if (json) printJson(context, page);
  else context.stdout.write(pageText(page, embed));
}

function pageText({ path: file, bytes, files, embedded, withoutLink }: WrittenTaskPage, embed: boolean): string {
  const inside = embed ? `, ${embedded} pictures inside` : '';
  const words = `  It does not lead to ${withoutLink} of them, because they are in a bucket or not in this archive.`;
  const lines = [
    `${file}  (${formatCountOf(files, 'file')}, ${formatBytes(bytes)}${inside})`,
    ...(withoutLink > 0 ? [`${words}${embed ? '' : ' --embed puts small pictures inside.'}`] : []),
  ];
  return `${lines.map(printableLine).join('\n')}\n`;
}

/** What became of a task that is over. */
export interface TaskOutcome {
  readonly result: Partial<TaskResult> | null;
  readonly failure: KnownTask['failure'];
}

async function readTask(task: TaskHandle, archive: Archive): Promise<KnownTask> {
  try {
    const view = await task.status();
    const [outcome, input] = [view.isOver ? await outcomeToShow(task) : null, await task.input()];
    return await toKnownTask(archive, view, outcome, input);
  } catch (error) {
    if (!(error instanceof UnknownTaskError)) throw error;
    const { readForgottenTask } = await import('../../results/task-page.js');
    const known = await readForgottenTask(archive, task.workflowId);
    if (known === undefined) throw error;
    return known;
  }
}

/** One that another program ended has failed, as a row of a batch has. */
async function outcomeToShow(task: TaskHandle): Promise<TaskOutcome> {
  try {
    return await readOutcome(task);
  } catch (error) {
    if (!(error instanceof ReplyInvalidError)) throw error;
    return { result: null, failure: { type: 'Unknown', message: redact(error.message) } };
  }
}

/** What became of a task that is over. Throws ReplyInvalidError for one that another program ended. */
export async function readOutcome(task: TaskHandle): Promise<TaskOutcome> {
  try {
    return { result: await task.result(), failure: null };
  } catch (error) {
    if (!(error instanceof TaskFailedError)) throw error;
    const { details, failureType: type, message, requestId } = error;
    const found: unknown = isRecord(details) ? details['result'] : undefined;
    return { result: isTaskResult(found) ? found : { requestId }, failure: { type, message: redact(message) } };
  }
}

async function toKnownTask(
  archive: Archive,
  view: TaskView,
  outcome: TaskOutcome | null,
  input: TaskInput | null,
): Promise<KnownTask> {
  const { namesOfPath, usualManifestNames } = await import('../../results/archived-task.js');
  const { workflowId, status } = view;
  const { result = null, failure = null } = outcome ?? {};
  const requestId = result?.requestId ?? view.requestId;
  const { plan } = input === null ? {} : parseTaskInput(input);
  const manifest = result?.manifest ?? null;
  const folder = plan === undefined || plan.archiveFolder === '' ? [] : [plan.archiveFolder];
  const usual = requestId === null ? [] : usualManifestNames(workflowId, requestId);
  return {
    workflowId,
    ...{ state: toState(view, outcome), status: formatState(view), failure },
    waits: view.isOver ? null : (statesThatWait.find((state) => state === status) ?? null),
    remarks: toRemarks(view, failure !== null),
    app: view.app ?? (plan?.webAppId == null ? null : String(plan.webAppId)),
    account: view.account ?? plan?.account ?? null,
    requestId,
    ...{ startedAt: view.startedAt, endedAt: view.endedAt },
    ...{ timestamps: result?.timestamps ?? {}, costTimes: result?.costTimes ?? {}, cost: result?.cost ?? null },
    inputs: plan === undefined ? [] : await plannedInputs(plan),
    outputs: result?.outputs ?? [],
    outputCount: result?.outputCount ?? result?.outputs?.length ?? 0,
    missing: (result?.failedOutputs ?? []).map(({ index, errorType, message }) => {
      return { index, reason: `failed at the service: ${message ?? errorType}` };
    }),
    manifest,
    manifestNames: [
      ...(manifest === null ? [] : namesOfPath(archive, manifest)),
      ...folder.flatMap((name) => usual.slice(-1).map((usualName) => `${name}/${usualName}`)),
      ...usual,
    ],
  };
}

function toState({ isOver }: TaskView, outcome: TaskOutcome | null): KnownTask['state'] {
  if (!isOver) return 'Running';
  return outcome?.failure == null ? (outcome?.result?.status ?? 'Canceled') : 'Failed';
}

async function plannedInputs({
  values,
  files,
}: {
  readonly values: Readonly<Record<string, string | number>>;
  readonly files: readonly { readonly key: string; readonly file: string }[];
}): Promise<KnownTask['inputs']> {
  const { toFileInput, toValueInput } = await import('../../results/task-page.js');
  return [
    ...files.map(({ key, file }) => toFileInput(key, file, null)),
    ...Object.entries(values).map(([key, value]) => toValueInput(key, value)),
  ];
}

/** What `longhaul status` says of the moment. */
function toRemarks(view: TaskView, isToldByFailure: boolean): KnownTask['remarks'] {
  const remarks: readonly (readonly [string, string | null])[] = [
    ['Waits for', view.waitingFor],
    ['Next', view.nextStep],
    ['Problem', isToldByFailure ? null : view.problem],
    ['Stuck', view.stuck?.message ?? null],
    ...view.retrying.map((retry) => [retry.waitsForTurn ? 'Its turn' : 'Tried again', formatRetry(retry)] as const),
    ...view.transfers.map((transfer) => ['In flight', transferLine(transfer).trim()] as const),
    ...view.stopRequests.map(({ verb, outcome, words }) => [`Request to ${verb}`, `${outcome}: ${words}`] as const),
    ...(view.webhooks ?? []).map((webhook) => ['Webhook', formatWebhook(webhook)] as const),
    ['Note', isToldByFailure ? null : view.note],
  ];
  return remarks.flatMap(([name, text]) => (text === null || text === '' ? [] : [[name, redact(text)] as const]));
}
