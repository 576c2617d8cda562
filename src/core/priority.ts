import { boundedPathPart } from './archive-name';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

const maxFairnessKeyBytes = 64;

/** What Temporal hands out first: priority 1 before 5, and within one each fairness key gets the same share. */
export interface Priority {
  readonly priorityKey: 1 | 2 | 3 | 4;
  readonly fairnessKey: string;
}

/** Of a task that is not a row: ahead of every batch; accounts share fairly. */
export function taskPriority(account: string): Priority {
  return { priorityKey: 3, fairnessKey: fairnessKey('account', account) };
}

/** Of a batch and the tasks of its rows: behind single tasks; batches share fairly, whatever their sizes. */
export function batchPriority(batchId: string): Priority {
  return { priorityKey: 4, fairnessKey: fairnessKey('batch', batchId) };
}

function fairnessKey(kind: 'account' | 'batch', name: string): string {
  return `${kind}:${boundedPathPart(name, maxFairnessKeyBytes - kind.length - 1)}`;
}

/** The priority of an archive whose results expire soon; `undefined` where there is time, or no expiry is known. */
export function archivePriority(timeLeftMs: number | undefined): 1 | 2 | undefined {
  if (timeLeftMs === undefined || timeLeftMs > 6 * hourMs) return undefined;
  return timeLeftMs > 30 * minuteMs ? 2 : 1;
}
