import { UnknownTaskError } from '../client/errors';
import type { Longhaul } from '../client/longhaul';
import { utf8Bytes } from '../core/text';

const maxWorkflowIdBytes = 1_000;

/** Asks the workflow itself, as Temporal's list lags. Throws the client's errors about Temporal. */
export async function workflowState(longhaul: Longhaul, workflowId: string): Promise<'open' | 'over' | 'unknown'> {
  if (!workflowId.includes(':') || utf8Bytes(workflowId) > maxWorkflowIdBytes) return 'unknown';
  try {
    return (await longhaul.task(workflowId).isOver()) ? 'over' : 'open';
  } catch (error) {
    if (error instanceof UnknownTaskError) return 'unknown';
    throw error;
  }
}
