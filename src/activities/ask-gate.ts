import type { AskGateInput } from '../contract/activities';
import type { GateAnswer } from '../domain/gate-answer';
import { limitsOf } from './account-service';
import type { ActivityDependencies } from './dependencies';
import { ownWorkflowId } from './own-workflow';

/** Asks the gate of the account whether this task may send its create now. Asking again does no harm. */
export function askGate(parts: ActivityDependencies, { account, sinceMs }: AskGateInput): GateAnswer {
  return limitsOf(parts, account).creates.ask({ id: ownWorkflowId(), sinceMs });
}
