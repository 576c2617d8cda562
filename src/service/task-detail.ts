import * as z from 'zod';
import { isRecord } from '../core/json';
import type { ServiceStatus } from '../core/task-state';
import { type ServiceTimestamp, toServiceTimestamp } from '../core/time';
import {
  readInteger,
  readMessage,
  readNumber,
  readNumbers,
  readWord,
  unread,
  withoutUndefined,
  word,
} from './wire-values';

/** The moments of a task (specification, sections 2.3 and 6); what the service left out, or left empty, is absent. */
export interface TaskTimestamps {
  readonly createdAt?: ServiceTimestamp;
  readonly updatedAt?: ServiceTimestamp;
  readonly executedAt?: ServiceTimestamp;
  readonly runningAt?: ServiceTimestamp;
  readonly endedAt?: ServiceTimestamp;
  /** When the record and the result files expire. */
  readonly expiredAt?: ServiceTimestamp;
}

/** Their fields on the wire. */
export const wireTimestamps = {
  created_at: unread,
  updated_at: unread,
  executed_at: unread,
  running_at: unread,
  ended_at: unread,
  expired_at: unread,
};

/** The same by the names of this library. */
export function readTimestamps(wire: Readonly<Partial<Record<keyof typeof wireTimestamps, unknown>>>): TaskTimestamps {
  return withoutUndefined({
    createdAt: readTimestamp(wire.created_at),
    updatedAt: readTimestamp(wire.updated_at),
    executedAt: readTimestamp(wire.executed_at),
    runningAt: readTimestamp(wire.running_at),
    endedAt: readTimestamp(wire.ended_at),
    expiredAt: readTimestamp(wire.expired_at),
  });
}

function readTimestamp(value: unknown): ServiceTimestamp | undefined {
  const raw = readWord(typeof value === 'number' ? String(value) : value, 64);
  return raw === undefined ? undefined : toServiceTimestamp(raw);
}

/**
 * A task as the service sees it (specification, section 2.3). A field that the service left out, left empty or malformed
 * is absent. All texts are bounded, and free of secrets.
 */
export interface TaskDetail extends TaskTimestamps {
  readonly requestId?: string;
  /** Task type, for example `API`. */
  readonly type?: string;
  /** A state of section 3, whatever the service's word for it; a word that is not known as it came. */
  readonly status: ServiceStatus | (string & {});
  /** How many tasks are ahead in the queue; absent when the service does not know (-1) or the task is not queued. */
  readonly queuePosition?: number;
  /** Milliseconds by the service's own names (specification, section 2.5). */
  readonly costTimes: Readonly<Record<string, number>>;
  readonly groupId?: number;
  /** The top-level `inference_cost_time`, in seconds; the one in `costTimes` is in milliseconds. */
  readonly inferenceSeconds?: number;
  readonly errorMessage?: string;
}

const wireDetail = z.object({
  requestId: unread,
  request_id: unread,
  type: unread,
  status: word(64),
  ...wireTimestamps,
  queue_info: unread,
  queueInfo: unread,
  cost_times: unread,
  group_id: unread,
  inference_cost_time: unread,
  error_message: unread,
  error_msg: unread,
});

/** Schema of `data` of the detail endpoint. */
export const taskDetailSchema: z.ZodType<TaskDetail> = wireDetail.transform((wire) => ({
  ...withoutUndefined({
    requestId: readWord(wire.requestId, 200) ?? readWord(wire.request_id, 200),
    type: readWord(wire.type, 64),
    queuePosition: readQueuePosition(wire.queue_info) ?? readQueuePosition(wire.queueInfo),
    groupId: readNumber(wire.group_id),
    inferenceSeconds: readNumber(wire.inference_cost_time),
    errorMessage: readMessage(wire.error_message) ?? readMessage(wire.error_msg),
  }),
  ...readTimestamps(wire),
  status: wire.status,
  costTimes: readNumbers(wire.cost_times),
}));

function readQueuePosition(queueInfo: unknown): number | undefined {
  const count = isRecord(queueInfo) ? readInteger(queueInfo['queue_count']) : undefined;
  return count !== undefined && count >= 0 ? count : undefined;
}
