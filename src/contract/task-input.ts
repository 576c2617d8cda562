import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import * as v from 'valibot';
import { isRequestId } from '../core/create-outcome';
import { canonicalJson, isFields, isRecord } from '../core/json';
import { type PollBounds, recommendedPollBounds } from '../core/poll-cadence';
import { textRemedy } from '../core/text';
import { maxDurationDays, parseDuration } from '../core/time';
import { uriKind } from '../core/uri';
import { longHistoryEvents } from '../core/workflow-tasks';
import { archiveFolderRemedy, type BatchMembership, isArchiveFolder, isBatchMembership } from './archive-folder';
import { fields, flag, oneOf, textLike, wholeNumber } from './schema';
import { taskKey } from './workflow-ids';

export type { OutputNaming } from './archive-folder';

/** What a loader node is given for an uploaded file: the resource's URL (default), its name or its id. */
export type ResourceForm = 'url' | 'name' | 'id';

const durationRemedy = `a duration such as "90 seconds" or "12h", or milliseconds as a number, at most ${maxDurationDays} days`;
const duration = v.pipe(
  v.custom<Duration>((value) => parseDuration(value) !== undefined, durationRemedy),
  v.transform((value) => parseDuration(value) ?? 0),
);
const deadline = v.pipe(duration, v.minValue(1, `${durationRemedy}, and above 0`));

/** A duration as text (`"90 seconds"`, `"12h"`, `"500ms"`, `"2 days"`) or as a number of milliseconds. */
export type Duration = number | `${number}${'' | ' '}${DurationUnit}`;
type DurationUnit = 'ms' | 's' | 'm' | 'h' | 'd' | `${'millisecond' | 'second' | 'minute' | 'hour' | 'day'}${'' | 's'}`;

export const deadlinesSchema = v.object({
  /** From accepted to running. */
  queue: v.exactOptional(deadline, '24h'),
  /** From running to the end. */
  run: v.exactOptional(deadline, '12h'),
  /** From the start of the workflow. */
  total: v.exactOptional(deadline, '48h'),
});
/** How long a task may take before it is stopped, such as `{ run: "6h", total: "12h" }`. Defaults: 24 h, 12 h, 48 h. */
export type Deadlines = v.InferInput<typeof deadlinesSchema>;

/**
 * How a task is watched: `timer`, by its workflow, 6 history events a poll; `activity`, by a heartbeating activity, a
 * handful of events in all.
 */
export type WatchWay = 'timer' | 'activity';

/** What to do when it is not known whether the create was accepted. */
export type UncertainPolicy = 'hold' | 'fail' | 'recreate';

// What a timer, a timeout and a retry policy of Temporal take; any of them refuses zero or halves at run time.
const setting = wholeNumber(1, maxDurationDays * 86_400_000);
const pollBounds = v.pipe(
  v.custom<PollBounds>(
    (value) =>
      isRecord(value) &&
      v.is(setting, value['minMs']) &&
      v.is(setting, value['maxMs']) &&
      value['minMs'] <= value['maxMs'],
    '{ minMs, maxMs }: two whole numbers from 1, the smaller first',
  ),
  v.transform(({ minMs, maxMs }): PollBounds => ({ minMs, maxMs })),
);
export const tuningSchema = v.object({
  /** The service recommends 1 to 3 s (specification, section 8). */
  poll: v.exactOptional(pollBounds, recommendedPollBounds),
  /** First wait after a create that was not sent or was refused for now; doubles up to `createRetryMaxMs`. */
  createRetryMs: v.exactOptional(setting, 2_000),
  createRetryMaxMs: v.exactOptional(setting, 60_000),
  /** How long the createTask activity may take, its HTTP timeout included. */
  createTimeoutMs: v.exactOptional(setting, 45_000),
  /** How long "no such task" counts as "not visible yet" after the create. */
  notVisibleGraceMs: v.exactOptional(setting, 60_000),
  /** How long after the death of a worker that watched a new task another one takes over; ten times that at most. */
  watchHeartbeatMs: v.exactOptional(setting, 30_000),
  /** How long a stop may stay unconfirmed. */
  stopGraceMs: v.exactOptional(setting, 600_000),
  /** How long archiving is retried before the task is parked as `ArchiveIncomplete`. */
  archiveGraceMs: v.exactOptional(setting, 24 * 3_600_000),
  /** First pause of a parked archive before it tries again by itself; each is twice the one before, up to six hours. */
  archivePauseMs: v.exactOptional(setting, 60_000),
  /** After how long the watch by activity tells the workflow a state, for its page and for lists. @default 60000 */
  watchTellMs: v.exactOptional(setting, 60_000),
  /** Longest pause between two attempts of an activity. */
  retryMaxMs: v.exactOptional(setting, 60_000),
  /** A run with so many events, 120 at most, continues as new at the next quiet moment. */
  continueAsNewAfterEvents: v.exactOptional(setting, longHistoryEvents),
});
/** Every duration of the workflow that is not a deadline; for tests and special cases. */
export type TaskTuning = Readonly<v.InferOutput<typeof tuningSchema>>;

const knownTuning = `an object with ${Object.keys(tuningSchema.entries).join(', ')}`;
const commonEntries = {
  /** A named set of credentials that the worker resolves. Default: `default`. @pattern ^[A-Za-z0-9._-]{1,80}$ */
  account: v.optional(taskKey, 'default'),
  /** A folder inside the worker's archive; relative. Default: its top. */
  archive: v.optional(v.custom<string>(isArchiveFolder, archiveFolderRemedy), ''),
  /** How the end is noticed. Default: `timer`. */
  watch: v.optional(oneOf(['timer', 'activity']), 'timer'),
  /** How long it may queue, run, and take in all. Default: 24 h, 12 h and 48 h. */
  deadlines: v.optional(fields(deadlinesSchema, 'one or more of queue, run and total, such as { total: "12h" }'), {}),
  /** A webhook of the workers' configuration, sent when a task ends. Default: none. @pattern ^[A-Za-z0-9._-]{1,80}$ */
  webhook: v.optional(taskKey),
  /** Set by the batch that the task is a row of. */
  batch: v.optional(
    v.pipe(
      v.custom<BatchMembership>(isBatchMembership, '{ id, key, names? }, which only a batch sets'),
      v.transform(({ id, key, names }): BatchMembership => ({ id, key, names })),
    ),
  ),
  tuning: v.optional(fields(tuningSchema, knownTuning), {}),
};

const filePath = v.custom<string>(
  (value) => typeof value === 'string' && value.trim() !== '' && uriKind(value) !== 'foreign',
  ({ input }) => textRemedy(input, 'a path, an https: URL or an s3: URI'),
);
export const fileSchema = v.object({
  /** A path under the worker's input roots, an `https:` URL, or an `s3:` URI that it may read. @minLength 1 */
  file: filePath,
  as: v.optional(oneOf(['url', 'name', 'id']), 'url'),
  /** What its content must be, in hex: of another one nothing is created. @pattern ^[0-9a-f]{64}$ */
  sha256: v.optional(textLike(/^[0-9a-f]{64}$/, 'a SHA-256 as 64 hexadecimal digits')),
});
/** An input that is a file: uploaded first, then given to the app as a resource. */
export type FileInput = v.InferInput<typeof fileSchema> & {
  /** An input is a file or, in the library, a content, not both. @hide */
  readonly content?: never;
};

/** One value of `inputs`: passed on unchanged, or a file (specification, section 2.2). */
export type InputValue = string | number | FileInput;

const positive = (meaning: string) => wholeNumber(1, undefined, `${meaning} as a positive whole number`);
const webAppId = positive('the app’s web_app_id');
const createNumber = v.optional(positive('a count from 1'), 1);

export const newTaskSchema = v.object({
  /** The app's `web_app_id`. @asType integer @minimum 1 */
  webAppId,
  /** Keys `<node_id>:<NodeClass>.<parameter>`. @propertyNames { "pattern": "^[^:]+:.+[.][^.]+$" } */
  inputs: v.custom<Readonly<Record<string, InputValue>>>(
    isFields,
    'an object of "<node_id>:<NodeClass>.<parameter>": value',
  ),
  /** Passed on as `suppress_preview_output`. */
  suppressPreviewOutput: v.optional(flag),
  /** When it is not known whether the create was taken; `recreate` may pay twice. Default: `hold`, for a person. */
  onUncertain: v.optional(oneOf(['hold', 'fail', 'recreate']), 'hold'),
  /**
   * How long `fail` and `recreate` wait for a callback that would bring the request id. Default: the rest of
   * `deadlines.total` when the create asked for a callback, otherwise they act at once.
   */
  uncertainWait: v.optional(duration),
  /**
   * Which create of this workflow id, from 1. Only an accepted second charge raises it: `recreate`, or the client's
   * `retry` after a task that is over.
   * @asType integer
   * @minimum 1
   */
  createNumber,
  ...commonEntries,
});
/** Input of a `task` workflow that creates its task. Plain JSON, so that any Temporal SDK can start it. */
export type NewTaskInput = v.InferInput<typeof newTaskSchema>;

export const adoptSchema = v.object({
  /** The service's id of the task, as the service shows it. @pattern ^[!-~]{1,200}$ */
  requestId: v.custom<string>(isRequestId),
});
export type AdoptRequest = v.InferInput<typeof adoptSchema>;

/** Answer to `CreateUncertain`: the task that the create made. */
export interface AdoptDecision extends AdoptRequest {
  /** Also a task created before the create was sent, or that another create made or may have made. @default false */
  readonly force?: boolean;
}

export const adoptedTaskSchema = v.object({
  adopt: v.custom<AdoptRequest>(
    (value) => v.is(adoptSchema, value),
    '{ requestId } with the service’s request id as text',
  ),
  /** The app's `web_app_id`, if known: the service does not tell it; costs depend on it. @asType integer @minimum 1 */
  webAppId: v.optional(webAppId),
  /** Which create of this workflow id made the task, when one did. @default 1 @asType integer @minimum 1 */
  createNumber,
  ...commonEntries,
});
/** Input of a `task` workflow that takes over a task made elsewhere. */
export type AdoptedTaskInput = v.InferInput<typeof adoptedTaskSchema>;

/** Input of the `task` workflow. */
export type TaskInput = NewTaskInput | AdoptedTaskInput;

/** What an input chose that a worker's operator may not allow; the activities know what is allowed. */
export interface TaskChoices {
  readonly tuning?: Partial<TaskTuning>;
  readonly onUncertain?: 'recreate';
}

export function taskChoices(input: TaskInput): TaskChoices | undefined {
  const { tuning } = input;
  const onUncertain = 'onUncertain' in input && input.onUncertain === 'recreate' ? input.onUncertain : undefined;
  return tuning === undefined && onUncertain === undefined ? undefined : { tuning, onUncertain };
}

/**
 * SHA-256 (hex) of what a key stands for: what is paid for, or, of an adopted task, its request id and account. How it
 * is followed and archived is left out.
 */
export function inputDigest(input: TaskInput): string {
  return digest(paidFields(input));
}

function paidFields(input: TaskInput): Readonly<Record<string, unknown>> {
  const { account = 'default', webAppId } = input;
  if ('adopt' in input) return { account, adopt: input.adopt };
  return { account, webAppId, inputs: input.inputs, suppressPreviewOutput: input.suppressPreviewOutput === true };
}

/** Names of the paid fields in which two inputs differ, each input of the app as `inputs["2:ImageScale.width"]`. */
export function differingFields(one: TaskInput, other: TaskInput): readonly string[] {
  const [fields, others] = [fieldsByName(one), fieldsByName(other)];
  const names = new Set([...fields.keys(), ...others.keys()]);
  return [...names].filter((name) => canonicalJson(fields.get(name)) !== canonicalJson(others.get(name)));
}

function fieldsByName(input: TaskInput): ReadonlyMap<string, unknown> {
  const { inputs, ...others } = paidFields(input);
  const byKey = Object.entries(isRecord(inputs) ? inputs : {});
  return new Map([
    ...Object.entries(others),
    ...byKey.map(([key, one]) => [`inputs[${JSON.stringify(key)}]`, one] as const),
  ]);
}

function digest(value: unknown): string {
  return bytesToHex(sha256(utf8ToBytes(canonicalJson(value))));
}
