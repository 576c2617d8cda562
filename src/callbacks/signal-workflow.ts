import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { type CallbackNotice, callbackSignal } from '../contract/task-messages';

/** What Temporal did with a signal: taken; or the workflow is over, or there is none of that id. */
export type SignalOutcome = 'taken' | 'over' | 'unknown';

/** Passes a notice on to a workflow. Rejects when nobody knows whether Temporal took it. */
export type SignalWorkflow = (workflowId: string, notice: CallbackNotice) => Promise<SignalOutcome>;

/** Signals through Temporal, within `timeoutMs`: the service waits about 10 s for the answer (specification, section 6). */
export function createSignalWorkflow(client: Client, timeoutMs: number): SignalWorkflow {
  return async (workflowId, notice) => {
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      // The deadline ends a call, the signal also the pauses between the SDK's own attempts.
      await client.withDeadline(Date.now() + timeoutMs, () =>
        client.withAbortSignal(signal, () => client.workflow.getHandle(workflowId).signal(callbackSignal, notice)),
      );
      return 'taken';
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      // The server has one code for both, and only its words tell them apart.
      return /already completed/i.test(error.message) ? 'over' : 'unknown';
    }
  };
}
