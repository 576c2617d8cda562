import { z } from 'zod';
import { canonicalStatus } from './canonical-status';
import {
  integerLike,
  link,
  listOf,
  optionalMessage,
  optionalNumber,
  optionalWord,
  withoutUndefined,
  word,
} from './wire-values';

/** One result file of a task (specification, section 2.4). */
export interface OutputItem {
  /** Time-limited link: whoever has it has the file, so it goes into no log, file or history. */
  readonly objectUrl?: string;
  /** With its leading dot; empty when the service gave none. */
  readonly ext: string;
  /** Milliseconds from the task's start to this output; absent when the service gave none. */
  readonly costTimeMs?: number;
  /** As the service gave it: its meaning depends on where it was read (section 2.4 has two tables). */
  readonly auditStatus: number | null;
  /** `NOT_ERROR` on success, and where the service names no error for an item that has a link. */
  readonly errorType: string;
  readonly errorMessage?: string;
}

/** What the outputs endpoint tells of a task (specification, section 4.3). */
export interface TaskOutputs {
  readonly requestId?: string;
  /** The service's own word, as in {@link TaskDetail}. */
  readonly status: string;
  /** Empty while the task runs, and where the service gives null. */
  readonly outputs: readonly OutputItem[];
}

/** Schema of an output item, the same in the outputs endpoint and in callbacks. */
const outputItemSchema: z.ZodType<OutputItem> = z
  .object({
    object_url: link.optional().catch(undefined),
    output_ext: optionalWord(64),
    cost_time: optionalNumber,
    audit_status: integerLike.nullable().catch(null),
    error_type: optionalWord(64),
    error_msg: optionalMessage,
    error_message: optionalMessage,
  })
  .transform((wire) => ({
    ...withoutUndefined({
      objectUrl: wire.object_url,
      costTimeMs: wire.cost_time,
      errorMessage: wire.error_msg ?? wire.error_message,
    }),
    ext: wire.output_ext ?? '',
    auditStatus: wire.audit_status,
    errorType: wire.error_type ?? (wire.object_url === undefined ? 'UNKNOWN' : 'NOT_ERROR'),
  }));

/** More results than this no task has; a reply of 8 MiB could name millions of empty ones. */
const maxOutputs = 20_000;

const wireOutputs = z.object({
  request_id: optionalWord(200),
  requestId: optionalWord(200),
  status: word(64),
  outputs: listOf(outputItemSchema, maxOutputs)
    .nullish()
    .transform((items) => items ?? []),
});

/** Schema of `data` of the outputs endpoint. */
export const taskOutputsSchema: z.ZodType<TaskOutputs> = wireOutputs.transform((wire) => ({
  ...withoutUndefined({ requestId: wire.request_id ?? wire.requestId }),
  status: canonicalStatus(wire.status),
  outputs: wire.outputs,
}));
