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

export interface ActivityTraces {
  /** Takes the host only: a path or query may hold a signature. */
  transfer<Result>(operation: 'upload' | 'download', host: string, run: () => Promise<Result>): Promise<Result>;
  event(name: string): void;
}

export interface ActivityDependencies extends AccountDependencies {
  readonly archive: Archive;
  /** As found when the worker started. Absent: as found at the first use. */
  readonly archiveIdentity?: ArchiveIdentity;
  readonly sources: SourceRules;
  readonly uploadConnections: ConnectionRule;
  readonly sharedUploads: SharedUploads;
  /** Absent: none. */
  readonly outputLimits?: OutputLimits;
  /** Absent: prices are unknown. */
  readonly prices?: Prices;
  /** Absent: no account has a limit. */
  readonly dailyBudgets?: DailyBudgets;
  readonly unarchived?: UnarchivedResults;
  readonly downloads: Dispatcher;
  /** How many archives may run at the same time; while fewer than half do, a watch archives what it saw end. @default 0 */
  readonly archiveSlots?: number;
  readonly traces?: ActivityTraces;
  /** How long an unknown account or a refused key is retried. @default 0 */
  readonly accountPatienceMs?: number;
  /** Absent: creates ask for no callback. */
  readonly callback?: CallbackOrder;
  /** The running workflow that follows a task; absent where Temporal cannot be asked. */
  readonly findFollower?: (task: TaskReference) => Promise<string | undefined>;
  /** All workflows that Temporal lists with this task, closed ones included; absent as above. */
  readonly findWorkflowsOf?: (task: TaskReference) => Promise<readonly string[]>;
  /** The creates of an app that wait for a decision; absent as above. */
  readonly findUncertainCreates?: (account: string, webAppId: number) => Promise<readonly UncertainCreate[]>;
}

/** Starts, finds and stops the tasks of rows. Each call may be repeated. */
export interface RowTasks {
  start(row: RowStart): Promise<RowStarted>;
  /** What `start` would find; undefined when the row has no task. */
  find(row: RowStart): Promise<RowStarted | undefined>;
  /** How a row's task ended; undefined while it runs: then `onOpen` gets its state. */
  poll(batchId: string, key: string, onOpen?: (row: OpenRow) => void): Promise<RowEnd | undefined>;
  /** For each batch, rows of which a run closed after this ISO-8601 time, oldest first; delayed, and not proven. */
  closedRows(asked: readonly { readonly batchId: string; readonly after: string }[]): Promise<ClosedRow[][]>;
  stop(batchId: string, key: string): Promise<void>;
  /** Has Temporal cancel the batch's own workflow; no effect when it is over. */
  cancelBatch(batchId: string): Promise<void>;
}

export interface BatchDependencies extends Pick<
  ActivityDependencies,
  'archive' | 'archiveIdentity' | 'sources' | 'prices' | 'dailyBudgets'
> {
  readonly rowTasks: RowTasks;
}
