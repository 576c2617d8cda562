import { ApplicationFailure } from '@temporalio/common';
import { failureTypes } from '../contract/failure-types';
import type { ServiceClient } from '../service';
import type { ActivityDependencies } from './dependencies';

/** The client of an account; an unknown one is final and names those that the worker knows. */
export function serviceOf({ services }: ActivityDependencies, account: string): ServiceClient {
  const service = services.get(account);
  if (service !== undefined) return service;
  const known = [...services.keys()].join(', ');
  throw ApplicationFailure.create({
    type: failureTypes.AccountUnknown,
    message: `The worker has no account "${account}"; it has: ${known}. Add it to LONGHAUL_ACCOUNTS_FILE.`,
    nonRetryable: true,
  });
}
