import { Readable } from 'node:stream';
import { activityInfo, cancellationSignal, log } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { shortHash } from '../core/archive-name';
import { type Manifest, manifestText } from '../archive/manifest';
import type {
  ArchiveOutputsInput,
  ArchiveOutputsResult,
  MissingOutputs,
  TransferProgress,
} from '../contract/activities';
import { failureTypes } from '../contract/failure-types';
import { type ArchivedOutput, maxFailedOutputs, maxResultBytes } from '../contract/task-result';
import { isTerminal, parseServiceStatus } from '../core/task-state';
import { NotFoundError, OutputGoneError, type TaskOutputs } from '../service';
import type { Archive } from '../storage/archive/archive';
import type { ArchiveIdentity } from '../storage/archive/archive-identity';
import { ArchiveError } from '../storage/errors';
import { getService } from './accounts';
import { temporalClock } from './clock';
import { CreateRecordFile } from './create-record';
import type { ActivityDependencies } from './dependencies';
import { isDeadLink, isTooSlow, OutputFetch } from './fetch-outputs';
import { withHeartbeat } from './heartbeat';
import {
  boundedMessage,
  boundedWord,
  formatProblem,
  getOutputNames,
  isOfSameTask,
  type Output,
  type OutputNames,
  readManifest,
  toManifest,
} from './manifest';
import { isTooLarge } from './output-limits';
import { OutputList } from './output-list';
import { toApplicationFailure } from './to-application-failure';

/** A success that lists no output is asked again this often: its outputs may be late (specification, section 3). */
const lateOutputAttempts = 5;
/** Two minutes by Temporal's pauses: before that, what says that results are gone is not believed. */
const goneAttempts = 8;
/** Outputs that came too slowly are fetched again after this pause: a slot is not held by what is too slow. */
const slowRetryMs = 300_000;
const maxNamedOutputs = 5;
const looksAtOnce = 8;

/**
 * Fetches every output that can be fetched with links of its own asking (specification, section 4.3), then writes the
 * manifest. A file has its final name only when it is whole, and the manifest says which file is which output, also while
 * some are missing; so a repeated attempt goes on where the previous one ended.
 */
export async function archiveOutputs(
  dependencies: ActivityDependencies,
  identity: ArchiveIdentity,
  input: ArchiveOutputsInput,
): Promise<ArchiveOutputsResult> {
  let progress = (): TransferProgress => ({ transfer: 'archive', name: input.requestId, bytes: 0, totalBytes: null });
  const onStart = (ofFetch: () => TransferProgress): void => {
    progress = ofFetch;
  };
  const attempt = { now: temporalClock(), signal: cancellationSignal(), onStart };
  return await withHeartbeat(
    () => progress(),
    () => archiveOnce(dependencies, identity, input, attempt),
  );
}

/** Whose time and end one attempt has. */
export interface ArchiveAttempt {
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** Whether the create record is known to have the request id. */
  readonly isRecorded?: boolean;
  /** Given what tells how far it is. */
  readonly onStart: (progress: () => TransferProgress) => void;
}

/** The same, without heartbeats of its own. */
export async function archiveOnce(
  dependencies: ActivityDependencies,
  identity: ArchiveIdentity,
  input: ArchiveOutputsInput,
  { now, signal, isRecorded, onStart }: ArchiveAttempt,
): Promise<ArchiveOutputsResult> {
  return await identity.during(async () => {
    const refresh = (): Promise<TaskOutputs> =>
      getService(dependencies, input.account).getOutputs(input.requestId, { signal });
    const run: ArchiveRun = { dependencies, input, now, isRecorded, ...(await ownPlace(dependencies.archive, input)) };
    const { names, previous, isFree } = run;
    const list = new OutputList(names, previous?.outputs ?? [], `${await identity.get()} ${input.requestId}`);
    const listed = await refresh().catch(goneOrThrow);
    if (listed !== undefined) list.update(listed.outputs);
    if (list.outputs.length === 0 && isOver(listed)) throwWithoutOutputs(input, isContradicted(input, listed));
    // Before any file: whose folder it is, and which file is which output should this attempt die.
    if (previous === undefined && list.outputs.length > 0) await claimPlace(run, list);
    const remember = (): Promise<void> => writeManifest(run, list, false);
    const fetch = new OutputFetch({
      dependencies,
      list,
      refresh,
      remember,
      signal,
      status: input.status,
      names,
      isFree,
    });
    onStart(() => fetch.progress());
    await fetch.fetchAll();
    return await finish(run, list, listed, fetch.problems);
  });
}

interface OwnPlace {
  readonly names: OutputNames;
  readonly previous: Manifest | undefined;
  /** Whether no attempt, of any task, has written there. */
  readonly isFree: boolean;
}

interface ArchiveRun extends OwnPlace {
  readonly dependencies: ActivityDependencies;
  readonly input: ArchiveOutputsInput;
  readonly now: () => number;
  readonly isRecorded: boolean | undefined;
}

/** The names of the task’s files and its previous manifest. Another task’s files under the usual names stay: ids may be given again. */
async function ownPlace(archive: Archive, input: ArchiveOutputsInput): Promise<OwnPlace> {
  const { account, requestId, createNumber, timestamps } = input;
  const workflowId = ownWorkflow();
  const read = async (names: OutputNames): Promise<OwnPlace & { readonly isAnothers: boolean }> => {
    const found = await readManifest(archive, names.manifest);
    const isOwn = found != null && isOfSameTask(found, workflowId, input);
    const previous = isOwn ? found : undefined;
    return { names, previous, isFree: found === undefined, isAnothers: found != null && !isOwn };
  };
  const usual = await read(getOutputNames(input, archive.maxNameBytes));
  if (!usual.isAnothers || !usual.names.areItsOwn) return usual;
  const task = [account, workflowId, createNumber ?? timestamps['createdAt']?.raw].join('\n');
  const apart = { ...input, requestId: `${requestId}~${shortHash(task)}` };
  return await read(getOutputNames(apart, archive.maxNameBytes));
}

/** Writes the first manifest. Of two tasks that come at once only one gets a free place; the other looks again. */
async function claimPlace(run: ArchiveRun, list: OutputList): Promise<void> {
  const { dependencies, input, names, isFree } = run;
  if (!isFree) {
    await writeManifest(run, list, false);
    return;
  }
  const state = { isComplete: false, nowMs: run.now() };
  const text = manifestText(toManifest(ownWorkflow(), input, list.outputs, undefined, state));
  // Not flushed: after a power failure there are no outputs, either, and the next attempt begins anew.
  if (await dependencies.archive.putIfAbsent(names.manifest, text, { isFlushedLater: true })) return;
  throw new ArchiveError('ARCHIVE_UNUSABLE', `${names.manifest} was written by another attempt just now`);
}

function ownWorkflow(): string | null {
  return activityInfo().workflowExecution?.workflowId ?? null;
}

/** Undefined once the service has said again and again that the task or its results are gone; throws everything else. */
function goneOrThrow(error: unknown): undefined {
  const isGone =
    error instanceof OutputGoneError || (error instanceof NotFoundError && error.code === 'TASK_NOT_FOUND');
  if (!isGone || activityInfo().attempt < goneAttempts) throw error;
}

function isOver(listed: TaskOutputs | undefined): boolean {
  return listed !== undefined && isTerminal(parseServiceStatus(listed.status));
}

function throwWithoutOutputs({ requestId, status }: ArchiveOutputsInput, mayPass: boolean): void {
  if (status === 'Failed') return;
  throw ApplicationFailure.create({
    type: failureTypes.SuccessNoOutputs,
    message: `The task ${requestId} succeeded, but the service lists no output of it.`,
    nonRetryable: !mayPass && activityInfo().attempt >= lateOutputAttempts,
  });
}

/** Whether the list says that the task failed, and its detail that it succeeded: one of the two may pass. */
function isContradicted({ status }: ArchiveOutputsInput, listed: TaskOutputs | undefined): boolean {
  if (status !== 'Success' || !isOver(listed) || activityInfo().attempt >= goneAttempts) return false;
  return parseServiceStatus(listed?.status ?? '') !== 'Success';
}

/** Writes down what is there, and fails when that is not everything. */
async function finish(
  run: ArchiveRun,
  list: OutputList,
  listed: TaskOutputs | undefined,
  unplaced: readonly unknown[],
): Promise<ArchiveOutputsResult> {
  const { input, previous } = run;
  const { outputs } = list;
  await requireKept(run.dependencies.archive, outputs);
  const missing = [
    ...outputs.flatMap(({ index, problem }) => (problem === undefined ? [] : { what: `output ${index}`, problem })),
    ...unplaced.map((problem) => ({ what: 'an output', problem })),
  ];
  const isLast = listed === undefined ? previous?.complete === true || input.status === 'Failed' : isOver(listed);
  const isComplete = missing.length === 0 && isLast && !isContradicted(input, listed);
  if (outputs.length > 0 || isComplete) await writeManifest(run, list, isComplete);
  if (isComplete) return resultOf(run, list);
  if (listed !== undefined) throw incomplete(input, outputs, missing, listed);
  const kept = outputs.filter(({ file }) => file !== null).length;
  const there = kept === 0 ? '' : ` ${kept} of its ${outputs.length} outputs are in the archive.`;
  const message = `The service has deleted the results of ${input.requestId} before they were archived.${there}`;
  throw ApplicationFailure.nonRetryable(message, failureTypes.ResultLost);
}

/** A storage may say that it has kept a file, and not have it: each is looked at once before the manifest names it. */
async function requireKept(archive: Archive, outputs: readonly Output[]): Promise<void> {
  await Readable.from(outputs).forEach(
    async (output: Output) => {
      const { name, file } = output;
      if (file === null) return;
      try {
        if (await archive.isKept(name, file)) return;
        output.file = null;
        output.problem = new ArchiveError('NOT_WHOLE', `${file.path} was kept, and is not there as it was sent`);
      } catch (error) {
        output.problem = error;
      }
    },
    { concurrency: looksAtOnce },
  );
}

async function writeManifest(run: ArchiveRun, list: OutputList, isComplete: boolean): Promise<void> {
  const { input, names, previous, isFree, isRecorded } = run;
  const { archive } = run.dependencies;
  const workflowId = ownWorkflow();
  if (!isComplete && previous?.complete !== true && (await ownPlace(archive, input)).previous?.complete === true) {
    throw new ArchiveError('ARCHIVE_UNUSABLE', `${names.manifest} was completed by another attempt meanwhile`);
  }
  if (isRecorded !== true && workflowId !== null && input.createNumber !== undefined) {
    await new CreateRecordFile(archive, workflowId, input.createNumber).addRequestId(input.requestId);
  }
  const state = { isComplete, nowMs: run.now() };
  const text = manifestText(toManifest(workflowId, input, list.outputs, previous, state));
  // Flushes the names of the outputs, too: they are in the same folder.
  await archive.replace(names.manifest, text, { isFirst: isFree });
  if (!isComplete || (await archive.size(names.manifest)) === Buffer.byteLength(text)) return;
  throw new ArchiveError('NOT_WHOLE', `${archive.locate(names.manifest)} was kept, and is not there as it was sent`);
}

function resultOf({ dependencies: { archive }, input, names }: ArchiveRun, list: OutputList): ArchiveOutputsResult {
  const archived = list.outputs.flatMap(({ index, item, file }): ArchivedOutput[] => {
    const { auditStatus } = item;
    const words = { ext: boundedWord(item.ext), errorType: boundedWord(item.errorType) };
    if (file === null) return [];
    const { path, bytes, sha256 } = file;
    return [{ index, path, bytes, sha256, ...words, auditStatus }];
  });
  const failed = list.outputs.filter(({ file }) => file === null);
  log.info('archived', { requestId: input.requestId, outputs: archived.length, failedOutputs: failed.length });
  let jsonBytes = 0;
  const end = archived.findIndex((one) => (jsonBytes += Buffer.byteLength(JSON.stringify(one)) + 1) > maxResultBytes);
  return {
    outputs: end === -1 ? archived : archived.slice(0, end),
    manifest: archive.locate(names.manifest),
    outputCount: archived.length,
    outputBytes: archived.reduce((sum, { bytes }) => sum + bytes, 0),
    failedOutputs: failed.slice(0, maxFailedOutputs).map(({ index, item: { errorType, errorMessage } }) => {
      const message = errorMessage === undefined ? null : boundedMessage(errorMessage);
      return { index, errorType: boundedWord(errorType), message };
    }),
    failedOutputCount: failed.length,
  };
}

/** The failure of an attempt that leaves outputs missing; final only when nothing is left but outputs that no further attempt brings. */
function incomplete(
  { requestId }: ArchiveOutputsInput,
  outputs: readonly Output[],
  missing: readonly { readonly what: string; readonly problem: unknown }[],
  listed: TaskOutputs,
): ApplicationFailure {
  const late = `The service says ${boundedWord(listed.status)} and lists ${listed.outputs.length} outputs so far.`;
  if (missing.length === 0) {
    return ApplicationFailure.create({
      type: failureTypes.OutputUnavailable,
      message: `The outputs of ${requestId} are not all there yet. ${late}`,
      category: ApplicationFailureCategory.BENIGN,
    });
  }
  const problems = missing.map(({ problem }) => problem);
  const failures = problems.map((problem) => toApplicationFailure(problem));
  const types = failures.flatMap((one) => (one instanceof ApplicationFailure ? (one.type ?? []) : []));
  const named = missing
    .slice(0, maxNamedOutputs)
    .map(({ what, problem }) => `${what}: ${formatProblem(problem).slice(0, 250)}`);
  if (missing.length > named.length) named.push(`and ${missing.length - named.length} more, see the manifest`);
  // Whether only a person, or time, can help: too large ones at once, dead links only when they stay dead.
  const rest = problems.filter((problem) => !isTooLarge(problem));
  const isHopeless = rest.length === 0 || (activityInfo().attempt >= goneAttempts && rest.every(isDeadLink));
  const details: MissingOutputs = {
    linksAreDead: problems.every(isDeadLink),
    archived: outputs.filter(({ file }) => file !== null).length,
    outputs: outputs.length,
  };
  return ApplicationFailure.create({
    type: types.find((type) => type !== failureTypes.OutputUnavailable) ?? failureTypes.OutputUnavailable,
    message: `${missing.length} of ${outputs.length} outputs of ${requestId} are not archived: ${named.join('; ')}.${isOver(listed) ? '' : ` ${late}`}`,
    nonRetryable: isOver(listed) && isHopeless,
    details: [details],
    nextRetryDelay: problems.every(isTooSlow) ? slowRetryMs : undefined,
  });
}
