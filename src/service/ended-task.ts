import * as z from 'zod';
import { readNamedEnd } from '../core/callback-notice';
import { isRecord, parseJson } from '../core/json';
import type { EnvelopeRules } from '../core/service-dialect';
import { isTerminal, parseServiceStatus, type ServiceStatus, type TerminalStatus } from '../core/task-state';
import type { Answer } from './endpoints';
import { formatProblems, isRefusedByStatus, toRefusal } from './envelope';
import { ServiceResponseInvalidError } from './errors';
import { type OutputItem, outputList } from './task-outputs';
import { readTimestamps, type TaskTimestamps, wireTimestamps } from './task-detail';
import { readMessage, readNumbers, readWord, unread, withoutUndefined, word } from './wire-values';

/** What the service says of a task that is over (specification, section 6), with links of its outputs. */
export interface EndedTask extends TaskTimestamps {
  readonly requestId?: string;
  /** Task type, for example `API`. */
  readonly type?: string;
  /** A state of section 3, whatever the service's word for it; a word that is not known as it came. */
  readonly status: TerminalStatus | (string & {});
  readonly outputs: readonly OutputItem[];
  /** Milliseconds by the service's own names (specification, section 2.5). */
  readonly costTimes: Readonly<Record<string, number>>;
  readonly errorMessage?: string;
}

/** The reply of a synchronous create, whose body the specification does not show (section 4.1). */
export interface SyncTaskReply {
  readonly httpStatus: number;
  /** The body as it came; it may hold links. */
  readonly body: string;
  /** The task, which has ended, where the body or the data of its envelope says so in the words of section 6. */
  readonly task: EndedTask | null;
}

/** What a callback says (specification, section 6): a task that is over. The same one may come several times. */
export interface TaskCallback extends EndedTask {
  readonly requestId: string;
}

const wireTask = z.object({
  request_id: unread,
  requestId: unread,
  type: unread,
  status: word(64),
  ...wireTimestamps,
  outputs: outputList,
  cost_times: unread,
  error_message: unread,
  error_msg: unread,
});

function toEndedTask(wire: z.output<typeof wireTask>, states?: ReadonlyMap<string, ServiceStatus>): EndedTask {
  return {
    ...withoutUndefined({
      requestId: readWord(wire.request_id, 200) ?? readWord(wire.requestId, 200),
      type: readWord(wire.type, 64),
      errorMessage: readMessage(wire.error_message) ?? readMessage(wire.error_msg),
    }),
    ...readTimestamps(wire),
    status: parseServiceStatus(wire.status, states) ?? wire.status,
    outputs: wire.outputs,
    costTimes: readNumbers(wire.cost_times),
  };
}

/**
 * Reads the body of a callback (section 6), as it came or as parsed JSON. Whether the call is the service's is for the
 * receiver to check, by the token in its `Authorization` header (section 5); and what a callback says may be late, so
 * ask `getTask` where money depends on it.
 *
 * @throws ServiceResponseInvalidError naming what is wrong, never a value.
 */
export function parseCallback(body: unknown): TaskCallback {
  const text = body instanceof Uint8Array ? Buffer.from(body).toString('utf8') : body;
  const json = typeof text === 'string' ? parseJson(text) : text;
  const named = readNamedEnd(json);
  if (named === undefined) throw invalidCallback('it is no JSON with a request_id and a status');
  const parsed = wireTask.safeParse(json);
  if (!parsed.success) throw invalidCallback(formatProblems(parsed.error));
  return { ...toEndedTask(parsed.data), requestId: named.requestId };
}

function invalidCallback(problem: string): ServiceResponseInvalidError {
  return new ServiceResponseInvalidError(`callback: its body is not as specified: ${problem}`, { httpStatus: null });
}

/**
 * The task in the reply to a synchronous create, whose body the specification does not show (section 4.1): one that has
 * ended, in the body itself or in the data of an envelope; null when there is none. Refused is what the HTTP status, or an
 * envelope with `status` false that holds no task, refuses: anything else may be the result of a task that was paid for.
 *
 * @throws ServiceApiError when the service refused.
 */
export function readSyncTask(
  answer: Answer,
  rules: EnvelopeRules,
  states?: ReadonlyMap<string, ServiceStatus>,
): EndedTask | null {
  const json = parseJson(answer.reply.text);
  const task = isRecord(json) ? (findEndedTask(json, states) ?? findEndedTask(json['data'], states)) : null;
  const isRefused = task === null && isRecord(json) && json['status'] === false;
  if (isRefused || isRefusedByStatus(answer.reply)) throw toRefusal(answer, json, rules);
  return task;
}

function findEndedTask(place: unknown, states?: ReadonlyMap<string, ServiceStatus>): EndedTask | null {
  const parsed = wireTask.safeParse(place);
  const task = parsed.success ? toEndedTask(parsed.data, states) : null;
  return task !== null && isTerminal(task.status) ? task : null;
}
