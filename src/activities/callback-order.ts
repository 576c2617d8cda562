import { correlationHeader } from '../contract/correlation';
import { isLonghaulWorkflowId } from '../contract/workflow-ids';
import type { CreateTaskAsyncOptions } from '../service';

/** Where the service shall report the end of a task, and by which token the receiver knows it. */
export interface CallbackOrder {
  readonly url: string;
  /** Revealed only when a create is sent. */
  readonly token: () => string;
}

/**
 * The options of a create that asks for a callback to its workflow; none without a receiver, and none for a workflow
 * whose id the receiver would not accept: that task is polled only.
 */
export function callbackOptions(order: CallbackOrder | undefined, workflowId: string): CreateTaskAsyncOptions {
  if (order === undefined || !isLonghaulWorkflowId(workflowId)) return {};
  return {
    callback: { url: order.url, token: order.token() },
    headers: { [correlationHeader]: workflowId },
  };
}
