import type { Dispatcher } from 'undici';
import type { TaskReference } from '../contract/activities';
import type { ClosedRow, OpenRow, RowEnd, RowStart, RowStarted } from '../contract/batch/batch-rows';
import type { UncertainCreate } from '../core/adoption';
import type { Prices } from '../money/money';
import type { Archive } from '../storage/archive/archive';
import type { ArchiveIdentity } from '../storage/archive/archive-identity';
import type { ConnectionRule } from '../storage/connection-rule';
import type { SourceRules } from '../storage/input/input-source';
import type { AccountDependencies } from './accounts';
import type { CallbackOrder } from './create-request';
import type { DailyBudgets } from './daily-budgets';
import type { UnarchivedResults } from './metrics';
import type { OutputLimits } from './output-limits';
import type { SharedUploads } from './shared-uploads';

/** How activities appear in a trace. Each of the spans is in that of the activity which runs. */
export interface ActivityTraces {
  /** A span for a transfer to or from a host: never a path or a query, which may hold a signature. */
  transfer<Result>(operation: 'upload' | 'download', host: string, run: () => Promise<Result>): Promise<Result>;
  event(name: string): void;
}

/** What the activities work with; made once by the worker and closed by it. */
export interface ActivityDependencies extends AccountDependencies {
  readonly archive: Archive;
  /** As the worker found it at its start. Absent: as it is found at the first use. */
  readonly archiveIdentity?: ArchiveIdentity;
  readonly sources: SourceRules;
  readonly uploadConnections: ConnectionRule;
  readonly sharedUploads: SharedUploads;
  /** Absent: none. */
  readonly outputLimits?: OutputLimits;
  /** What tasks cost. Absent: nothing is known of it. */
  readonly prices?: Prices;
  /** What accounts may spend in a day. Absent: no account has a limit. */
  readonly dailyBudgets?: DailyBudgets;
  /** Learns which archives fail. Absent: nothing reads them. */
  readonly unarchived?: UnarchivedResults;
  readonly downloads: Dispatcher;
  /** Absent: nothing is traced. */
  readonly traces?: ActivityTraces;
  /** How long an unknown account or a refused key is tried again. @default 0 */
  readonly accountPatienceMs?: number;
  /** Absent without a receiver: creates then ask for no callback. */
  readonly callback?: CallbackOrder;
  /** The running workflow that follows a task; absent where Temporal cannot be asked. */
  readonly findFollower?: (task: TaskReference) => Promise<string | undefined>;
  /** All workflows that Temporal lists with this task, also those that are over; absent as above. */
  readonly findWorkflowsOf?: (task: TaskReference) => Promise<readonly string[]>;
  /** The creates of an app that wait for a decision; absent as above. */
  readonly findUncertainCreates?: (account: string, webAppId: number) => Promise<readonly UncertainCreate[]>;
}

/** How tasks of rows are started, found and stopped; made by the worker of Temporal's client. Each may be repeated. */
export interface RowTasks {
  start(row: RowStart): Promise<RowStarted>;
  /** What `start` would find; undefined when the row has no task. */
  find(row: RowStart): Promise<RowStarted | undefined>;
  /** How a row's task ended; undefined while it runs: then `onOpen` gets how it is. */
  poll(batchId: string, key: string, onOpen?: (row: OpenRow) => void): Promise<RowEnd | undefined>;
  /** The rows of which a run closed after this moment (ISO-8601), oldest first: known late, and not proven. */
  closedRows(batchId: string, after: string): Promise<readonly ClosedRow[]>;
  /** Asks a row's task to stop. No matter if it is over. */
  stop(batchId: string, key: string): Promise<void>;
  /** Has Temporal cancel the batch's own workflow. No matter if it is over. */
  cancelBatch(batchId: string): Promise<void>;
}

/** What the activities of batches work with: no service, for only tasks speak to it. */
export interface BatchDependencies extends Pick<
  ActivityDependencies,
  'archive' | 'archiveIdentity' | 'sources' | 'prices' | 'dailyBudgets'
> {
  readonly rowTasks: RowTasks;
}
