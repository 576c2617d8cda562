import type { WorkflowExecutionStatusName } from '@temporalio/client';
import type { BatchResult } from '../../contract/batch/batch-messages';

/** The words for the end of a batch that every command uses. */
export const endingWords: Readonly<Record<BatchResult['ending'], string>> = {
  completed: 'Completed',
  drained: 'Drained',
  stopped: 'Stopped',
};

/**
 * The word for a batch that is over, whatever its workflow last reported; undefined for one that was cut off, or is not over.
 */
export function endingWord(
  execution: WorkflowExecutionStatusName,
  ending: BatchResult['ending'] = 'completed',
): string | undefined {
  if (execution === 'COMPLETED') return endingWords[ending];
  if (execution === 'CANCELLED') return endingWords.stopped;
  return execution === 'FAILED' ? 'Failed' : undefined;
}
