import { CreateLimiter, type CreateLimiterListener, type CreateLimiterView } from '../service/create-limiter';
import { PollLimiter, type PollLimiterView } from '../service/poll-limiter';

/** How often an account may ask the service for something, per worker. */
export interface AccountRates {
  readonly name: string;
  readonly createsPerSecond: number;
  readonly pollsPerSecond: number;
}

/** What holds back requests of one account in this worker. */
export interface AccountLimits {
  readonly creates: CreateLimiter;
  readonly polls: PollLimiter;
}

/** The same, as the health endpoint shows it. */
export interface AccountLimitsView {
  readonly creates: CreateLimiterView;
  readonly polls: PollLimiterView;
}

/** The limits of each account, by its name. `onCreateChange`: the one of creates closes or opens. */
export function openLimits(
  accounts: Iterable<AccountRates>,
  onCreateChange: (account: string, ...change: Parameters<CreateLimiterListener>) => void,
): ReadonlyMap<string, AccountLimits> {
  return new Map(
    [...accounts].map(({ name, createsPerSecond, pollsPerSecond }) => {
      const onChange: CreateLimiterListener = (change, limiter) => {
        onCreateChange(name, change, limiter);
      };
      const creates = new CreateLimiter({ perSecond: createsPerSecond, onChange });
      return [name, { creates, polls: new PollLimiter({ perSecond: pollsPerSecond }) }];
    }),
  );
}

/** How they stand. */
export function viewLimits(limits: ReadonlyMap<string, AccountLimits>): Record<string, AccountLimitsView> {
  return Object.fromEntries(
    [...limits].map(([name, { creates, polls }]) => [name, { creates: creates.view(), polls: polls.view() }]),
  );
}
