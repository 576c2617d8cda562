import * as z from 'zod';
import {
  canonicalStatus,
  integerLike,
  numbersByName,
  optionalMessage,
  optionalNumber,
  optionalWord,
  withoutUndefined,
  word,
} from './wire-values';

/**
 * A task as the service sees it (specification, section 2.3). Timestamps are the service's own text,
 * `YYYY-MM-DD HH:MM:SS` in UTC+8; a field that the service left out, left empty or malformed is absent. All texts are
 * bounded, and free of secrets.
 */
export interface TaskDetail {
  readonly requestId?: string;
  /** Task type, for example `API`. */
  readonly type?: string;
  /** The service's own word; `Canceled` also where it writes `Cancelled`. Unknown words are possible. */
  readonly status: string;
  readonly createdAt?: string;
  readonly updatedAt?: string;
  readonly executedAt?: string;
  readonly runningAt?: string;
  readonly endedAt?: string;
  /** When the record and the result files expire. */
  readonly expiredAt?: string;
  /** How many tasks are ahead in the queue; absent when the service does not know (-1) or the task is not queued. */
  readonly queuePosition?: number;
  /** Milliseconds by the service's own names (specification, section 2.5). */
  readonly costTimes: Readonly<Record<string, number>>;
  readonly groupId?: number;
  /** The top-level `inference_cost_time`, in seconds; the one in `costTimes` is in milliseconds. */
  readonly inferenceSeconds?: number;
  readonly errorMessage?: string;
}

const queueInfo = z.object({ queue_count: integerLike }).optional().catch(undefined);

/** Longest state, type, id and timestamp. */
const shortWord = optionalWord(64);
const requestId = optionalWord(200);

const wireDetail = z.object({
  requestId,
  request_id: requestId,
  type: shortWord,
  status: word(64),
  created_at: shortWord,
  updated_at: shortWord,
  executed_at: shortWord,
  running_at: shortWord,
  ended_at: shortWord,
  expired_at: shortWord,
  queue_info: queueInfo,
  queueInfo,
  cost_times: numbersByName,
  group_id: optionalNumber,
  inference_cost_time: optionalNumber,
  error_message: optionalMessage,
  error_msg: optionalMessage,
});

/** Schema of `data` of the detail endpoint. */
export const taskDetailSchema: z.ZodType<TaskDetail> = wireDetail.transform((wire) => {
  const queueCount = (wire.queue_info ?? wire.queueInfo)?.queue_count;
  return {
    ...withoutUndefined({
      requestId: wire.requestId ?? wire.request_id,
      type: wire.type,
      createdAt: wire.created_at,
      updatedAt: wire.updated_at,
      executedAt: wire.executed_at,
      runningAt: wire.running_at,
      endedAt: wire.ended_at,
      expiredAt: wire.expired_at,
      queuePosition: queueCount !== undefined && queueCount >= 0 ? queueCount : undefined,
      groupId: wire.group_id,
      inferenceSeconds: wire.inference_cost_time,
      errorMessage: wire.error_message ?? wire.error_msg,
    }),
    status: canonicalStatus(wire.status),
    costTimes: wire.cost_times,
  };
});
