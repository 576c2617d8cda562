import { ApplicationFailure } from '@temporalio/common';
import { failureTypes } from '../contract/failure-types';
import type { ServiceClient } from '../service';
import type { AccountLimits } from './account-limits';
import type { ActivityDependencies } from './dependencies';

/** The client of an account; an unknown one is final and names those that the worker knows. */
export function serviceOf({ services }: ActivityDependencies, account: string): ServiceClient {
  return entryOf(services, account);
}

/** What holds back requests of an account; an unknown one is final, as above. */
export function limitsOf({ limits }: ActivityDependencies, account: string): AccountLimits {
  return entryOf(limits, account);
}

function entryOf<T>(entries: ReadonlyMap<string, T>, account: string): T {
  const entry = entries.get(account);
  if (entry !== undefined) return entry;
  const known = [...entries.keys()].join(', ');
  throw ApplicationFailure.create({
    type: failureTypes.AccountUnknown,
    message: `The worker has no account "${account}"; it has: ${known}. Add it to LONGHAUL_ACCOUNTS_FILE.`,
    nonRetryable: true,
  });
}
