import * as v from 'valibot';
import { readNamedEnd } from '../core/callback-notice';
import { isRecord, parseJson } from '../core/json';
import type { EnvelopeRules } from '../core/service-dialect';
import { isTerminal, parseServiceStatus, type ServiceStatus, type TerminalStatus } from '../core/task-state';
import { type ServiceTimestamp, toServiceTimestamp } from '../core/time';
import type { Answer } from './endpoints';
import * as envelope from './envelope';
import { ServiceResponseInvalidError } from './errors';

const { readInteger, readLink, readMessage, readNumber, readNumbers, readWord, required } = envelope;
const [maxIdLength, maxWordLength] = [200, 64];

/** Timestamps of a task (specification, sections 2.3 and 6); absent when the service gave none. */
export interface TaskTimestamps {
  readonly createdAt?: ServiceTimestamp;
  readonly updatedAt?: ServiceTimestamp;
  readonly executedAt?: ServiceTimestamp;
  readonly runningAt?: ServiceTimestamp;
  readonly endedAt?: ServiceTimestamp;
  /** When the record and the result files expire. */
  readonly expiredAt?: ServiceTimestamp;
}

/**
 * A task as the service sees it (specification, section 2.3). Missing, empty or malformed fields are absent. All texts
 * are bounded, and free of secrets.
 */
export interface TaskDetail extends TaskTimestamps {
  readonly requestId?: string;
  /** For example `API`. */
  readonly type?: string;
  /** A state of section 3; an unknown word as it came. */
  readonly status: ServiceStatus | (string & {});
  /** Tasks ahead in the queue; absent when not known (-1) or not queued. */
  readonly queuePosition?: number;
  /** Milliseconds by the service's own names (specification, section 2.5). */
  readonly costTimes: Readonly<Record<string, number>>;
  readonly groupId?: number;
  /** The top-level `inference_cost_time`, in seconds; the one in `costTimes` is in milliseconds. */
  readonly inferenceSeconds?: number;
  readonly errorMessage?: string;
}

/** A task that is over (specification, section 6), with links of its outputs. */
export interface EndedTask extends Omit<TaskDetail, 'status' | 'queuePosition' | 'groupId' | 'inferenceSeconds'> {
  /** As in {@link TaskDetail}. */
  readonly status: TerminalStatus | (string & {});
  readonly outputs: readonly OutputItem[];
}

/** One result file of a task (specification, section 2.4). */
export interface OutputItem {
  /** Time-limited link that needs no other credential: keep it out of logs, files and histories. */
  readonly objectUrl?: string;
  /** With its leading dot; empty when the service gave none. */
  readonly ext: string;
  /** Milliseconds from the task's start; absent when the service gave none. */
  readonly costTimeMs?: number;
  /** Its meaning depends on where it was read (section 2.4 has two tables). */
  readonly auditStatus: number | null;
  /** `NOT_ERROR` on success, and by default for an item that has a link. */
  readonly errorType: string;
  readonly errorMessage?: string;
}

/** The reply of the outputs endpoint (specification, section 4.3). */
export interface TaskOutputs {
  readonly requestId?: string;
  /** As in {@link TaskDetail}. */
  readonly status: ServiceStatus | (string & {});
  /** Empty while the task runs, and where the service gives null. */
  readonly outputs: readonly OutputItem[];
}

/** The reply of a synchronous create, whose body is not specified (section 4.1). */
export interface SyncTaskReply {
  readonly httpStatus: number;
  /** The unchanged body; it may hold links. */
  readonly body: string;
  /** The ended task, where the body or its envelope's data has one in the form of section 6. */
  readonly task: EndedTask | null;
}

/** A callback (specification, section 6): a task that is over. It may come several times. */
export interface TaskCallback extends EndedTask {
  readonly requestId: string;
}

const withStatus = v.object({ status: required((value) => readWord(value, maxWordLength)) });

export function readTaskDetail(data: unknown): TaskDetail {
  const { status } = v.parse(withStatus, data);
  const wire = data as envelope.Wire;
  return {
    ...readFacts(wire),
    status,
    queuePosition: readQueuePosition(wire['queue_info']) ?? readQueuePosition(wire['queueInfo']),
    groupId: readNumber(wire['group_id']),
    inferenceSeconds: readNumber(wire['inference_cost_time']),
  };
}

function readFacts(wire: envelope.Wire): Omit<EndedTask, 'status' | 'outputs'> {
  return {
    requestId: readRequestId(wire),
    type: readWord(wire['type'], maxWordLength),
    createdAt: readTimestamp(wire['created_at']),
    updatedAt: readTimestamp(wire['updated_at']),
    executedAt: readTimestamp(wire['executed_at']),
    runningAt: readTimestamp(wire['running_at']),
    endedAt: readTimestamp(wire['ended_at']),
    expiredAt: readTimestamp(wire['expired_at']),
    costTimes: readNumbers(wire['cost_times']),
    errorMessage: readMessage(wire['error_message']) ?? readMessage(wire['error_msg']),
  };
}

function readRequestId(wire: envelope.Wire): string | undefined {
  return readWord(wire['request_id'], maxIdLength) ?? readWord(wire['requestId'], maxIdLength);
}

function readTimestamp(value: unknown): ServiceTimestamp | undefined {
  const raw = readWord(typeof value === 'number' ? String(value) : value, 64);
  return raw === undefined ? undefined : toServiceTimestamp(raw);
}

function readQueuePosition(queueInfo: unknown): number | undefined {
  const count = isRecord(queueInfo) ? readInteger(queueInfo['queue_count']) : undefined;
  return count !== undefined && count >= 0 ? count : undefined;
}

/** A reply of 8 MiB could list millions of empty ones. */
const maxOutputs = 20_000;

const withOutputs = v.object({
  ...withStatus.entries,
  outputs: v.nullish(envelope.boundedList(v.pipe(v.unknown(), v.transform(readOutput)), maxOutputs), []),
});

export function readTaskOutputs(data: unknown): TaskOutputs {
  return { ...v.parse(withOutputs, data), requestId: readRequestId(data as envelope.Wire) };
}

/** A malformed item must not keep the others from being fetched. */
function readOutput(item: unknown): OutputItem {
  const wire: envelope.Wire = isRecord(item) ? item : {};
  const ext = readWord(wire['output_ext'], maxWordLength) ?? '';
  const objectUrl = readLink(wire['object_url']);
  return {
    objectUrl,
    ext: ext === '' || ext.startsWith('.') ? ext : `.${ext}`,
    costTimeMs: readNumber(wire['cost_time']),
    auditStatus: readInteger(wire['audit_status']) ?? null,
    errorType: readWord(wire['error_type'], maxWordLength) ?? (objectUrl === undefined ? 'UNKNOWN' : 'NOT_ERROR'),
    errorMessage: readMessage(wire['error_msg']) ?? readMessage(wire['error_message']),
  };
}

type States = ReadonlyMap<string, ServiceStatus>;

function readEndedTask(data: unknown, states?: States): EndedTask {
  const { status, outputs } = v.parse(withOutputs, data);
  return { ...readFacts(data as envelope.Wire), status: parseServiceStatus(status, states) ?? status, outputs };
}

/**
 * Reads the body of a callback (section 6), raw or as parsed JSON. The receiver must check the token in its
 * `Authorization` header (section 5). A callback may be late: ask `getTask` where money depends on it.
 *
 * @throws ServiceResponseInvalidError naming what is wrong, never a value.
 */
export function parseCallback(body: unknown): TaskCallback {
  const text = body instanceof Uint8Array ? Buffer.from(body).toString('utf8') : body;
  const json = typeof text === 'string' ? parseJson(text) : text;
  const named = readNamedEnd(json);
  let problem = 'it is no JSON with a request_id and a status';
  try {
    if (named !== undefined) return { ...readEndedTask(json), requestId: named.requestId };
  } catch (error) {
    problem = envelope.formatProblems(error);
  }
  throw new ServiceResponseInvalidError(`callback: its body is not as specified: ${problem}`, { httpStatus: null });
}

/**
 * The ended task in the reply of a synchronous create (section 4.1); null when there is none. Only the HTTP status, or
 * an envelope with `status` false and no task, refuses: anything else may be the result of a paid task.
 *
 * @throws ServiceApiError when the service refused.
 */
export function readSyncTask(answer: Answer, rules: EnvelopeRules, states: States): EndedTask | null {
  const json = parseJson(answer.reply.text);
  const task = isRecord(json) ? (findEndedTask(json, states) ?? findEndedTask(json['data'], states)) : null;
  const isRefused = task === null && isRecord(json) && json['status'] === false;
  if (isRefused || envelope.isRefusedByStatus(answer)) throw envelope.toRefusal(answer, json, rules);
  return task;
}

function findEndedTask(place: unknown, states: States): EndedTask | null {
  if (!v.is(withOutputs, place)) return null;
  const task = readEndedTask(place, states);
  return isTerminal(task.status) ? task : null;
}
