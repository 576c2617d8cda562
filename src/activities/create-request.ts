import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import type { CommittedInput, CreateTaskInput } from '../contract/activities';
import { failureTypes } from '../contract/failure-types';
import { correlationHeader, createName, isLonghaulWorkflowId } from '../contract/workflow-ids';
import type { CreateOutcome } from '../core/create-outcome';
import { errorMessage, showValue } from '../core/text';
import { isUri, withoutUrls } from '../core/uri';
import { looksLikeMediaFile } from '../rows';
import {
  type CreateTaskAsyncOptions,
  type CreateTaskRequest,
  ServiceApiError,
  ServiceArgumentError,
  type ServiceClient,
  ServiceError,
} from '../service';
import { isOfAccount, type Refusal } from '../service/create-gate';
import { resourceOfUpload } from '../service/inputs';
import type { AccountKey } from './accounts';
import { isAccountRefusal, keyProblem, requestProblem } from './to-application-failure';

export interface CallbackOrder {
  readonly url: string;
  /** Revealed only when a create is sent. */
  readonly token: () => string;
  /** @default the specification's */
  readonly headerPrefix?: string;
}

/** Undefined without a receiver, and for workflow ids that it would not accept: those tasks are polled only. */
export function callbackOptions(
  order: CallbackOrder | undefined,
  workflowId: string,
  createNumber: number,
): CreateTaskAsyncOptions {
  if (order === undefined || !isLonghaulWorkflowId(workflowId)) return {};
  return {
    callback: { url: order.url, token: order.token() },
    headers: { [correlationHeader(order.headerPrefix)]: createName(workflowId, createNumber) },
  };
}

/** Replaces each resource by its URL, name or id, just before the create: URLs may be time-limited. */
export async function toCreateRequest(
  service: ServiceClient,
  { webAppId, inputs, suppressPreviewOutput }: Pick<CreateTaskInput, 'webAppId' | 'inputs' | 'suppressPreviewOutput'>,
): Promise<CreateTaskRequest> {
  const urls = new Map<string, Promise<string>>();
  const urlOf = (resource: CommittedInput): Promise<string> => {
    const asked = urls.get(resource.objectKey) ?? lookUp(service, resource);
    urls.set(resource.objectKey, asked);
    return asked;
  };
  const entries = Object.entries(inputs).map(async ([key, value]) => {
    if (typeof value !== 'object') return [key, value] as const;
    const { resource, as } = value;
    const url = as === 'url' || resource.wasListed === true ? await urlOf(resource) : '';
    return [key, { url, name: resource.name, id: resource.resourceId }[as]] as const;
  });
  return { webAppId, inputValues: Object.fromEntries(await Promise.all(entries)), suppressPreviewOutput };
}

async function lookUp(service: ServiceClient, resource: CommittedInput): Promise<string> {
  const { objectKey, resourceId, name, wasListed = false } = resource;
  const found = resourceOfUpload(await service.listInputs({ objectKey }), { objectKey, name }, resourceId);
  if (found !== undefined) return found.url;
  if (wasListed) {
    throw ApplicationFailure.nonRetryable(
      `the input "${name}" was deleted at the service after an earlier upload of it was found there; ` +
        'nothing was created: start the task again, and it is uploaded anew',
      failureTypes.InputUnusable,
    );
  }
  const words = `the service does not list the committed input "${name}" (yet)`;
  throw ApplicationFailure.retryable(words, failureTypes.ServiceReplyInvalid);
}

/** Sends a create once. Never throws: from here on the service may have been asked. */
export async function sendCreate(
  service: ServiceClient,
  request: CreateTaskRequest,
  options: CreateTaskAsyncOptions,
  key: AccountKey,
): Promise<CreateOutcome> {
  try {
    return formatOutcome(await service.createTask(request, options), service.host, key);
  } catch (error) {
    if (error instanceof ServiceArgumentError) {
      const { message } = error;
      const meaning = { meaning: 'INVALID_REQUEST', scope: 'request' } as const;
      return { outcome: 'rejected', retryable: false, httpStatus: 0, ...meaning, message };
    }
    // A bug of ours, at an unknown moment: the request may have left.
    return { outcome: 'uncertain', reason: withoutUrls(errorMessage(error)) };
  }
}

function formatOutcome(outcome: CreateOutcome, host: string, key: AccountKey): CreateOutcome {
  switch (outcome.outcome) {
    case 'accepted':
      return outcome;
    case 'notSent':
      return { ...outcome, reason: `the service at ${host}: ${withoutUrls(outcome.reason)}` };
    case 'rejected': {
      const words = withoutUrls(outcome.message);
      return { ...outcome, message: outcome.scope === 'key' ? keyProblem(key, words) : words };
    }
    case 'uncertain':
      return { ...outcome, reason: withoutUrls(outcome.reason) };
  }
}

const timeoutMs = 5_000;
/** Refusals of the check that say nothing against a create. */
const harmless: readonly string[] = ['API_ERROR', 'INVALID_REQUEST', 'NOT_FOUND', 'PERMISSION_DENIED'];
/** Failures of the check after which no other request tells more. */
const unanswering: readonly string[] = [
  ...['API_KEY_UNAVAILABLE', 'CLOSED', 'UNREACHABLE', 'TIMEOUT'],
  ...['RATE_LIMITED', 'QUEUE_FULL', 'INSUFFICIENT_BALANCE', 'ACCOUNT_SUSPENDED'],
];

/** Asks for the metadata, then perhaps about a task: both cost nothing. Returns what speaks against a create. */
export async function checkService(service: ServiceClient, key: AccountKey): Promise<Refusal | undefined> {
  try {
    await service.getUserMetadata({ timeoutMs });
    return undefined;
  } catch (error) {
    if (error instanceof ServiceApiError && harmless.includes(error.code)) return undefined;
    const tellsAll = error instanceof ServiceError && unanswering.includes(error.code);
    return tellsAll || !(await isTaskAnswered(service)) ? refusalOf(error, key) : undefined;
  }
}

async function isTaskAnswered(service: ServiceClient): Promise<boolean> {
  try {
    await service.getTask(randomUUID(), { timeoutMs });
    return true;
  } catch (error) {
    return error instanceof ServiceApiError && error.code === 'TASK_NOT_FOUND';
  }
}

function refusalOf(error: unknown, key: AccountKey): Refusal {
  const words = requestProblem(error, key, withoutUrls(errorMessage(error)));
  const retryAfterMs = (error instanceof ServiceApiError ? error.retryAfterMs : undefined) ?? 0;
  const cause = isAccountRefusal(error) ? 'account' : 'service';
  return { cause, reason: `no create is sent, since a request that creates nothing fails: ${words}`, retryAfterMs };
}

const maxNamedTexts = 2;
const maxPathLength = 300;

/** Adds to a final rejection the text inputs that look like local files, which the service does not know. */
export function withFileHint(outcome: CreateOutcome, inputs: CreateTaskInput['inputs']): CreateOutcome {
  if (outcome.outcome !== 'rejected' || outcome.retryable || isOfAccount(outcome)) return outcome;
  const named = Object.entries(inputs)
    .filter(([, text]) => isLocalFile(text))
    .slice(0, maxNamedTexts)
    .map(([key, text]) => `${showValue(key)} was sent as the text ${showValue(text)}`);
  if (named.length === 0) return outcome;
  const hint = `${named.join(', ')}: if the file is meant, give { "file": PATH }, in a table an @ before the path`;
  return { ...outcome, message: `${outcome.message} (${hint})` };
}

function isLocalFile(value: unknown): boolean {
  if (typeof value !== 'string' || value.length > maxPathLength || isUri(value)) return false;
  if (!looksLikeMediaFile(value)) return false;
  return !/\s/.test(value) || /^(?:\.{0,2}[/\\]|~[/\\]|[a-z]:[/\\])[^\r\n]+$/i.test(value);
}
