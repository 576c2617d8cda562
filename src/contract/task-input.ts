import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { canonicalJson, isRecord } from '../domain/json';
import type { PollBounds } from '../domain/poll-cadence';

/** What a loader node is given for an uploaded file: the resource's URL (default), its name or its id. */
export type ResourceForm = 'url' | 'name' | 'id';

/** An input that is a file: uploaded first, then given to the app as a resource. */
export interface FileInput {
  /**
   * A path under the worker's input roots, an `https:` URL, or an `s3:` URI of a bucket that it may read.
   *
   * @minLength 1
   */
  readonly file: string;
  readonly as?: ResourceForm;
  /**
   * An input is a file, or of the library a content, not both.
   *
   * @hide
   */
  readonly content?: never;
}

/** One value of `inputs`: passed on unchanged, or a file (specification, section 2.2). */
export type InputValue = string | number | FileInput;

/** A duration as text (`"90 seconds"`, `"12h"`, `"500ms"`, `"2 days"`) or as a number of milliseconds. */
export type Duration = string | number;

/** How long a task may take before it is stopped, such as `{ run: "6h", total: "12h" }`. Defaults: 24 h, 12 h, 48 h. */
export interface Deadlines {
  /** From accepted to running. */
  readonly queue?: Duration;
  /** From running to the end. */
  readonly run?: Duration;
  /** From the start of the workflow. */
  readonly total?: Duration;
}

/**
 * How a task is watched: `timer`, by durable timers in its workflow, 6 history events a poll; `activity`, by one
 * heartbeating activity, a handful of events in all; a worker has thousands of these.
 */
export type WatchWay = 'timer' | 'activity';

/** What to do when it is not known whether the create was accepted. */
export type UncertainPolicy = 'hold' | 'fail' | 'recreate';

/** Every duration of the workflow that is not a deadline; for tests and special cases. */
export interface TaskTuning {
  /** The service recommends 1 to 3 s (specification, section 8). */
  readonly poll: PollBounds;
  /** First wait after a create that was not sent or was refused for now; doubles up to `createRetryMaxMs`. */
  readonly createRetryMs: number;
  readonly createRetryMaxMs: number;
  /** How long the createTask activity may take, its HTTP timeout included. */
  readonly createTimeoutMs: number;
  /** How long "no such task" counts as "not visible yet" after the create. */
  readonly notVisibleGraceMs: number;
  /** How long after the death of a worker that watched the task another one takes over. */
  readonly watchHeartbeatMs: number;
  /** How long a stop may stay unconfirmed. */
  readonly stopGraceMs: number;
  /** How long archiving is retried before the task is parked as `ArchiveIncomplete`. */
  readonly archiveGraceMs: number;
  /** First pause of a parked archive before it tries again by itself; each is twice the one before, up to six hours. */
  readonly archivePauseMs: number;
  /** After how long the watch by activity tells the workflow a state, for its page and for lists. @default 60000 */
  readonly watchTellMs: number;
  /** Longest pause between two attempts of an activity. */
  readonly retryMaxMs: number;
  /** A run with so many events, 120 at most, continues as new at the next quiet moment. */
  readonly continueAsNewAfterEvents: number;
}

/** What a row's task knows of its batch. */
export interface BatchMembership {
  readonly id: string;
  /** The row's key. */
  readonly key: string;
  /** How the archived files are named; absent: `{requestId}/{index}{ext}`. */
  readonly names?: OutputNaming;
}

/** A template of names, and what it can ask for. */
export interface OutputNaming {
  readonly template: string;
  /** Columns of the row that the template asks for. */
  readonly columns: Readonly<Record<string, string>>;
}

interface CommonTaskInput {
  /**
   * A named set of credentials that the worker resolves. Default: `default`.
   *
   * @pattern ^[A-Za-z0-9._-]{1,80}$
   */
  readonly account?: string;
  /** A folder inside the worker's archive; relative. Default: its top. */
  readonly archive?: string;
  /** How the end is noticed. Default: `timer`. */
  readonly watch?: WatchWay;
  /** How long it may queue, run, and take in all. Default: 24 h, 12 h and 48 h. */
  readonly deadlines?: Deadlines;
  /**
   * The webhook of the workers' configuration that is sent when the task ends. Default: none.
   *
   * @pattern ^[A-Za-z0-9._-]{1,80}$
   */
  readonly webhook?: string;
  /** Set by the batch that the task is a row of. */
  readonly batch?: BatchMembership;
  readonly tuning?: Partial<TaskTuning>;
}

/** Input of a `task` workflow that creates its task. Plain JSON, so that any Temporal SDK can start it. */
export interface NewTaskInput extends CommonTaskInput {
  /**
   * The app's `web_app_id`.
   *
   * @asType integer
   * @minimum 1
   */
  readonly webAppId: number;
  /**
   * Keys `<node_id>:<NodeClass>.<parameter>`.
   *
   * @propertyNames { "pattern": "^[^:]+:.+[.][^.]+$" }
   */
  readonly inputs: Readonly<Record<string, InputValue>>;
  /** Passed on as `suppress_preview_output`. */
  readonly suppressPreviewOutput?: boolean;
  /** What happens when it is not known whether the service took the create: `recreate` may pay twice. Default: `hold`, for a person. */
  readonly onUncertain?: UncertainPolicy;
  /**
   * How long `fail` and `recreate` wait for a callback that would bring the request id. Default: the rest of
   * `deadlines.total` when the create asked for a callback, otherwise they act at once.
   */
  readonly uncertainWait?: Duration;
  /**
   * Which create of this workflow id this is, from 1. Only an accepted second charge raises it: `recreate`, or the
   * client's `retry` after a task that is over.
   *
   * @asType integer
   * @minimum 1
   */
  readonly createNumber?: number;
}

/** What names a task that exists. */
export interface AdoptRequest {
  /**
   * The service's id of the task, as the service shows it.
   *
   * @pattern ^[!-~]{1,200}$
   */
  readonly requestId: string;
}

/** Answer to `CreateUncertain`: the task that the create made. */
export interface AdoptDecision extends AdoptRequest {
  /**
   * Also a task that the service created before the create was sent, or that another create made or may have made.
   *
   * @default false
   */
  readonly force?: boolean;
}

/** Input of a `task` workflow that takes over a task made elsewhere. */
export interface AdoptedTaskInput extends CommonTaskInput {
  readonly adopt: AdoptRequest;
  /**
   * The app’s `web_app_id`, where it is known: the service does not tell it, and the cost depends on it.
   *
   * @asType integer
   * @minimum 1
   */
  readonly webAppId?: number;
  /**
   * Which create of this workflow id made the task, when one did.
   *
   * @default 1
   * @asType integer
   * @minimum 1
   */
  readonly createNumber?: number;
}

/** Input of the `task` workflow. */
export type TaskInput = NewTaskInput | AdoptedTaskInput;

/**
 * What a task's input chose although a worker's operator may not want it; it goes along to the activities that upload
 * and create, which know what is allowed.
 */
export interface TaskChoices {
  readonly tuning?: Partial<TaskTuning>;
  readonly onUncertain?: 'recreate';
}

/** The choices of an input; undefined when it made none. */
export function taskChoices(input: TaskInput): TaskChoices | undefined {
  const { tuning, onUncertain } = { onUncertain: undefined, ...input };
  const choices: TaskChoices = {
    ...(tuning !== undefined && { tuning }),
    ...(onUncertain === 'recreate' && { onUncertain }),
  };
  return Object.keys(choices).length === 0 ? undefined : choices;
}

/**
 * SHA-256 of a task's input, as hex: equal for inputs that mean the same task. `createNumber` is left out, because a
 * retry of the same task raises it. An adopted task is its request id and account: how it is followed makes no other
 * task of it. Pure JavaScript, because a workflow has no other.
 */
export function inputDigest(input: TaskInput): string {
  if ('adopt' in input) return digest({ adopt: input.adopt, account: input.account ?? 'default' });
  const entries = Object.entries(input).filter(([name]) => name !== 'createNumber');
  return digest(Object.fromEntries(entries));
}

/** Names of the fields in which two inputs differ, each input of the app by its key: `inputs["2:ImageScale.width"]`. */
export function differingFields(one: TaskInput, other: TaskInput): readonly string[] {
  const [fields, others] = [fieldsByName(one), fieldsByName(other)];
  const names = new Set([...fields.keys(), ...others.keys()]);
  return [...names].filter((name) => canonicalJson(fields.get(name)) !== canonicalJson(others.get(name)));
}

function fieldsByName(input: TaskInput): ReadonlyMap<string, unknown> {
  const entries = Object.entries(input).filter(([name]) => name !== 'createNumber');
  return new Map(
    entries.flatMap(([name, value]: [string, unknown]): [string, unknown][] => {
      if (name !== 'inputs' || !isRecord(value)) return [[name, value]];
      return Object.entries(value).map(([key, one]) => [`inputs[${JSON.stringify(key)}]`, one]);
    }),
  );
}

/** SHA-256 of what a create sends, as hex: two creates that would be paid for the same thing have the same. */
export function createDigest({ account = 'default', ...input }: NewTaskInput): string {
  const { webAppId, inputs, suppressPreviewOutput } = input;
  return digest({ account, webAppId, inputs, suppressPreviewOutput });
}

function digest(value: unknown): string {
  return bytesToHex(sha256(utf8ToBytes(canonicalJson(value))));
}
