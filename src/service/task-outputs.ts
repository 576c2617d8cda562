import { z } from 'zod';
import { canonicalStatus } from './canonical-status';
import { integerLike, optionalNumber, optionalText, withoutUndefined, withRaw } from './wire-values';

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
  /** Everything that came, as it came; the items hold links. */
  readonly raw: Readonly<Record<string, unknown>>;
}

/** Schema of an output item, the same in the outputs endpoint and in callbacks. */
const outputItemSchema: z.ZodType<OutputItem> = z
  .looseObject({
    object_url: optionalText,
    output_ext: optionalText,
    cost_time: optionalNumber,
    audit_status: integerLike.nullable().catch(null),
    error_type: optionalText,
    error_msg: optionalText,
    error_message: optionalText,
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

const wireOutputs = z.looseObject({
  request_id: optionalText,
  requestId: optionalText,
  status: z.string().min(1),
  outputs: z
    .array(outputItemSchema)
    .nullish()
    .transform((items) => items ?? []),
});

/** Schema of `data` of the outputs endpoint. */
export const taskOutputsSchema: z.ZodType<TaskOutputs> = withRaw(wireOutputs).transform(({ wire, raw }) => ({
  ...withoutUndefined({ requestId: wire.request_id ?? wire.requestId }),
  status: canonicalStatus(wire.status),
  outputs: wire.outputs,
  raw,
}));
