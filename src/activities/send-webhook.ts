import { createHmac } from 'node:crypto';
import { activityInfo, Context, metricMeter } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Dispatcher } from 'undici';
import { failureTypes } from '../contract/failure-types';
import { count, metrics } from '../contract/metrics';
import type { WebhookActivities, WebhookDelivery, WebhookInput } from '../contract/webhook';
import { errorCode } from '../core/text';
import { parseRetryAfter } from '../service/exchange';
import { openAgent } from '../storage/connections';
import { temporalClock, workerClock } from './clock';
import { handOver, isWorkerStopping } from './heartbeat';
import { asApplicationFailure } from './to-application-failure';

export interface WebhookTarget {
  readonly url: string;
  /** Signing keys in base64: one, or two during a change. */
  readonly secrets: () => readonly string[];
}

export interface WebhookDependencies {
  readonly webhooks: ReadonlyMap<string, WebhookTarget>;
  readonly connections: Dispatcher;
  /** @default 20 seconds, as standard-webhooks recommends 15 to 30 */
  readonly answerWithinMs?: number;
}

const defaultAnswerWithinMs = 20_000;
const maxConnections = 32;
const unknownRetryMs = 5 * 60_000;

/** To be shared, and closed by the caller. Follows no redirect. */
export function createWebhookAgent(): Dispatcher {
  return openAgent({ connections: maxConnections, connectMs: 5_000 });
}

/** A second run sends the same id: receivers recognize it by that. */
export function createWebhookActivities(dependencies: WebhookDependencies): WebhookActivities {
  return { sendWebhook: (input) => asApplicationFailure(null, () => sendWebhook(dependencies, input)) };
}

async function sendWebhook(dependencies: WebhookDependencies, input: WebhookInput): Promise<WebhookDelivery> {
  const { webhooks, connections, answerWithinMs = defaultAnswerWithinMs } = dependencies;
  const { webhook } = input;
  const now = temporalClock();
  const target = webhooks.get(webhook);
  if (target === undefined) {
    count(metricMeter, metrics.webhooks, { webhook: 'unknown', outcome: 'unknown' });
    throw ApplicationFailure.create({
      type: failureTypes.WebhookUnknown,
      message: `This worker has no webhook "${webhook}"; add it to LONGHAUL_WEBHOOKS_FILE of the worker, and start the worker again`,
      nextRetryDelay: unknownRetryMs,
    });
  }
  const { cancellationSignal } = Context.current();
  const deadline = AbortSignal.timeout(answerWithinMs);
  let reply: Reply;
  try {
    reply = await post(connections, target, input, AbortSignal.any([cancellationSignal, deadline]));
  } catch (error) {
    if (cancellationSignal.aborted) throw stopReason(cancellationSignal);
    const reason = deadline.aborted ? `no answer within ${answerWithinMs / 1_000} seconds` : errorCode(error);
    const words = `The webhook "${webhook}" cannot be reached (${reason || 'connection failed'})`;
    throw undelivered(webhook, 'unreachable', words);
  }
  const { httpStatus } = reply;
  if (httpStatus < 200 || httpStatus >= 300) throw refused(webhook, reply);
  count(metricMeter, metrics.webhooks, { webhook, outcome: 'delivered' });
  return { deliveredAt: new Date(now()).toISOString(), httpStatus, attempt: activityInfo().attempt };
}

interface Reply {
  readonly httpStatus: number;
  readonly retryAfterMs: number | undefined;
}

async function post(
  connections: Dispatcher,
  { url, secrets }: WebhookTarget,
  { id, event }: WebhookInput,
  signal: AbortSignal,
): Promise<Reply> {
  const { origin, pathname, search } = new URL(url);
  const body = JSON.stringify(event);
  const signed = signedHeaders({ id, body, secrets: secrets(), nowMs: workerClock() });
  const reply = await connections.request({
    origin,
    path: `${pathname}${search}`,
    method: 'POST',
    body,
    signal,
    headers: { 'content-type': 'application/json', ...signed },
  });
  // The body is not read: it may be endless.
  reply.body.on('error', () => undefined).destroy();
  const [retryAfter, date] = [reply.headers['retry-after'], reply.headers['date']].flat();
  return { httpStatus: reply.statusCode, retryAfterMs: parseRetryAfter(retryAfter, date) };
}

interface Message {
  readonly id: string;
  readonly body: string;
  /** In base64. */
  readonly secrets: readonly string[];
  readonly nowMs: number;
}

/** Headers of standard-webhooks: a signature for each secret. @internal exported for tests */
export function signedHeaders({ id, body, secrets, nowMs }: Message): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1_000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret, 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}

function refused(webhook: string, { httpStatus, retryAfterMs }: Reply): ApplicationFailure {
  const answered = `The webhook "${webhook}" was answered with HTTP ${httpStatus}`;
  if (httpStatus === 410) {
    return undelivered(webhook, 'gone', `${answered}: its receiver is gone for good`, { nonRetryable: true });
  }
  if (httpStatus >= 300 && httpStatus < 400) {
    const words = `${answered}; redirects are not followed: correct its URL in LONGHAUL_WEBHOOKS_FILE`;
    return undelivered(webhook, 'refused', words);
  }
  // To Temporal a pause of 0 means never again.
  const mayWait = (httpStatus === 429 || httpStatus === 503) && retryAfterMs !== 0;
  return undelivered(webhook, 'refused', answered, { nextRetryDelay: mayWait ? retryAfterMs : undefined });
}

function undelivered(
  webhook: string,
  outcome: string,
  message: string,
  options: { readonly nonRetryable?: true; readonly nextRetryDelay?: number } = {},
): ApplicationFailure {
  count(metricMeter, metrics.webhooks, { webhook, outcome });
  return ApplicationFailure.create({ type: failureTypes.WebhookUndelivered, message, ...options });
}

/** Sent again, since it is not known whether the receiver got it. */
function stopReason(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  if (isWorkerStopping(reason)) return handOver('The worker stops; another one sends it.');
  return reason instanceof Error ? reason : new Error(String(reason));
}
