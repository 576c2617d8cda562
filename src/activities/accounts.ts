import { ApplicationFailure } from '@temporalio/common';
import { failureTypes } from '../contract/failure-types';
import type { TaskChoices } from '../contract/task-input';
import { showValue } from '../core/text';
import type { ServiceClient } from '../service';
import type { AccountGate } from '../service/account-gate';

export interface AccountDependencies {
  readonly services: ReadonlyMap<string, ServiceClient>;
  /** Where each API key was set, for messages. Absent: messages name every setting that may have it. */
  readonly keySettings?: ReadonlyMap<string, string>;
  readonly limits: ReadonlyMap<string, AccountGate>;
  readonly allowed: AllowedChoices;
}

export interface AllowedChoices {
  /** Null: every account that the worker has. */
  readonly accounts: readonly string[] | null;
  readonly tuning: boolean;
  /** The policy `onUncertain: recreate`, which may pay twice. */
  readonly recreate: boolean;
}

/** Throws {@link AccountUnknownError}; for a forbidden account the final failure `NotAllowed`. */
export function getService({ services, allowed }: AccountDependencies, account: string): ServiceClient {
  return getEntry(services, allowed, account);
}

export function getLimits({ limits, allowed }: AccountDependencies, account: string): AccountGate {
  return getEntry(limits, allowed, account);
}

export function viewLimits(limits: ReadonlyMap<string, AccountGate>): Record<string, ReturnType<AccountGate['view']>> {
  return Object.fromEntries([...limits].map(([name, gate]) => [name, gate.view()]));
}

function getEntry<T>(entries: ReadonlyMap<string, T>, { accounts }: AllowedChoices, account: string): T {
  if (accounts !== null && !accounts.includes(account)) {
    const words = `account is ${showValue(account)}, and this worker takes tasks of ${accounts.join(', ')} only; name one of them, or add it to`;
    throw notAllowed(words, 'LONGHAUL_ALLOW_ACCOUNTS');
  }
  const entry = entries.get(account);
  if (entry === undefined) throw new AccountUnknownError(account, entries.keys());
  return entry;
}

/** Retryable: a worker that is started a moment later may know the account. */
export class AccountUnknownError extends Error {
  constructor(account: string, known: Iterable<string>) {
    const names = [...known].join(', ');
    super(`The worker has no account "${account}"; it has: ${names}. Add it to LONGHAUL_ACCOUNTS_FILE.`);
    this.name = 'AccountUnknownError';
  }
}

export interface AccountKey {
  readonly account: string;
  readonly setting?: string | undefined;
}

export function accountKey({ keySettings }: Pick<AccountDependencies, 'keySettings'>, account: string): AccountKey {
  return { account, setting: keySettings?.get(account) };
}

const maxRemembered = 10_000;

/** How long an unknown account is retried, per waiting step: a rolling restart brings workers that know it. */
export class AccountPatience {
  readonly #limitMs: number;
  readonly #sinceMs = new Map<string, number>();

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  isOver(step: string): boolean {
    const nowMs = performance.now();
    const sinceMs = this.#sinceMs.get(step) ?? nowMs;
    this.#sinceMs.set(step, sinceMs);
    const [oldest] = this.#sinceMs.keys();
    if (this.#sinceMs.size > maxRemembered && oldest !== undefined) this.#sinceMs.delete(oldest);
    const isOver = nowMs - sinceMs >= this.#limitMs;
    if (isOver) this.#sinceMs.delete(step);
    return isOver;
  }

  forget(step: string): void {
    this.#sinceMs.delete(step);
  }
}

/** Throws the final failure `NotAllowed` when the input chose what this worker forbids. */
export function requireAllowed(allowed: AllowedChoices, { tuning, onUncertain }: TaskChoices = {}): void {
  if (tuning !== undefined && !allowed.tuning) {
    const words = `tuning is ${showValue(tuning)}, and this worker takes no task that sets it; leave it out, or take "tuning" out of`;
    throw notAllowed(words, 'LONGHAUL_REFUSE');
  }
  if (onUncertain !== undefined && !allowed.recreate) {
    const words = `onUncertain is ${showValue(onUncertain)}, and this worker creates no task anew by itself; give "hold" or "fail", or take "recreate" out of`;
    throw notAllowed(words, 'LONGHAUL_REFUSE');
  }
}

function notAllowed(words: string, setting: string): ApplicationFailure {
  const message = `${words} ${setting} of the worker. Nothing was uploaded or created.`;
  return ApplicationFailure.nonRetryable(message, failureTypes.NotAllowed);
}
