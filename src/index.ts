/** Longhaul's public library: it stays what it is within a major version; everything else is internal. */

export { loadLonghaulDataConverter } from './client/codec/data-converter';
export { loadLonghaulInterceptors } from './client/client-traces';
export { Longhaul } from './client/public-types';
export type { BatchHandle, TaskHandle } from './client/public-types';
export type { LonghaulClientOptions, LonghaulConnectOptions, LonghaulOptions } from './client/longhaul';
export type { WaitOptions } from './client/base-handle';
export type { BatchView } from './client/batch/batch-view';
export type { BatchSetting } from './client/batch/batch-settings';
export type { StartedBatch } from './client/batch/start-batch';
export type { AdoptTaskOptions, TaskStartOptions, TraceOptions } from './client/start-check';
export type { StartTaskOptions } from './client/start-check';
export type { TaskOrigin, TaskSetting } from './client/task/start-task';
export type { TaskChange, TaskEvent, TaskEventsOptions } from './client/task/task-events';
export type {
  ArchivedResult,
  ContentInput,
  ContentTaskInput as StartTaskInput,
  InputStaging,
  OutputArchive,
  OutputLinkOptions,
  OutputReadOptions,
  TaskOutput,
  WebBlob,
  WebStream,
} from './client/task/task-files';
export type { TaskView } from './client/task/task-view';
export { problemCodes } from './contract/problem';
export type { Problem, ProblemCode } from './contract/problem';
export type { ListBatchesOptions, ListedBatch } from './client/batch/list-batches';

export type { ListedProblem, ListedTask, ListPageOptions, ListTasksOptions, TaskPage } from './client/task/list-tasks';
export { unwrapWebhook, WebhookInvalidError } from './client/webhook';

export {
  DecisionRefusedError,
  InputChangedError,
  InputInvalidError,
  LonghaulError,
  NoWorkerError,
  ReplyInvalidError,
  SweepFailedError,
  TaskFailedError,
  TaskOverError,
  UnknownTaskError,
  WorkflowStuckError,
} from './client/errors';
export {
  ClientClosedError,
  NamespaceMissingError,
  RequestTooLargeError,
  SearchAttributesMissingError,
  TemporalBusyError,
  TemporalRefusedError,
  TemporalUnreachableError,
} from './client/connection-errors';
export type { FailureDetails } from './contract/failure-details';
export type { UntypedEnding } from './client/errors';
export { ConfigError } from './config/environment';

export { failureTypes } from './contract/failure-types';
export type { FailureType } from './contract/failure-types';
export type {
  Deadlines,
  Duration,
  FileInput,
  InputValue,
  ResourceForm,
  TaskInput,
  TaskTuning,
  UncertainPolicy,
} from './contract/task-input';
export type { ArchivedOutput, CostTimes, TaskResult, Timestamp, Timestamps } from './contract/task-result';
export { longhaulStatuses } from './core/task-state';
export type { LonghaulStatus, ServiceStatus } from './core/task-state';
export type { Money } from './money/money';
export type { StopRequestView, TaskStatus } from './contract/task-messages';
export type { TransferProgress } from './contract/activities';
export type { BatchInput, BatchTuning, RowsReference } from './contract/batch/batch-input';
export type { BatchProgress, BatchResult, BatchState } from './contract/batch/batch-messages';
export type { BatchEventData, TaskEventData, WebhookEvent } from './contract/webhook';
export { searchAttributeNames } from './contract/search-attributes';
export { workflowTaskQueue } from './contract/task-queues';
export { batchWorkflowId, rowWorkflowId, taskKeyOf, taskWorkflowId } from './contract/workflow-ids';
