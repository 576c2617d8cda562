import { dirname } from 'node:path/posix';
import { failureTypes } from '../contract/failure-types';
import { parseJson } from '../domain/json';
import { redact } from '../domain/redact';
import { isUri, redactUrl } from '../domain/uri';
import { type ManifestPage, parseManifestPage } from '../formats/manifest';
import { openPageAssets } from '../report/page-assets';
import type { ReportFile, ReportInput, ReportMissing } from '../report/report-data';
import { reportHtml } from '../report/report-html';
import { type ReportedTask, toTaskFacts, toTaskRow } from '../report/task-facts';
import type { Archive } from '../storage/archive/archive';
import { findArchivedTask, findLastCreate, usualManifestNames } from './archived-task';
import { type LinkCounts, type NamedFile, PageLinks, type PageOptions, writePage } from './page-links';

/** So many files stand in a page; the manifest has all. */
const maxFiles = 500;

/** What is known of a task but for its archive. */
export interface KnownTask extends ReportedTask {
  /** The archive's names under which its manifest may be. */
  readonly manifestNames: readonly string[];
  /** As its result names them; what the manifest says counts more. */
  readonly outputs: readonly NamedFile[];
}

/** A page of a task that was written. */
export interface WrittenTaskPage extends LinkCounts {
  readonly path: string;
  readonly bytes: number;
  /** Files that it shows. */
  readonly files: number;
}

/**
 * Writes the page of a task to this machine, from what is known of it and what the archive has. Throws ArchiveError or
 * ResultsError.
 */
export async function writeTaskPage(
  archive: Archive,
  known: KnownTask,
  options: PageOptions,
): Promise<WrittenTaskPage> {
  const found = await findArchivedTask(archive, known.manifestNames, known.requestId, known.workflowId);
  const manifest = found && parseManifestPage(parseJson(found.text.toString('utf8')));
  const [usual] = known.manifestNames;
  const name = found?.name ?? usual;
  const folder = name === undefined ? '' : dirname(name);
  const place = folder === '' ? archive.location : archive.locate(folder);
  const outputs = manifest === undefined ? known.outputs : archivedFiles(manifest, place);
  const task = manifest === undefined ? known : { ...known, ...withManifest(known, manifest, outputs.length) };
  const links = new PageLinks(archive, folder, options);
  const shown = outputs.slice(0, maxFiles);
  const hrefs = await links.hrefs(shown);
  const files = shown.map(({ path, bytes }): ReportFile => {
    return { name: path.split(/[/\\]/).at(-1) ?? path, href: hrefs.get(path) ?? null, bytes };
  });
  const facts = toTaskFacts(task, { archive: place, webUi: options.webUi, now: options.now });
  const row = toTaskRow(task, files);
  const written = await writePage(options.file, reportHtml(facts, [[row]], await openPageAssets()));
  return { ...written, files: files.length, ...links.counts };
}

function archivedFiles({ outputs }: ManifestPage, place: string): readonly NamedFile[] {
  return outputs.flatMap(({ file, bytes, sha256 }) => {
    return file === null || bytes === null || sha256 === null ? [] : [{ path: `${place}/${file}`, bytes, sha256 }];
  });
}

/** What a manifest knows better: all inputs and outputs, and what the service said at the end. */
function withManifest(
  { timestamps, costTimes, cost, account, app }: KnownTask,
  manifest: ManifestPage,
  outputCount: number,
): Pick<ReportedTask, 'inputs' | 'outputCount' | 'missing' | 'timestamps' | 'costTimes' | 'cost' | 'account' | 'app'> {
  const { webAppId } = manifest;
  return {
    inputs: toInputs(manifest),
    outputCount,
    missing: toMissing(manifest),
    timestamps: Object.keys(timestamps).length > 0 ? timestamps : manifest.timestamps,
    costTimes: Object.keys(costTimes).length > 0 ? costTimes : manifest.costTimes,
    cost: cost ?? manifest.cost ?? null,
    account: account ?? manifest.account,
    app: app ?? (webAppId === null ? null : String(webAppId)),
  };
}

function toInputs({ inputs, values }: ManifestPage): readonly ReportInput[] {
  const files = inputs.flatMap(({ keys, file, bytes }) => keys.map((key) => toFileInput(key, file, bytes)));
  return [...files, ...Object.entries(values).map(([key, value]) => toValueInput(key, value))];
}

/** An input that is a file, without what would lead to it elsewhere. */
export function toFileInput(key: string, file: string, bytes: number | null): ReportInput {
  return { key, value: isUri(file) ? redactUrl(file) : file, isFile: true, bytes };
}

/** An input as it was sent. */
export function toValueInput(key: string, value: string | number): ReportInput {
  return { key, value: redact(String(value)), isFile: false, bytes: null };
}

function toMissing({ outputs }: ManifestPage): readonly ReportMissing[] {
  return outputs.flatMap(({ file, errorType, errorMessage, problem }, index) => {
    if (file !== null) return [];
    const atService = `failed at the service: ${errorMessage ?? errorType}`;
    return [{ index, reason: problem == null ? atService : `not archived: ${problem}` }];
  });
}

const forgotten = 'Temporal has forgotten this task; this is what the archive has of it.';

/** What a task's last create record and its manifest say of it; undefined when there is no record. Throws ArchiveError. */
export async function readForgottenTask(archive: Archive, workflowId: string): Promise<KnownTask | undefined> {
  const record = await findLastCreate(archive, workflowId);
  if (record === undefined) return undefined;
  const { requestId, end, webAppId, account, sentAt } = record;
  const manifestNames = usualManifestNames(workflowId, requestId);
  const found = await findArchivedTask(archive, manifestNames, requestId, workflowId);
  const manifest = found && parseManifestPage(parseJson(found.text.toString('utf8')));
  const state = manifest?.status ?? end?.status;
  const message = manifest?.errorMessage ?? 'The task failed at the service.';
  return {
    ...{ workflowId, requestId, waits: null, status: null },
    state: state ?? 'Running',
    failure: state === 'Failed' ? { type: failureTypes.TaskFailed, message: redact(message) } : null,
    remarks: [['Note', `${forgotten}${state === undefined ? ' Its end is not known.' : ''}`]],
    app: webAppId === undefined ? null : String(webAppId),
    account: account ?? null,
    startedAt: sentAt ?? null,
    endedAt: manifest?.archivedAt ?? null,
    ...{ timestamps: {}, costTimes: end?.costTimes ?? {}, cost: end?.cost ?? null },
    ...{ inputs: [], outputs: [], outputCount: 0, missing: [], manifestNames },
    manifest: found === undefined ? null : archive.locate(found.name),
  };
}
