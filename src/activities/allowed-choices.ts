import { ApplicationFailure } from '@temporalio/common';
import { failureTypes } from '../contract/failure-types';
import type { TaskChoices } from '../contract/task-choices';
import { showValue } from '../domain/show-value';

/** What the operator of this worker lets the inputs of tasks choose. */
export interface AllowedChoices {
  /** Null: every account that the worker has. */
  readonly accounts: readonly string[] | null;
  readonly tuning: boolean;
  /** The policy `onUncertain: recreate`, which may pay twice. */
  readonly recreate: boolean;
}

/** Throws the final failure `NotAllowed` when this worker does not take tasks of the account. */
export function requireAllowedAccount({ accounts }: AllowedChoices, account: string): void {
  if (accounts === null || accounts.includes(account)) return;
  const words = `account is ${showValue(account)}, and this worker takes tasks of ${accounts.join(', ')} only; name one of them, or add it to`;
  throw notAllowed(words, 'LONGHAUL_ALLOW_ACCOUNTS');
}

/** Throws the final failure `NotAllowed` when the task's input chose what it may not. */
export function requireAllowed(allowed: AllowedChoices, { tuning, onUncertain }: TaskChoices = {}): void {
  if (tuning !== undefined && !allowed.tuning) {
    const words = `tuning is ${showValue(tuning)}, and this worker takes no task that sets it; leave it out, or allow it with`;
    throw notAllowed(words, 'LONGHAUL_ALLOW_TUNING=true');
  }
  if (onUncertain !== undefined && !allowed.recreate) {
    const words = `onUncertain is ${showValue(onUncertain)}, and this worker creates no task anew by itself; give "hold" or "fail", or allow it with`;
    throw notAllowed(words, 'LONGHAUL_ALLOW_RECREATE=true');
  }
}

function notAllowed(words: string, setting: string): ApplicationFailure {
  const message = `${words} ${setting} of the worker. Nothing was uploaded or created.`;
  return ApplicationFailure.create({ type: failureTypes.NotAllowed, message, nonRetryable: true });
}
