import {
  ApplicationFailure,
  CancelledFailure,
  isCancellation,
  log,
  ParentClosePolicy,
  startChild,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';
import type { BatchResult } from '../contract/batch/batch-messages';
import { searchAttributes } from '../contract/search-attributes';
import type { TaskResult } from '../contract/task-result';
import { isTag, maxTags } from '../contract/search-attributes';
import {
  type BatchEventData,
  isWebhookName,
  type TaskEventData,
  type WebhookEvent,
  type WebhookInput,
  webhookWorkflow,
  webhookWorkflowId,
} from '../contract/webhook';
import { batchIdOf, taskKeyOf } from '../contract/workflow-ids';
import { isRecord } from '../core/json';
import { boundedText, errorMessage, markdownText } from '../core/text';
import { workflowTaskTimeout } from '../core/workflow-tasks';
import type { BatchRun } from './batch/batch-state';
import { viewBatch } from './batch/details';
import type { TaskRun } from './task/task-run';

const maxMessageLength = 1_000;

type End<Result> =
  { readonly result: Result; readonly error?: never } | { readonly result?: never; readonly error: unknown };

type OfRun = 'workflowId' | 'runId' | 'failure' | 'key' | 'tags';
type EndOfTask = Omit<TaskEventData, OfRun>;
type EndOfBatch = Omit<BatchEventData, OfRun>;

/** Only where the input asks for a webhook, and not for a run that continues as new. */
export async function sendTaskWebhook({ plan, state }: TaskRun, { result, error }: End<TaskResult>): Promise<void> {
  const { webhook, account, webAppId, batch } = plan;
  if (webhook === null || !isEnd(error)) return;
  const { outputCount = 0, outputBytes = 0, failedOutputCount = 0, manifest = null } = result ?? partOf(error);
  const end: EndOfTask = {
    batchId: batch?.id ?? null,
    requestId: state.requestId,
    status: result?.status ?? (isCancellation(error) ? 'Canceled' : 'Failed'),
    account,
    webAppId,
    cost: state.cost,
    outputCount,
    outputBytes,
    failedOutputCount,
    manifest,
  };
  await startWebhook(webhook, taskEvent(end, error, batch?.key));
}

export async function sendBatchWebhook(run: BatchRun, { result, error }: End<BatchResult>): Promise<void> {
  const { webhook } = run.plan;
  if (webhook === null || !isEnd(error)) return;
  const { batchId, rows, waiting, costs, report, ...progress } = viewBatch(run);
  const { success, failed, canceled, notStarted } = report ?? { ...progress, notStarted: waiting };
  const end: EndOfBatch = {
    batchId,
    ending: result?.ending ?? (isCancellation(error) ? 'stopped' : 'failed'),
    rows,
    success,
    failed,
    canceled,
    notStarted,
    costs: costs?.sums ?? [],
    results: report === null || report.csv === '' ? null : { csv: report.csv, jsonl: report.jsonl },
  };
  await startWebhook(webhook, batchEvent(end, error));
}

export async function sendRefusalWebhook(kind: 'task' | 'batch', argument: unknown, error: unknown): Promise<void> {
  const webhook = isRecord(argument) ? argument['webhook'] : undefined;
  if (!isWebhookName(webhook) || !isEnd(error)) return;
  const batchId = batchIdOf(workflowInfo().workflowId) ?? '';
  await startWebhook(
    webhook,
    kind === 'task' ? taskEvent(refusedTask, error) : batchEvent({ ...refusedBatch, batchId }, error),
  );
}

const refusedTask: EndOfTask = {
  batchId: null,
  requestId: null,
  status: 'Failed',
  account: 'default',
  webAppId: null,
  cost: null,
  outputCount: 0,
  outputBytes: 0,
  failedOutputCount: 0,
  manifest: null,
};
const refusedBatch: Omit<EndOfBatch, 'batchId'> = {
  ending: 'failed',
  rows: 0,
  success: 0,
  failed: 0,
  canceled: 0,
  notStarted: 0,
  costs: [],
  results: null,
};

/** Any other error goes on: as a new run, or as the same step after a repair. */
function isEnd(error: unknown): boolean {
  return error === undefined || error instanceof ApplicationFailure || error instanceof CancelledFailure;
}

const taskTypes = { Success: 'task.completed', Failed: 'task.failed', Canceled: 'task.canceled' } as const;
const batchTypes = {
  completed: 'batch.completed',
  drained: 'batch.completed',
  stopped: 'batch.canceled',
  failed: 'batch.failed',
} as const;

function taskEvent(end: EndOfTask, error: unknown, rowKey?: string): WebhookEvent {
  const { workflowId, runId, typedSearchAttributes } = workflowInfo();
  const key = taskKeyOf(workflowId) ?? rowKey ?? workflowId;
  // Another client may have set them to anything.
  const tags = (typedSearchAttributes.get(searchAttributes.tags) ?? []).filter(isTag).slice(0, maxTags);
  const data: TaskEventData = { key, workflowId, runId, ...end, failure: toFailure(error), tags };
  return { type: taskTypes[end.status], timestamp: new Date(Date.now()).toISOString(), data };
}

function batchEvent(end: EndOfBatch, error: unknown): WebhookEvent {
  const { workflowId, runId } = workflowInfo();
  const data: BatchEventData = { workflowId, runId, ...end, failure: toFailure(error) };
  return { type: batchTypes[end.ending], timestamp: new Date(Date.now()).toISOString(), data };
}

function toFailure(error: unknown): TaskEventData['failure'] {
  if (!(error instanceof ApplicationFailure)) return null;
  return { type: error.type ?? 'Failed', message: boundedText(error.message, maxMessageLength) };
}

function partOf(error: unknown): Partial<TaskResult> {
  const details = error instanceof ApplicationFailure || error instanceof CancelledFailure ? error.details : [];
  const [first] = details ?? [];
  const result = isRecord(first) ? first['result'] : undefined;
  return isRecord(result) ? result : {};
}

/** A separate workflow: an absent receiver must not keep a task open. A reset gives another id. */
async function startWebhook(webhook: string, event: WebhookEvent): Promise<void> {
  const { workflowId } = workflowInfo();
  const id = `msg_${uuid4()}`;
  const input: WebhookInput = { webhook, id, event };
  try {
    await startChild(webhookWorkflow, {
      workflowId: webhookWorkflowId(workflowId, id),
      args: [input],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      cancellationType: 'ABANDON',
      workflowTaskTimeout,
      staticSummary: `Webhook ${markdownText(webhook)}: ${event.type} of ${markdownText(workflowId)}`,
    });
  } catch (error) {
    // The webhook must not change how the task ends.
    log.error('the webhook was not started', { webhook, id, error: errorMessage(error) });
  }
}
