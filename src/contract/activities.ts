import type { UncertainCreate } from '../core/adoption';
import type { CreateOutcome } from '../core/create-outcome';
import type { Money } from '../money/money';
import type { DeadlinesMs, FailingQueries, Observation, WatchedTask } from '../core/task-state';
import type { PollBounds } from '../core/poll-cadence';
import type { VerbAnswer } from '../core/stop-request';
import type { ManifestInput } from '../archive/manifest';
import type { OutputNaming, ResourceForm, TaskChoices } from './task-input';
import type { ArchivedOutput, CostTimes, FailedOutput, Timestamps } from './task-result';

// These stand in histories: none holds a URL of the service, a credential or a callback's body.

/** Detail of an `InputUnusable` failure: its file, without the query of a URL. */
export interface UnusableFile {
  readonly file: string;
}

/** `inspectInputs`: reads files before anything is uploaded, so that the same content is uploaded once. */
export interface InspectInputsInput {
  readonly files: readonly string[];
}
/** In the order of the input. */
export interface InspectInputsResult {
  readonly files: readonly { readonly file: string; readonly sha256: string; readonly bytes: number }[];
}

/** `storeInput`: upload token, PUT and commit in one, because credentials must never be an activity's result. */
export interface StoreInputInput {
  readonly account: string;
  readonly file: string;
  /** Whether a resource of this content that the account has already may be taken. @default false */
  readonly isShared?: boolean;
  /** Refused, before anything is uploaded, where the worker does not allow it. */
  readonly choices?: TaskChoices;
}
export interface StoredInput {
  readonly objectKey: string;
  /** The original file name. */
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
  /** The resource that it became; one that rows share may have the name of another file. */
  readonly resource: CommittedInput;
  /** That resource was there already, or another row was uploading it: this one sent nothing. */
  readonly wasShared?: true;
}

/** An input resource of the service, as it may stand in a history: without its link. */
export interface CommittedInput {
  /** Text where it is larger than the safe integers. */
  readonly resourceId: number | string;
  readonly name: string;
  readonly objectKey: string;
  /** It was there before, and the service listed it then: one that is not listed later is gone, not on its way. */
  readonly wasListed?: true;
}

/** A create's input value whose resource the activity resolves itself just before sending. */
export interface ResourceValue {
  readonly resource: CommittedInput;
  readonly as: ResourceForm;
}

/** `createTask` (specification, section 4.1), or what became of a create whose worker gave no answer. */
export interface CreateTaskInput {
  readonly account: string;
  /** Which create of this workflow id this is; names the create record. */
  readonly createNumber: number;
  /** Of what the create sends; made in the workflow of the input itself. */
  readonly createDigest?: string;
  /** Nothing is sent: the create whose worker was lost is found out about. */
  readonly lost?: LostCreate;
  /** Refused, before anything is sent, where the worker does not allow it. */
  readonly choices?: TaskChoices;
  readonly webAppId: number;
  readonly inputs: Readonly<Record<string, string | number | ResourceValue>>;
  readonly suppressPreviewOutput?: boolean;
}

/** A `createTask` that gave no answer after its heartbeat said where its create record is. */
export interface LostCreate {
  /** The archive that has the record, if there is one. */
  readonly archiveId: string;
  readonly reason: string;
}

/** What `createTask` heartbeats: the first time with the archive alone, before the create record is claimed. */
export interface CreateHeartbeat {
  readonly archiveId: string;
  readonly requestId?: string;
  /** That attempt is over, and provably created nothing. */
  readonly isReleased?: true;
  /** Of the record that it may have left all the same; only with `isReleased`. */
  readonly maker?: string;
  /** How many creates the service had refused for now, in all attempts so far. */
  readonly refused?: number;
  /** ISO-8601: until when this attempt waits for the answer to an earlier create, whose record has none yet. */
  readonly waitsUntil?: string;
}

/** A retryable failure proves that none was taken. `sent`: creates sent, also refused; absent: 1, or 0 by `outcome`. */
export type CreateTaskResult = CreateOutcome & { readonly sent?: number };

export interface TaskReference {
  readonly account: string;
  readonly requestId: string;
}

/** A task whose cost depends on its app, which is not known of one that was adopted without it. */
export interface PolledTask extends TaskReference {
  readonly webAppId?: number | null;
  /** Whose create record gets the end of the task. Absent: no record does. */
  readonly createNumber?: number;
  /** By Temporal's clock: for the price, where the service does not say when it was created. */
  readonly acceptedAtMs?: number | null;
  /** The one that tells its end. Absent: none was asked for, or a stop waits for another state, which none tells. */
  readonly callback?: 'awaited' | 'came' | undefined;
  /** Its state has long been an unknown word: see whether the outputs say that it is over. */
  readonly asksOutputs?: boolean;
}

/** `pollTask`: one `detail` query (specification, section 4.2). A failed poll is data. */
export type PollResult = Exclude<Observation, TaskSeen> | (TaskSeen & PollDetails);
type TaskSeen = Extract<Observation, { readonly seen: 'task' }>;
interface PollDetails {
  readonly errorMessage?: string;
  /** Only with a terminal status, as what follows: an ordinary poll stays small in the history. */
  readonly timestamps?: Timestamps;
  readonly costTimes?: CostTimes;
  /** Absent when the price, or the cost time that it is for, is not known. */
  readonly cost?: Money;
}

/** `checkAdoption`: asked before an id that a person or a callback brings is taken for that of a create. */
export interface CheckAdoptionInput extends TaskReference {
  readonly webAppId: number | null;
  readonly createNumber: number;
  /** When that create was sent; null: a callback names the create, so that other uncertain ones do not matter. */
  readonly sentAtMs: number | null;
}
export interface CheckAdoptionResult {
  readonly poll: PollResult;
  /** ISO-8601: when the service created it, by its own clock; null when it does not say. */
  readonly createdAt: string | null;
  /** Another workflow that follows the task now. */
  readonly follower: string | null;
  /** The name of another create that made the task, by its record. */
  readonly creator: string | null;
  /** Another create of the app that is uncertain, too, and may as well have made the task. */
  readonly rival: UncertainCreate | null;
}

export interface WatchTaskInput extends PolledTask {
  /** What the workflow knows when the watch begins; a heartbeat of a previous attempt knows more. */
  readonly known: WatchedTask;
  readonly poll: PollBounds;
  readonly notVisibleGraceMs: number;
  readonly deadlinesMs: DeadlinesMs;
  readonly startedAtMs: number;
  readonly acceptedAtMs: number | null;
  /** A request to end the task waits for another state: come back as soon as there is one. */
  readonly returnOnChange: boolean;
  /** From then on, come back with another state than the known one, once it has settled. Absent: only at the end. */
  readonly tellFromMs?: number;
  /** How long another state may be kept back while it settles. */
  readonly settleMs?: number;
  /** From then on, come back with an answered query, to be scheduled with a longer heartbeat timeout. Absent: never. */
  readonly anewFromMs?: number;
  /** What the archive needs beside the end: a task that succeeds is archived by the same attempt where a slot is free. */
  readonly archive?: Pick<ArchiveOutputsInput, 'folder' | 'naming' | 'createNumber' | 'inputs' | 'values'>;
}

export interface WatchTaskResult {
  readonly known: WatchedTask;
  /** The last poll, by which the workflow finds why the watch returned. */
  readonly pollResult: PollResult;
  /** It came back only to tell the state, or to be scheduled anew. */
  readonly isTold?: true;
  /** Absent: the outputs are still to be archived, or there are none. */
  readonly archived?: ArchiveOutputsResult;
}

/** What a watch heartbeats: a line for the reader of the pending activity, and all that another worker needs. */
export interface WatchHeartbeat {
  readonly watched: string;
  readonly known: WatchedTask;
  /** The last queries, if they failed. Absent: the last one was answered. */
  readonly failing?: FailingQueries;
}

export type { ManifestInput };

/** `archiveOutputs`: fetches every output whole, then writes the manifest. */
export interface ArchiveOutputsInput extends TaskReference {
  /** Folder inside the archive; `''` is its top. */
  readonly folder: string;
  /** Absent: names are made of the request id. */
  readonly naming?: OutputNaming & { readonly batch: string; readonly key: string };
  readonly status: 'Success' | 'Failed';
  /** Whose create record the task is; absent when this workflow adopted it. */
  readonly createNumber?: number;
  readonly webAppId: number | null;
  readonly inputs: readonly ManifestInput[];
  /** The values that are not files, as they were sent. */
  readonly values: Readonly<Record<string, string | number>>;
  readonly timestamps: Timestamps;
  readonly costTimes: CostTimes;
  readonly cost: Money | null;
  readonly errorMessage: string | null;
}
export interface ArchiveOutputsResult {
  readonly outputs: readonly ArchivedOutput[];
  readonly manifest: string;
  readonly outputCount?: number;
  readonly outputBytes?: number;
  readonly failedOutputs?: readonly FailedOutput[];
  readonly failedOutputCount?: number;
}

/** Detail of a failure of `archiveOutputs` that leaves outputs missing. */
export interface MissingOutputs {
  /** Whether every missing output has only links that lead nowhere, fresh ones too, as when results have expired. */
  readonly linksAreDead: boolean;
  readonly archived: number;
  readonly outputs: number;
}

/** What a transfer heartbeats: how far it is; beside it stands what is counted of lost attempts. */
export interface TransferProgress {
  readonly transfer: 'upload' | 'archive';
  readonly name: string;
  readonly bytes: number;
  /** Null when the length is not known. */
  readonly totalBytes: number | null;
}

/** The activities of a worker, by their durable names. `pollTask` runs as a local one. */
export interface Activities {
  readonly inspectInputs: (input: InspectInputsInput) => Promise<InspectInputsResult>;
  readonly storeInput: (input: StoreInputInput) => Promise<StoredInput>;
  readonly createTask: (input: CreateTaskInput) => Promise<CreateTaskResult>;
  readonly pollTask: (input: PolledTask) => Promise<PollResult>;
  readonly checkAdoption: (input: CheckAdoptionInput) => Promise<CheckAdoptionResult>;
  readonly watchTask: (input: WatchTaskInput) => Promise<WatchTaskResult>;
  /** Specification, sections 4.4 and 4.5; taken is not yet done. */
  readonly cancelTask: (input: TaskReference) => Promise<VerbAnswer>;
  readonly interruptTask: (input: TaskReference) => Promise<VerbAnswer>;
  readonly archiveOutputs: (input: ArchiveOutputsInput) => Promise<ArchiveOutputsResult>;
}
