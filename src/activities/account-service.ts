import type { ServiceClient } from '../service';
import type { AccountLimits } from './account-limits';
import { AccountUnknownError } from './account-patience';
import type { ActivityDependencies } from './dependencies';

/** The client of an account. Throws {@link AccountUnknownError}, which names those that the worker knows. */
export function serviceOf({ services }: ActivityDependencies, account: string): ServiceClient {
  return entryOf(services, account);
}

/** What holds back requests of an account; throws as above. */
export function limitsOf({ limits }: ActivityDependencies, account: string): AccountLimits {
  return entryOf(limits, account);
}

function entryOf<T>(entries: ReadonlyMap<string, T>, account: string): T {
  const entry = entries.get(account);
  if (entry === undefined) throw new AccountUnknownError(account, entries.keys());
  return entry;
}
