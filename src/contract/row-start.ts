import type { RowEnd, RowRecord } from './batch-rows';
import type { NewTaskInput } from './task-input';

/*
 * What the batch's activities ask of the client for one row, and its answer. Both stay in the worker: neither stands in
 * a history.
 */

/** A row that shall become a task, or be found as the task that it is already. */
export interface RowStart {
  readonly batchId: string;
  readonly key: string;
  /** As the row gave it; null when it gave none. */
  readonly originalKey: string | null;
  /** The whole input of its task, with what the batch adds. */
  readonly input: NewTaskInput;
  /** Of the row's own input: what tells whether a task under this key is this row's. */
  readonly digest: string;
  /** The same for every attempt of the activity that starts it: a run that an earlier attempt made is known by it. */
  readonly startId: string;
  /** What the batch's record knows of a task under this key; null when nothing. */
  readonly former: RowRecord | null;
  /** Whether a task that is over and did not succeed may be started again; that may be paid anew. */
  readonly mayRetry: boolean;
  /** Whether a task that is over and had another input may be followed by this one; that is paid anew. */
  readonly mayReplace: boolean;
}

/** What became of it. */
export type RowStarted =
  | { readonly state: 'running' }
  | {
      /** Found over, or refused. */
      readonly state: 'ended';
      readonly end: RowEnd;
      /** Of the input of the task that was found under the key: the row's own, unless its failure is `InputChanged`. */
      readonly digest: string;
    };
