import type { Dispatcher } from 'undici';
import type { ServiceClient } from '../service';
import type { Poller } from '../service/poller';
import type { Archive } from '../storage/archive';
import type { SourceRules } from '../storage/opened-source';
import type { AccountLimits } from './account-limits';
import type { CallbackOrder } from './callback-order';

/** What the activities work with; made once by the worker and closed by it. */
export interface ActivityDependencies {
  /** One client per account, by the account's name. */
  readonly services: ReadonlyMap<string, ServiceClient>;
  /** What asks about watched tasks, one per account, by the account's name. */
  readonly pollers: ReadonlyMap<string, Poller>;
  /** What holds back requests of each account, by its name. */
  readonly limits: ReadonlyMap<string, AccountLimits>;
  readonly archive: Archive;
  readonly sources: SourceRules;
  /** Connections for result files. */
  readonly downloads: Dispatcher;
  /** Absent without a receiver: creates then ask for no callback. */
  readonly callback?: CallbackOrder;
}
