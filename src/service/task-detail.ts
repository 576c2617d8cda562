import * as z from 'zod';
import { readTimestamps, type TaskTimestamps, wireTimestamps } from './task-timestamps';
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
 * A task as the service sees it (specification, section 2.3). A field that the service left out, left empty or malformed
 * is absent. All texts are bounded, and free of secrets.
 */
export interface TaskDetail extends TaskTimestamps {
  readonly requestId?: string;
  /** Task type, for example `API`. */
  readonly type?: string;
  /** The service's own word; `Canceled` also where it writes `Cancelled`. Unknown words are possible. */
  readonly status: string;
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

/** Longest state and type. */
const shortWord = optionalWord(64);
const requestId = optionalWord(200);

const wireDetail = z.object({
  requestId,
  request_id: requestId,
  type: shortWord,
  status: word(64),
  ...wireTimestamps,
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
      queuePosition: queueCount !== undefined && queueCount >= 0 ? queueCount : undefined,
      groupId: wire.group_id,
      inferenceSeconds: wire.inference_cost_time,
      errorMessage: wire.error_message ?? wire.error_msg,
    }),
    ...readTimestamps(wire),
    status: canonicalStatus(wire.status),
    costTimes: wire.cost_times,
  };
});
