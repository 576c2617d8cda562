import { ApplicationFailure } from '@temporalio/common';
import { failureTypes } from '../contract/failure-types';
import type { ServiceClient } from '../service';
import type { AccountLimits } from './account-limits';
import { requireAllowedAccount } from './allowed-choices';
import type { ActivityDependencies } from './dependencies';

/** The client of an account; an unknown or forbidden one is final, and the failure names what the worker takes. */
export function serviceOf({ services, allowed }: ActivityDependencies, account: string): ServiceClient {
  requireAllowedAccount(allowed, account);
  return entryOf(services, account);
}

/** What holds back requests of an account; an unknown or forbidden one is final, as above. */
export function limitsOf({ limits, allowed }: ActivityDependencies, account: string): AccountLimits {
  requireAllowedAccount(allowed, account);
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
