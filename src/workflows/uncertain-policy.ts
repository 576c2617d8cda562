import type { CreateUncertain } from '../domain/create-outcome';
import type { UncertainWait } from './carried-state';
import { untilTotalDeadlineMs } from './deadlines';
import type { Decision } from './decisions';
import type { TaskRun } from './task-run';

/** The wait about a create whose outcome has just turned out to be unknown. */
export function openWait(run: TaskRun, { callbackAsked = false }: CreateUncertain): UncertainWait {
  const nowMs = Date.now();
  const waitMs = run.plan.uncertainWaitMs ?? (callbackAsked ? untilTotalDeadlineMs(run) : 0);
  return { sinceMs: nowMs, actAtMs: nowMs + waitMs, rounds: 0 };
}

/**
 * What `onUncertain` decides by itself about one uncertain create, and when: at once, or, while a callback may still
 * bring the request id, after `uncertainWait`.
 */
export class UncertainPolicyInForce {
  private readonly run: TaskRun;
  private readonly decision: Decision | undefined;
  private readonly actAtMs: number;

  constructor(run: TaskRun, { actAtMs }: UncertainWait) {
    this.run = run;
    this.decision = decisionOf(run);
    this.actAtMs = actAtMs;
  }

  /** What it decides now; `undefined` while it holds. What a callback brought is looked into first. */
  due(): Decision | undefined {
    return this.run.offers.isEmpty && Date.now() >= this.actAtMs ? this.applicable() : undefined;
  }

  /** How long until it decides; `undefined` when it never will. */
  untilDueMs(): number | undefined {
    return this.applicable() === undefined ? undefined : Math.max(1, this.actAtMs - Date.now());
  }

  /** For the operator; empty when it holds. */
  words(): string {
    if (this.applicable() === undefined) return '';
    const what = this.decision?.kind === 'recreate' ? 'sends it again (may be paid twice)' : 'gives the task up';
    return `; without them the policy ${what} at ${new Date(this.actAtMs).toISOString()}`;
  }

  /** After a request to stop nothing is created any more. */
  private applicable(): Decision | undefined {
    return this.decision?.kind === 'recreate' && this.run.isStopAskedBeforeCreate ? undefined : this.decision;
  }
}

/** `recreate` at most once: after that it holds. */
function decisionOf({ plan, state }: TaskRun): Decision | undefined {
  if (plan.onUncertain === 'fail') return { kind: 'abandon' };
  const mayRecreate = plan.onUncertain === 'recreate' && state.createNumber === plan.createNumber;
  return mayRecreate ? { kind: 'recreate' } : undefined;
}
