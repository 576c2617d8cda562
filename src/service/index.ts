/**
 * The typed client of the hosted workflow-task service, usable without Temporal. Sections are those of the service's
 * specification. Every export here is public API.
 *
 * @example
 * const service = new ServiceClient({ baseUrl: 'https://service.example', apiKey: readKey });
 * const created = await service.createTask({ webAppId: 42, inputValues: { '2:ImageScale.width': 512 } });
 * if (created.outcome === 'accepted') console.log((await service.getTask(created.requestId)).status);
 * await service.close();
 */

/** The client: all nine endpoints (section 4), all three modes of create (section 1). */
export { ServiceClient } from './service-client';
export type {
  CallOptions,
  CreateTaskAsyncOptions,
  CreateTaskOptions,
  ServiceClientOptions,
  ServiceTimeouts,
  WaitForTaskOptions,
} from './client-options';
export type { EndpointName } from './endpoints';
export type { RequestEnd, RequestObserver, RequestStart, RequestTrace, TraceRequest } from './service-transport';

/** Requests and replies (section 2). */
export type { CallbackTarget, CreateTaskRequest } from './create-request';
export type {
  CreateAccepted,
  CreateNotSent,
  CreateOutcome,
  CreateRejected,
  CreateUncertain,
} from '../core/create-outcome';
export type {
  EndedTask,
  OutputItem,
  SyncTaskReply,
  TaskCallback,
  TaskDetail,
  TaskOutputs,
  TaskTimestamps,
} from './tasks';
export type { ServiceTimestamp } from '../core/time';
export type { UploadedFile, UploadFileOptions, UploadSource } from './file-upload';
export type { PollBounds } from '../core/poll-cadence';
export type { InputResource, InputResourceFilter, InputResourcePage } from './inputs';
export type { UploadToken } from '../storage/upload-client';

/** The states of a task (section 3), and the body of a callback (section 6). */
export { isTerminal, parseServiceStatus, serviceStatuses } from '../core/task-state';
export type { ServiceStatus, StateWords, TerminalStatus } from '../core/task-state';
export { parseCallback } from './tasks';

/** Errors (section 7): switch on `code` or on the class. */
export {
  ApiKeyUnavailableError,
  InsufficientBalanceError,
  InvalidRequestError,
  NotFoundError,
  OutputGoneError,
  RateLimitedError,
  ServiceApiError,
  ServiceArgumentError,
  ServiceClosedError,
  ServiceError,
  ServiceResponseInvalidError,
  ServiceTimeoutError,
  ServiceUnavailableError,
  ServiceUnreachableError,
  TaskStateConflictError,
  UnauthorizedError,
} from './errors';
export type { ApiErrorCode, ServiceErrorCode } from './errors';
/** Further errors of an upload; each has a `code` and says whether another try is worth it. */
export { SourceError, UploadError } from '../storage/errors';
export type { SourceErrorCode, UploadErrorCode } from '../storage/errors';
export { defaultEnvelopeCodes } from '../core/service-dialect';
export type { EnvelopeCodes, RefusalScope } from '../core/service-dialect';
