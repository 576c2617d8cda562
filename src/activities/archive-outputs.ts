import { activityInfo, cancellationSignal, log } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { ArchiveOutputsInput, ArchiveOutputsResult, MissingOutputs } from '../contract/activities';
import { failureTypes } from '../contract/failure-types';
import { type ArchivedOutput, maxFailedOutputs, maxResultBytes } from '../contract/task-result';
import { shortHash } from '../domain/archive-name';
import { isTerminal, parseServiceStatus } from '../domain/task-state';
import { manifestText } from '../formats/manifest';
import { NotFoundError, OutputGoneError, type ServiceClient, type TaskOutputs } from '../service';
import type { Archive } from '../storage/archive/archive';
import type { ArchiveIdentity } from '../storage/archive/archive-identity';
import { getService } from './accounts';
import { CreateRecordFile } from './create-record';
import { temporalClock } from './clock';
import type { ActivityDependencies } from './dependencies';
import { isDeadLink, isTooSlow, OutputFetch } from './fetch-outputs';
import { withHeartbeat } from './heartbeat';
import { boundedMessage, boundedWord, type Output, formatProblem, readPreviousManifest, toManifest } from './manifest';
import { OutputList } from './output-list';
import { getOutputNames, type OutputNames } from './output-names';
import { isTooLarge } from './output-limits';
import { toApplicationFailure } from './to-application-failure';

/** A success that lists no output is asked again this often: its outputs may be late (specification, section 3). */
const lateOutputAttempts = 5;
/** Two minutes by Temporal's pauses: before that, what says that results are gone is not believed. */
const goneAttempts = 8;
/** Outputs that came too slowly are fetched again after this pause. */
const slowRetryMs = 300_000;
/** So many missing outputs are named in a message; the manifest names all. */
const maxNamedOutputs = 5;

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
  const { archive } = dependencies;
  const now = temporalClock();
  let fetch: OutputFetch | undefined;
  return await withHeartbeat(
    () => fetch?.progress() ?? { transfer: 'archive', name: input.requestId, bytes: 0, totalBytes: null },
    () =>
      identity.during(async () => {
        const signal = cancellationSignal();
        const refresh = (): Promise<TaskOutputs> => listOutputs(getService(dependencies, input.account), input, signal);
        const { names, previous } = await ownPlace(archive, input);
        const list = new OutputList(names, previous?.outputs ?? []);
        const listed = await refresh().catch(goneOrThrow);
        if (listed !== undefined) list.update(listed.outputs);
        if (list.outputs.length === 0 && isOver(listed)) throwWithoutOutputs(input);
        const run = { dependencies, input, list, previous, manifest: names.manifest, now };
        // Should this attempt die, and the next list come in another order: which file is which output.
        if (previous === undefined && list.outputs.length > 1) await writeManifest(run, false);
        fetch = new OutputFetch({
          dependencies,
          list,
          refresh,
          signal,
          ...{ status: input.status, areNamesItsOwn: names.areItsOwn },
        });
        await fetch.fetchAll();
        return await finish(run, listed, previous?.complete ?? false);
      }),
  );
}

/**
 * The names of the task's files, and its own previous manifest. Services of two accounts may give the same request id: what
 * another account has under the usual names is not this task's, and stays.
 */
async function ownPlace(archive: Archive, input: ArchiveOutputsInput): Promise<OwnPlace> {
  const { account, requestId } = input;
  const usual = getOutputNames(input, archive.maxNameBytes);
  const previous = await readPreviousManifest(archive, usual.manifest, requestId);
  if (previous === undefined || (previous.account ?? account) === account) return { names: usual, previous };
  if (!usual.areItsOwn) return { names: usual, previous: undefined };
  const apart = { ...input, requestId: `${requestId}~${shortHash(account)}` };
  const names = getOutputNames(apart, archive.maxNameBytes);
  return { names, previous: await readPreviousManifest(archive, names.manifest, requestId) };
}

interface OwnPlace {
  readonly names: OutputNames;
  readonly previous: Awaited<ReturnType<typeof readPreviousManifest>>;
}

interface ArchiveRun {
  readonly dependencies: ActivityDependencies;
  readonly input: ArchiveOutputsInput;
  readonly list: OutputList;
  readonly previous: OwnPlace['previous'];
  /** The archive's name of the manifest. */
  readonly manifest: string;
  /** The time by Temporal's clock. */
  readonly now: () => number;
}

async function listOutputs(
  service: ServiceClient,
  { requestId }: ArchiveOutputsInput,
  signal: AbortSignal,
): Promise<TaskOutputs> {
  const listed = await service.getOutputs(requestId, { signal });
  if (listed.requestId === undefined || listed.requestId.toLowerCase() === requestId.toLowerCase()) return listed;
  throw ApplicationFailure.create({
    type: failureTypes.ServiceReplyInvalid,
    message: `The service was asked for the outputs of ${requestId} and answered with those of ${boundedWord(listed.requestId)}.`,
  });
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

function throwWithoutOutputs({ requestId, status }: ArchiveOutputsInput): void {
  if (status === 'Failed') return;
  throw ApplicationFailure.create({
    type: failureTypes.SuccessNoOutputs,
    message: `The task ${requestId} succeeded, but the service lists no output of it.`,
    nonRetryable: activityInfo().attempt >= lateOutputAttempts,
  });
}

/** Writes down what is there, and fails when that is not everything. */
async function finish(
  run: ArchiveRun,
  listed: TaskOutputs | undefined,
  wasComplete: boolean,
): Promise<ArchiveOutputsResult> {
  const { outputs } = run.list;
  const missing = outputs.filter(({ problem }) => problem !== undefined);
  const isComplete =
    missing.length === 0 && (listed === undefined ? wasComplete || run.input.status === 'Failed' : isOver(listed));
  if (outputs.length > 0 || isComplete) await writeManifest(run, isComplete);
  if (isComplete) return resultOf(run);
  if (listed === undefined) throw lost(run.input, outputs);
  throw incomplete(run.input, outputs, missing, listed);
}

async function writeManifest(
  { dependencies: { archive }, input, list, manifest, previous, now }: ArchiveRun,
  isComplete: boolean,
): Promise<void> {
  const workflowId = activityInfo().workflowExecution?.workflowId ?? null;
  if (workflowId !== null && input.createNumber !== undefined) {
    await new CreateRecordFile(archive, workflowId, input.createNumber).addRequestId(input.requestId);
  }
  const written = toManifest(workflowId, input, list.outputs, previous, { isComplete, nowMs: now() });
  await archive.replace(manifest, manifestText(written));
}

function resultOf({ dependencies: { archive }, input, list, manifest }: ArchiveRun): ArchiveOutputsResult {
  const archived = list.outputs.flatMap(({ index, item, file }): ArchivedOutput[] => {
    const { auditStatus } = item;
    const words = { ext: boundedWord(item.ext), errorType: boundedWord(item.errorType) };
    return file === null ? [] : [{ index, ...file, ...words, auditStatus }];
  });
  const failed = list.outputs.filter(({ file }) => file === null);
  log.info('archived', { requestId: input.requestId, outputs: archived.length, failedOutputs: failed.length });
  return {
    outputs: within(archived, maxResultBytes),
    manifest: archive.locate(manifest),
    outputCount: archived.length,
    outputBytes: archived.reduce((sum, { bytes }) => sum + bytes, 0),
    failedOutputs: failed.slice(0, maxFailedOutputs).map(({ index, item: { errorType, errorMessage } }) => {
      const message = errorMessage === undefined ? null : boundedMessage(errorMessage);
      return { index, errorType: boundedWord(errorType), message };
    }),
    failedOutputCount: failed.length,
  };
}

/** As many of the first as have so many bytes of JSON. */
function within(outputs: readonly ArchivedOutput[], maxBytes: number): readonly ArchivedOutput[] {
  let bytes = 0;
  const end = outputs.findIndex((output) => (bytes += Buffer.byteLength(JSON.stringify(output)) + 1) > maxBytes);
  return end === -1 ? outputs : outputs.slice(0, end);
}

function lost({ requestId }: ArchiveOutputsInput, outputs: readonly Output[]): ApplicationFailure {
  const { length } = outputs.filter(({ file }) => file !== null);
  const kept = length === 0 ? '' : ` ${length} of its ${outputs.length} outputs are in the archive.`;
  return ApplicationFailure.create({
    type: failureTypes.ResultLost,
    message: `The service has deleted the results of ${requestId} before they were archived.${kept}`,
    nonRetryable: true,
  });
}

/**
 * The failure of an attempt that leaves outputs missing; by its type, one that is not a download's comes first. It is
 * final when nothing else is left than outputs that are too large and, again and again, links that lead nowhere: then it
 * is a person's turn, or they have expired.
 */
function incomplete(
  { requestId }: ArchiveOutputsInput,
  outputs: readonly Output[],
  missing: readonly Output[],
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
  const failures = missing.map(({ problem }) => toApplicationFailure(problem));
  const type = failures.flatMap((failure) => (failure instanceof ApplicationFailure ? (failure.type ?? []) : []));
  const linksAreDead = missing.every(({ problem }) => isDeadLink(problem));
  const details: MissingOutputs = {
    linksAreDead,
    archived: outputs.filter(({ file }) => file !== null).length,
    outputs: outputs.length,
  };
  return ApplicationFailure.create({
    type: type.find((one) => one !== failureTypes.OutputUnavailable) ?? failureTypes.OutputUnavailable,
    message: `${missing.length} of ${outputs.length} outputs of ${requestId} are not archived: ${namesOf(missing)}.${isOver(listed) ? '' : ` ${late}`}`,
    nonRetryable: isOver(listed) && isHopeless(missing),
    details: [details],
    // A slot is not held by what is too slow.
    ...(missing.every(({ problem }) => isTooSlow(problem)) && { nextRetryDelay: slowRetryMs }),
  });
}

/** Whether only a person, or time, can help: too large ones at once, dead links only when they stay dead. */
function isHopeless(missing: readonly Output[]): boolean {
  const rest = missing.filter(({ problem }) => !isTooLarge(problem));
  const isGivenUp = activityInfo().attempt >= goneAttempts;
  return rest.length === 0 || (isGivenUp && rest.every(({ problem }) => isDeadLink(problem)));
}

function namesOf(missing: readonly Output[]): string {
  const named = missing
    .slice(0, maxNamedOutputs)
    .map(({ index, problem }) => `output ${index}: ${formatProblem(problem).slice(0, 250)}`);
  const more = missing.length - named.length;
  return [...named, ...(more > 0 ? [`and ${more} more, see the manifest`] : [])].join('; ');
}
