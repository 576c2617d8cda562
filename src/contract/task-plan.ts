import { recommendedPollBounds } from '../domain/poll-cadence';
import { longHistoryEvents } from '../domain/workflow-tasks';
import type { BatchMembership, ResourceForm, TaskTuning, UncertainPolicy, WatchWay } from './task-input';

/** A file of the task and every input key that wants it. */
export interface PlannedFile {
  readonly key: string;
  readonly file: string;
  readonly as: ResourceForm;
}

/** A task's input, checked, with every default filled in. */
export interface TaskPlan {
  readonly account: string;
  readonly archiveFolder: string;
  readonly watch: WatchWay;
  /** Null: none is sent. */
  readonly webhook: string | null;
  /** Null: the task is no row. */
  readonly batch: BatchMembership | null;
  readonly deadlinesMs: { readonly queue: number; readonly run: number; readonly total: number };
  readonly tuning: TaskTuning;
  /** Set: the task exists already. */
  readonly adoptRequestId: string | null;
  readonly webAppId: number | null;
  readonly values: Readonly<Record<string, string | number>>;
  readonly files: readonly PlannedFile[];
  readonly suppressPreviewOutput: boolean | null;
  readonly onUncertain: UncertainPolicy;
  /** Null: as long as a callback can be expected. */
  readonly uncertainWaitMs: number | null;
  readonly createNumber: number;
}

const hourMs = 3_600_000;
export const defaultDeadlinesMs = { queue: 24 * hourMs, run: 12 * hourMs, total: 48 * hourMs };

/** What holds when `tuning` does not say otherwise. */
export const defaultTuning: TaskTuning = {
  poll: recommendedPollBounds,
  createRetryMs: 2_000,
  createRetryMaxMs: 60_000,
  createTimeoutMs: 45_000,
  notVisibleGraceMs: 60_000,
  watchHeartbeatMs: 30_000,
  stopGraceMs: 600_000,
  archiveGraceMs: 24 * hourMs,
  archivePauseMs: 60_000,
  watchTellMs: 60_000,
  retryMaxMs: 60_000,
  continueAsNewAfterEvents: longHistoryEvents,
};
