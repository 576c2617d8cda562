import type { Client } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

/** One run of a workflow that continued as new, or the last one. */
export interface ChainedRun {
  readonly runId: string;
  readonly events: readonly HistoryEvent[];
}

/** Every run of a workflow, from its first to the one that ended it, each with its whole history. */
export async function runChainOf(client: Client, workflowId: string, firstRunId: string): Promise<ChainedRun[]> {
  const chain: ChainedRun[] = [];
  let runId: string | null | undefined = firstRunId;
  while (runId != null && runId !== '') {
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const run: ChainedRun = { runId, events: events ?? [] };
    chain.push(run);
    runId = run.events.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
  }
  return chain;
}
