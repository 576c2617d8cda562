import { ApplicationFailure, CancellationScope, condition, isCancellation } from '@temporalio/workflow';
import type { CreateTaskInput, ManifestInput, UnusableFile } from '../../contract/activities';
import { addUploads, noUploads } from '../../contract/batch/batch-rows';
import { failureTypes } from '../../contract/failure-types';
import type { PlannedFile } from '../../contract/parse-task-input';
import { markdownText } from '../../core/text';
import { isUri, redactUrl } from '../../core/uri';
import { activities, transferOptions } from '../activity-proxies';
import { getFinalFailure, taskFailure } from '../failures';
import { show } from './display';
import { isStoppedBeforeCreate, untilTotalDeadlineMs } from './stop';
import type { TaskRun } from './task-run';

const parallelUploads = 4;
/** Temporal takes a summary of 400 bytes. */
const maxSummaryNameLength = 80;

export type PreparedInputs = CreateTaskInput['inputs'];

interface Content {
  readonly file: string;
  readonly wantedBy: PlannedFile[];
}

/** Step 1: uploads and commits every input file, the same content once. A stop ends it at once; it costs nothing. */
export async function prepareInputs(run: TaskRun): Promise<PreparedInputs> {
  const { values, files } = run.plan;
  if (files.length === 0) return values;
  show(
    run,
    'PreparingInputs',
    `the upload of ${files.length} input file(s); while one is tried again, the pending activity (storeInput) says why, and when it is tried next; nothing is paid until the create`,
    'create the task',
  );
  const uploads = new CancellationScope({ cancellable: true });
  void condition(() => isStoppedBeforeCreate(run)).then(() => {
    uploads.cancel();
  });
  try {
    return { ...values, ...(await uploads.run(() => uploadAll(run))) };
  } catch (error) {
    if (isCancellation(error) && isStoppedBeforeCreate(run)) return values;
    throw error;
  }
}

/** Until the total deadline; at least a second, as an activity's timeout. */
function remainingMs(run: TaskRun): number {
  return Math.max(1_000, untilTotalDeadlineMs(run));
}

async function uploadAll(run: TaskRun): Promise<PreparedInputs> {
  const queue = await groupByContent(run);
  const manifest: ManifestInput[] = [];
  const resources: Record<string, PreparedInputs[string]> = {};
  const uploadNext = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift())
      await upload(run, next, manifest, resources);
  };
  await Promise.all(Array.from({ length: parallelUploads }, uploadNext));
  run.state.inputs = manifest;
  return resources;
}

async function upload(
  run: TaskRun,
  { file, wantedBy }: Content,
  manifest: ManifestInput[],
  resources: Record<string, PreparedInputs[string]>,
): Promise<void> {
  const { account, tuning, batch } = run.plan;
  // Without secrets of a URL. A summary is cut at its end, so a long path begins with the name.
  const place = isUri(file) ? redactUrl(file) : file;
  const slash = Math.max(place.lastIndexOf('/'), place.lastIndexOf('\\'));
  const shown = place.length <= maxSummaryNameLength || slash < 0 ? place : `${place.slice(slash + 1)} of ${place}`;
  const options = transferOptions(tuning, `Upload ${markdownText(shown, maxSummaryNameLength)}`, remainingMs(run));
  // Not where an app gets the name: another upload may take that name at the service.
  const isShared = (batch !== null && wantedBy.every(({ as }) => as !== 'name')) || undefined;
  const stored = await activities.storeInput
    .executeWithOptions(options, [{ account, file, isShared, choices: run.choices }])
    .catch((error: unknown) => {
      throw aboutInputs(error, wantedBy);
    });
  const { resource, name, bytes, sha256, wasShared = false } = stored;
  const sent = wasShared ? { files: 0, bytes: 0, shared: 1 } : { files: 1, bytes, shared: 0 };
  run.state.uploads = addUploads(run.state.uploads ?? noUploads, sent);
  const changed = wantedBy.find((wanted) => wanted.sha256 !== undefined && wanted.sha256 !== sha256);
  if (changed !== undefined) {
    const words = `inputs[${JSON.stringify(changed.key)}]: input file "${place}" has changed since it was chosen (its SHA-256 is ${sha256}, not ${String(changed.sha256)}); put the former file back, or choose it again`;
    throw taskFailure('InputUnusable', words, { inputs: [changed.key] });
  }
  const keys = wantedBy.map(({ key }) => key);
  manifest.push({ keys, file, name, bytes, sha256, resourceId: resource.resourceId });
  for (const { key, as } of wantedBy) resources[key] = { resource, as };
}

/** Before anything is uploaded; a single file is not read. */
async function groupByContent(run: TaskRun): Promise<Content[]> {
  const byFile = new Map<string, Content>();
  for (const planned of run.plan.files) {
    const content = byFile.get(planned.file) ?? { file: planned.file, wantedBy: [] };
    content.wantedBy.push(planned);
    byFile.set(planned.file, content);
  }
  const paths = [...byFile.keys()].filter((file) => !isUri(file));
  if (paths.length < 2) return [...byFile.values()];
  const options = transferOptions(run.plan.tuning, `Read ${paths.length} input files`, remainingMs(run));
  const inspected = await activities.inspectInputs
    .executeWithOptions(options, [{ files: paths }])
    .catch((error: unknown) => {
      throw aboutInputs(error, run.plan.files);
    });
  const byHash = new Map<string, Content>();
  for (const { file, sha256 } of inspected.files) {
    const content = byFile.get(file);
    const duplicate = byHash.get(sha256);
    if (content === undefined) continue;
    if (duplicate === undefined) byHash.set(sha256, content);
    else {
      duplicate.wantedBy.push(...content.wantedBy);
      byFile.delete(file);
    }
  }
  return [...byFile.values()];
}

const ofServiceOrStorage: readonly unknown[] = [
  failureTypes.ServiceRefused,
  failureTypes.ServiceReplyInvalid,
  failureTypes.StorageRefused,
];

/** The activity knows only the file, a person the inputs. */
function aboutInputs(error: unknown, files: readonly PlannedFile[]): unknown {
  const failure = getFinalFailure(error);
  if (failure === undefined) return error;
  const { message, type, details, cause } = failure;
  const list = (some: readonly PlannedFile[]): string =>
    `inputs[${some.map(({ key }) => JSON.stringify(key)).join(', ')}]`;
  if (ofServiceOrStorage.includes(type)) {
    return new ApplicationFailure(`${list(files)}: ${message}`, type, true, details, cause);
  }
  if (type !== failureTypes.InputUnusable) return error;
  const [detail] = (details ?? []) as readonly (UnusableFile | undefined)[];
  const meant = files.filter(({ file }) => detail === undefined || redactUrl(file) === detail.file);
  return taskFailure('InputUnusable', `${list(meant)}: ${message}`, { inputs: meant.map(({ key }) => key) });
}
