import { type WorkflowInfo, workflowInfo } from '@temporalio/workflow';

type HistoryLength = Pick<WorkflowInfo, 'historyLength' | 'continueAsNewSuggested'>;

/** Every workflow has global variables of its own, while they share this module. */
const holder: typeof globalThis & { longhaulHistory?: HistoryLength } = globalThis;

/** As of the last workflow task that left events. A refused update leaves none, so a replay has no such task. */
export function isHistoryLong(maxEvents: number): boolean {
  const { historyLength, continueAsNewSuggested } = holder.longhaulHistory ?? workflowInfo();
  return continueAsNewSuggested || historyLength >= maxEvents;
}

/** For the interceptors of each activation and each accepted update. */
export function noteHistoryLength(): void {
  const { historyLength, continueAsNewSuggested } = workflowInfo();
  holder.longhaulHistory = { historyLength, continueAsNewSuggested };
}
