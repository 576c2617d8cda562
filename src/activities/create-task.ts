import { activityInfo, heartbeat, log } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { CreateTaskInput } from '../contract/activities';
import { failureTypes } from '../contract/failure-types';
import type { CreateOutcome } from '../domain/create-outcome';
import { formatDuration } from '../domain/duration';
import { errorMessage } from '../domain/unknown-error';
import { withoutUrls } from '../domain/uri';
import {
  ServiceArgumentError,
  type CreateTaskAsyncOptions,
  type CreateTaskRequest,
  type ServiceClient,
} from '../service';
import type { Gate } from '../service/gate';
import type { Archive } from '../storage/archive';
import type { ArchiveIdentity } from '../storage/archive-identity';
import type { AccountPatience } from './account-patience';
import { limitsOf, serviceOf } from './account-service';
import { requireAllowed } from './allowed-choices';
import { callbackOptions } from './callback-order';
import { CreateRecordFile } from './create-record';
import type { ActivityDependencies } from './dependencies';
import { ownWorkflowId } from './own-workflow';
import { resolveResources } from './resolve-resources';
import { keyTrouble, toApplicationFailure } from './to-application-failure';

const hearOutMarginMs = 3_000;

/**
 * Creates a task, sending the request at most once (specification, section 4.1). What came of it is data. It throws only
 * what is final and happened before anything was sent.
 *
 * It takes no notice of a cancellation or of the worker's shutdown: a create on its way is always heard out. The gate
 * that let it through hears what became of it.
 */
export async function createTask(
  parts: ActivityDependencies,
  archive: ArchiveIdentity,
  patience: AccountPatience,
  input: CreateTaskInput,
): Promise<CreateOutcome> {
  const workflowId = ownWorkflowId();
  const startedAtMs = Date.now();
  const refusals: Refusals = { account: input.account, step: `${workflowId} create`, patience };
  let account: { readonly service: ServiceClient; readonly gate: Gate };
  try {
    account = { service: serviceOf(parts, input.account), gate: limitsOf(parts, input.account).creates };
  } catch (error) {
    return notSent(error, refusals);
  }
  const { service, gate } = account;
  const options = callbackOptions(parts.callback, workflowId);
  const callbackAsked = options.callback !== undefined;
  const { createNumber, createDigest, inputDigest } = input;
  const facts = { callbackAsked, createDigest, inputDigest };
  const record = new CreateRecordFile(parts.archive, workflowId, createNumber, facts);
  let request: CreateTaskRequest;
  try {
    requireAllowed(parts.allowed, input.choices);
    request = await toRequest(service, input);
    await requireSharedArchive(parts.archive, archive, input);
    const before = await record.claim(hearOutMs());
    if (before !== undefined) {
      gate.withdraw();
      return before;
    }
    await requireInTime(record, Date.now() - startedAtMs);
  } catch (error) {
    gate.withdraw();
    return notSent(error, refusals);
  }
  const outcome = afterRefusal(inWords(await send(service, request, options), service.host, input.account), refusals);
  const settling = settle(record, outcome.outcome === 'uncertain' ? { ...outcome, callbackAsked } : outcome);
  // After the heartbeat, with which settling begins, and before the archive, which may take its time.
  gate.report(outcome);
  return await settling;
}

/**
 * Throws, to be tried again, when the worker that this task has asked before keeps another archive than this one, or when
 * this one is not what it was: create records in one protect nothing in the other.
 */
async function requireSharedArchive(
  { location }: Archive,
  archive: ArchiveIdentity,
  { archiveId }: CreateTaskInput,
): Promise<void> {
  if (archiveId !== undefined && (await archive.get()) !== archiveId) {
    const words = `the archive of this worker (${location}) is not that of another worker of this task queue, so create records do not protect each other: give all of them the same LONGHAUL_ARCHIVE`;
    throw ApplicationFailure.retryable(words, failureTypes.ArchiveUnavailable);
  }
  await archive.requireSame();
}

/** An earlier run's create has ended within its timeout, which is ours; we must have, too, a moment before ours is over. */
function hearOutMs(): number {
  return Math.max(0, activityInfo().startToCloseTimeoutMs - hearOutMarginMs);
}

/**
 * Throws, to be tried again, when an archive that hung or a process that stood still has used up the activity's time:
 * the workflow has given this create up, or is about to, and nobody would follow what is paid for now.
 */
async function requireInTime(record: CreateRecordFile, elapsedMs: number): Promise<void> {
  const { startToCloseTimeoutMs } = activityInfo();
  if (elapsedMs < Math.max(startToCloseTimeoutMs / 2, startToCloseTimeoutMs - hearOutMarginMs)) return;
  await keep('release', () => record.releaseUnsent());
  const words = `the create could be sent only after ${formatDuration(elapsedMs)}, too late to hear its answer: look whether the archive hangs, or the worker stood still`;
  throw ApplicationFailure.retryable(words, failureTypes.ArchiveUnavailable);
}

async function toRequest(service: ServiceClient, input: CreateTaskInput): Promise<CreateTaskRequest> {
  const { webAppId, inputs, suppressPreviewOutput } = input;
  return {
    webAppId,
    inputValues: await resolveResources(service, inputs),
    ...(suppressPreviewOutput !== undefined && { suppressPreviewOutput }),
  };
}

async function send(
  service: ServiceClient,
  request: CreateTaskRequest,
  options: CreateTaskAsyncOptions,
): Promise<CreateOutcome> {
  try {
    return await service.createTask(request, options);
  } catch (error) {
    if (error instanceof ServiceArgumentError) {
      return { outcome: 'rejected', retryable: false, httpStatus: 0, message: error.message };
    }
    // A bug of ours, at a moment that nobody knows: the request may have left.
    return { outcome: 'uncertain', reason: errorMessage(error) };
  }
}

/** The outcome as a person may read it: whom it is about, and no URL. */
function inWords(outcome: CreateOutcome, host: string, account: string): CreateOutcome {
  switch (outcome.outcome) {
    case 'accepted':
      return outcome;
    case 'notSent':
      return { ...outcome, reason: `the service at ${host}: ${withoutUrls(outcome.reason)}` };
    case 'rejected': {
      const words = withoutUrls(outcome.message);
      return { ...outcome, message: outcome.keyRefused === true ? keyTrouble(account, words) : words };
    }
    case 'uncertain':
      return { ...outcome, reason: withoutUrls(outcome.reason) };
  }
}

/** Makes the outcome last. From here on nothing may throw: the service has answered. */
async function settle(record: CreateRecordFile, outcome: CreateOutcome): Promise<CreateOutcome> {
  switch (outcome.outcome) {
    case 'accepted': {
      const { requestId } = outcome;
      // Before anything else is done with the reply: a worker that dies now has told Temporal the id.
      heartbeat({ requestId });
      await keep('complete', () => record.complete(requestId));
      return outcome;
    }
    case 'notSent':
    case 'rejected':
      await keep('release', () => record.release());
      return outcome;
    case 'uncertain':
      return outcome;
  }
}

async function keep(what: string, action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    log.warn('create record not kept', { what, error: errorMessage(error) });
  }
}

/** Whose key was refused, or whose account is unknown, and for how long that is tried again. */
interface Refusals {
  readonly account: string;
  readonly step: string;
  readonly patience: AccountPatience;
}

/** A refused key is tried again for a while: it is provably not the task that was refused, and nothing was created. */
function afterRefusal(outcome: CreateOutcome, { patience, step }: Refusals): CreateOutcome {
  if (outcome.outcome === 'rejected' && outcome.keyRefused === true) {
    return { ...outcome, retryable: !patience.isOver(step) };
  }
  patience.forget(step);
  return outcome;
}

/** Before the request is sent, whatever fails for now is worth another try, and what is final ends the task unpaid. */
function notSent(error: unknown, { account, patience, step }: Refusals): CreateOutcome {
  const failure = toApplicationFailure(error, account, () => patience.isOver(step));
  if (failure instanceof ApplicationFailure && failure.nonRetryable !== true) {
    return { outcome: 'notSent', reason: failure.message };
  }
  throw failure;
}
