import * as z from 'zod';
import { isRecord } from '../core/json';
import type { ServiceStatus } from '../core/task-state';
import {
  boundedList,
  optionalWord,
  readLink,
  readMessage,
  readNumber,
  readWord,
  withoutUndefined,
  word,
} from './wire-values';

const maxWordLength = 64;

/** One result file of a task (specification, section 2.4). */
export interface OutputItem {
  /** Time-limited link that needs no other credential, so it goes into no log, file or history. */
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

/** What the outputs endpoint returns of a task (specification, section 4.3). */
export interface TaskOutputs {
  readonly requestId?: string;
  /** As in {@link TaskDetail}. */
  readonly status: ServiceStatus | (string & {});
  /** Empty while the task runs, and where the service gives null. */
  readonly outputs: readonly OutputItem[];
}

/** An output item of the outputs endpoint or of a callback. One that is no object must not keep the others from being fetched. */
const outputItemSchema: z.ZodType<OutputItem> = z
  .unknown()
  .transform((item) => toOutputItem(isRecord(item) ? item : {}));

/** Field by field: copying objects would take most of the time for a long list. */
function toOutputItem(wire: Record<string, unknown>): OutputItem {
  const objectUrl = readLink(wire['object_url']);
  const costTimeMs = readNumber(wire['cost_time']);
  const auditStatus = readNumber(wire['audit_status']);
  const errorMessage = readMessage(wire['error_msg']) ?? readMessage(wire['error_message']);
  const item: { -readonly [Name in keyof OutputItem]: OutputItem[Name] } = {
    ext: readExt(wire['output_ext']),
    auditStatus: auditStatus !== undefined && Number.isInteger(auditStatus) ? auditStatus : null,
    errorType: readWord(wire['error_type'], maxWordLength) ?? (objectUrl === undefined ? 'UNKNOWN' : 'NOT_ERROR'),
  };
  if (objectUrl !== undefined) item.objectUrl = objectUrl;
  if (costTimeMs !== undefined) item.costTimeMs = costTimeMs;
  if (errorMessage !== undefined) item.errorMessage = errorMessage;
  return item;
}

function readExt(value: unknown): string {
  const ext = readWord(value, maxWordLength) ?? '';
  return ext === '' || ext.startsWith('.') ? ext : `.${ext}`;
}

/** The most results of a task; a reply of 8 MiB could list millions of empty ones. */
const maxOutputs = 20_000;

/** A list of output items; one that is missing or null is empty. */
export const outputList = boundedList(outputItemSchema, maxOutputs)
  .nullish()
  .transform((items) => items ?? []);

const wireOutputs = z.object({
  request_id: optionalWord(200),
  requestId: optionalWord(200),
  status: word(64),
  outputs: outputList,
});

/** Schema of `data` of the outputs endpoint. */
export const taskOutputsSchema: z.ZodType<TaskOutputs> = wireOutputs.transform((wire) => ({
  ...withoutUndefined({ requestId: wire.request_id ?? wire.requestId }),
  status: wire.status,
  outputs: wire.outputs,
}));
