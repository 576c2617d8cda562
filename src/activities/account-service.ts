import type { ServiceClient } from '../service';
import type { AccountLimits } from './account-limits';
import { AccountUnknownError } from './account-patience';
import { requireAllowedAccount } from './allowed-choices';
import type { ActivityDependencies } from './dependencies';

/**
 * The client of an account; throws {@link AccountUnknownError}, which names those that the worker
 * knows; a forbidden one is final.
 */
export function serviceOf({ services, allowed }: ActivityDependencies, account: string): ServiceClient {
  requireAllowedAccount(allowed, account);
  return entryOf(services, account);
}

/** What holds back requests of an account; throws as above. */
export function limitsOf({ limits, allowed }: ActivityDependencies, account: string): AccountLimits {
  requireAllowedAccount(allowed, account);
  return entryOf(limits, account);
}

function entryOf<T>(entries: ReadonlyMap<string, T>, account: string): T {
  const entry = entries.get(account);
  if (entry === undefined) throw new AccountUnknownError(account, entries.keys());
  return entry;
}
