import { isRecord } from '../core/json';
import type { Money } from '../money/money';
import { showValue } from '../core/text';
import * as v from 'valibot';
import { unusableInput } from './input-bounds';
import { check, pick, textLike } from './schema';

/** A child of the task or batch that ended: delivers one event (docs/decisions/0032). The name is durable. */
export const webhookWorkflow = 'webhook';

export const webhookName = textLike(
  /^[A-Za-z0-9._-]{1,80}$/,
  'the name of a webhook: 1 to 80 letters, digits, dots, underscores or hyphens',
);

export function isWebhookName(value: unknown): value is string {
  return v.is(webhookName, value);
}

interface EndedWorkflow {
  readonly workflowId: string;
  /** The run that ended; another run of the same id is another end. */
  readonly runId: string;
  /** As the workflow's own failure has it, its message shortened; null unless it failed. */
  readonly failure: { readonly type: string; readonly message: string } | null;
}

/** How a task ended: enough to decide what to do, and to ask for the rest by its key. */
export interface TaskEventData extends EndedWorkflow {
  /** What the task is known by: its key, or its workflow id where it has none of Longhaul's form. */
  readonly key: string;
  /** The batch whose row it is; null for any other task. */
  readonly batchId: string | null;
  /** The service's handle of the task; null when it was never created. */
  readonly requestId: string | null;
  readonly status: 'Success' | 'Failed' | 'Canceled';
  readonly account: string;
  readonly webAppId: number | null;
  readonly outputCount: number;
  readonly outputBytes: number;
  readonly failedOutputCount: number;
  /** Where the manifest is; null when nothing was archived. */
  readonly manifest: string | null;
  /** What the task cost by the worker's price list; null when that is not known. */
  readonly cost: Money | null;
  readonly tags: readonly string[];
}

/** How a batch ended. */
export interface BatchEventData extends EndedWorkflow {
  readonly batchId: string;
  /** `drained`: it ended before its last row because it was asked to. */
  readonly ending: 'completed' | 'drained' | 'stopped' | 'failed';
  readonly rows: number;
  readonly success: number;
  readonly failed: number;
  readonly canceled: number;
  readonly notStarted: number;
  /** What its tasks cost, as far as it is known. */
  readonly costs: readonly Money[];
  /** Where the tables of results are; null when they were not joined. */
  readonly results: { readonly csv: string; readonly jsonl: string } | null;
}

/** The body of a webhook: JSON as standard-webhooks has it. */
export type WebhookEvent =
  | {
      readonly type: 'task.completed' | 'task.failed' | 'task.canceled';
      /** ISO-8601: when it ended. */
      readonly timestamp: string;
      readonly data: TaskEventData;
    }
  | {
      readonly type: 'batch.completed' | 'batch.failed' | 'batch.canceled';
      /** ISO-8601: when it ended. */
      readonly timestamp: string;
      readonly data: BatchEventData;
    };

/** Input of the `webhook` workflow; only a task or a batch starts it. */
export interface WebhookInput {
  readonly webhook: string;
  /** The header `webhook-id`: the same for every attempt, and for a delivery that is repeated. */
  readonly id: string;
  readonly event: WebhookEvent;
}

/** Result of the `webhook` workflow: the receiver has taken it. */
export interface WebhookDelivery {
  /** ISO-8601. */
  readonly deliveredAt: string;
  readonly httpStatus: number;
  /** Which attempt it was, from 1. */
  readonly attempt: number;
}

/** The activity of webhooks, by its durable name. */
export interface WebhookActivities {
  readonly sendWebhook: (input: WebhookInput) => Promise<WebhookDelivery>;
}

/** Below the id of the workflow that ended, so that a list by prefix finds it. */
export function webhookWorkflowId(endedWorkflowId: string, id: string): string {
  return `webhook:${endedWorkflowId}:${id}`;
}

/** Any client may start it with anything; an event is signed only for the workflow that ended, its parent. */
export function webhookInputProblems(input: unknown, parentWorkflowId: string | undefined): readonly string[] {
  const unusable = unusableInput(input, '{ webhook, id, event }');
  if (unusable !== undefined) return [unusable];
  const { problems } = check(inputSchema, pick(isRecord(input) ? input : {}, Object.keys(inputSchema.entries)));
  const { event } = isRecord(input) ? input : {};
  const { data } = isRecord(event) ? event : {};
  const { workflowId } = isRecord(data) ? data : {};
  if (parentWorkflowId !== undefined && workflowId === parentWorkflowId) return problems;
  return [
    ...problems,
    `The parent workflow is ${showValue(parentWorkflowId)}, and the event is of ${showValue(workflowId)}; only the workflow that ended starts its webhook.`,
  ];
}

const inputSchema = v.object({
  webhook: webhookName,
  id: textLike(/^msg_[A-Za-z0-9-]{1,80}$/, 'msg_ and a UUID'),
  event: v.custom(
    (event) => isRecord(event) && typeof event['type'] === 'string' && typeof event['timestamp'] === 'string',
    '{ type, timestamp, data }',
  ),
});
