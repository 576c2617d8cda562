import type { Logger } from 'pino';
import type { AppCatalog } from './apps/app-catalog';
import type { CallbackSender } from './callbacks/callback-sender';
import type { Config } from './config';
import type { Ledger } from './ledger';
import type { ResourceBook } from './resources/resource-book';
import type { ScenarioBook } from './scenarios/scenario-book';
import type { CredentialAuthority } from './storage/credential-authority';
import type { ObjectStore } from './storage/object-store';
import type { StorageServer } from './storage/storage-server';
import type { Scheduler } from './tasks/scheduler';
import type { TaskShow } from './tasks/show-task';
import type { TaskBook } from './tasks/task-book';

/** The parts of a running service, as its endpoints use them. */
export interface ServiceParts {
  readonly config: Config;
  readonly logger: Logger;
  readonly ledger: Ledger;
  readonly apps: AppCatalog;
  readonly tasks: TaskBook;
  readonly show: TaskShow;
  readonly scheduler: Scheduler;
  readonly callbacks: CallbackSender;
  readonly scenarios: ScenarioBook;
  readonly resources: ResourceBook;
  readonly authority: CredentialAuthority;
  readonly store: ObjectStore;
  readonly storage: StorageServer;
}
