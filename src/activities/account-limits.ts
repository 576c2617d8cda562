import { Gate } from '../service/gate';
import type { GateListener, GateView } from '../service/gate-view';
import { PollLimiter, type PollLimiterView } from '../service/poll-limiter';

/** How often an account may ask the service for something, per worker. */
export interface AccountRates {
  readonly name: string;
  readonly createsPerSecond: number;
  readonly pollsPerSecond: number;
}

/** What holds back requests of one account in this worker. */
export interface AccountLimits {
  readonly creates: Gate;
  readonly polls: PollLimiter;
}

/** The same, as the health endpoint shows it. */
export interface AccountLimitsView {
  readonly creates: GateView;
  readonly polls: PollLimiterView;
}

/** The limits of each account, by its name. `onGateChange` hears of a gate that closes or opens. */
export function openLimits(
  accounts: Iterable<AccountRates>,
  onGateChange: (account: string, ...change: Parameters<GateListener>) => void,
): ReadonlyMap<string, AccountLimits> {
  return new Map(
    [...accounts].map(({ name, createsPerSecond, pollsPerSecond }) => {
      const onChange: GateListener = (change, gate) => {
        onGateChange(name, change, gate);
      };
      const creates = new Gate({ perSecond: createsPerSecond, onChange });
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
