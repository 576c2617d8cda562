import { type WorkflowInfo, workflowInfo } from '@temporalio/workflow';

type HistoryLength = Pick<WorkflowInfo, 'historyLength' | 'continueAsNewSuggested'>;

/** Every workflow has global variables of its own, while they share this module. */
const holder: typeof globalThis & { longhaulHistory?: HistoryLength } = globalThis;

/**
 * Whether the history of this run is long enough for a fresh one. It is as long as it was after the last workflow task that
 * leaves events: an update that is refused comes in one that leaves none, and a replay meets no condition there.
 */
export function isHistoryLong(maxEvents: number): boolean {
  const { historyLength, continueAsNewSuggested } = holder.longhaulHistory ?? workflowInfo();
  return continueAsNewSuggested || historyLength >= maxEvents;
}

/** For the interceptors of each activation and each accepted update. */
export function noteHistoryLength(): void {
  const { historyLength, continueAsNewSuggested } = workflowInfo();
  holder.longhaulHistory = { historyLength, continueAsNewSuggested };
}
