import { ApplicationFailure } from '@temporalio/workflow';
import { isRequestId } from '../core/create-outcome';
import { isRecord } from '../core/json';

type Fields = Readonly<Record<string, unknown>>;
type Shape = (result: Fields) => boolean;

/** The type of the failure of an activity whose result cannot be read. */
const resultInvalid = 'ActivityResultInvalid';

/** What a workflow reads of the result of each activity: a person may complete one with anything. */
const shapes: Readonly<Record<string, Shape>> = {
  inspectInputs: ({ files }) => isList(files, (file) => hasTexts(file, 'file', 'sha256') && isCount(file['bytes'])),
  storeInput: (stored) =>
    hasTexts(stored, 'name', 'sha256') && isCount(stored['bytes']) && isResource(stored['resource']),
  createTask: isCreateResult,
  pollTask: isPoll,
  checkAdoption: ({ poll, follower }) => isRecord(poll) && isPoll(poll) && (follower === null || isText(follower)),
  watchTask: ({ known, pollResult }) =>
    isRecord(known) &&
    [known['polls'], known['failedPolls'], known['unknownInARow'], known['serviceStatusSinceMs']].every(isCount) &&
    (known['serviceStatus'] === null || isText(known['serviceStatus'])) &&
    isRecord(pollResult) &&
    isPoll(pollResult),
  cancelTask: isVerbAnswer,
  interruptTask: isVerbAnswer,
  archiveOutputs: ({ manifest, outputs }) =>
    isText(manifest) && isList(outputs, (output) => hasTexts(output, 'path', 'sha256') && isCount(output['bytes'])),
  openBatch: ({ gone = 0, succeeded = 0 }) => isCount(gone) && isCount(succeeded),
  startRows: ({ running, ended, onRecord, next }) =>
    isList(running) && isList(ended) && isRecord(onRecord) && (next === null || isRecord(next)),
  awaitRowEnds: ({ ended, next }) => isList(ended) && isRecord(next),
  pollRows: ({ ended, polled = 0 }) => isList(ended) && isCount(polled),
  reportBatch: (report) =>
    hasTexts(report, 'jsonl', 'csv') && ['success', 'failed', 'canceled'].every((name) => isCount(report[name])),
};

/** Activities whose results are checked: one that has another form is a failure that the caller handles as any other. */
export function withCheckedResults<A extends object>(proxies: A): A {
  return new Proxy(proxies, {
    get: (target, name) => {
      const run = Reflect.get(target, name) as Runner;
      const shape = shapes[String(name)];
      if (shape === undefined) return run;
      const check = (result: unknown): unknown => {
        if (isRecord(result) && shape(result)) return result;
        throw ApplicationFailure.create({
          type: resultInvalid,
          message: `The result of the activity ${String(name)} has another form than this workflow reads; it may have been given by hand.`,
        });
      };
      const checked = (...args: readonly unknown[]): Promise<unknown> => run(...args).then(check);
      return Object.assign(checked, {
        executeWithOptions: (...args: readonly unknown[]) => run.executeWithOptions(...args).then(check),
      });
    },
  });
}

interface Runner {
  (...args: readonly unknown[]): Promise<unknown>;
  readonly executeWithOptions: (...args: readonly unknown[]) => Promise<unknown>;
}

export function isResultInvalid(error: unknown): boolean {
  return error instanceof ApplicationFailure && error.type === resultInvalid;
}

function isCreateResult({ outcome, requestId, reason, message, retryable, httpStatus }: Fields): boolean {
  switch (outcome) {
    case 'accepted':
      return isRequestId(requestId);
    case 'notSent':
    case 'uncertain':
      return isText(reason);
    case 'rejected':
      return isText(message) && typeof retryable === 'boolean' && typeof httpStatus === 'number';
    default:
      return false;
  }
}

function isPoll({ seen, status, problem, timestamps, costTimes }: Fields): boolean {
  if (seen === 'notFound') return true;
  if (seen !== 'task') return (seen === 'gone' || seen === 'nothing') && isText(problem);
  return isText(status) && [timestamps, costTimes].every((one) => one === undefined || isRecord(one));
}

function isVerbAnswer({ taken, refused, words }: Fields): boolean {
  return taken === true || (taken === false && typeof refused === 'boolean' && isText(words));
}

function isList(value: unknown, holds: Shape = () => true): boolean {
  return Array.isArray(value) && value.every((item) => isRecord(item) && holds(item));
}

function isResource(value: unknown): boolean {
  return isRecord(value) && hasTexts(value, 'objectKey', 'name') && value['resourceId'] !== undefined;
}

function hasTexts(value: Fields, ...names: readonly string[]): boolean {
  return names.every((name) => isText(value[name]));
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
