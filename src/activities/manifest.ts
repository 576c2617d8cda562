import { log } from '@temporalio/activity';
import { fittedName, manifestName, outputName } from '../core/archive-name';
import { type Manifest, manifestVersion, parseManifest } from '../archive/manifest';
import { manifestNameBy, outputNameBy, parseOutputNameTemplate } from '../core/output-name-template';
import type { ArchiveOutputsInput } from '../contract/activities';
import type { Timestamps } from '../contract/task-result';
import { errorMessage, safeText } from '../core/text';
import { redactUrl, withoutUrls } from '../core/uri';
import type { OutputItem } from '../service';
import type { Archive, ArchivedFile, Expectation } from '../storage/archive/archive';
import type { Came } from '../storage/errors';
import type { LinkIdentity } from './link-identity';

const maxWordCharacters = 64;
const maxMessageCharacters = 4_000;

export interface Output {
  readonly index: number;
  readonly name: string;
  /** As last listed; without a link when the last list lacks it. */
  item: OutputItem;
  link: LinkIdentity | null;
  readonly was: Expectation | undefined;
  file: ArchivedFile | null;
  /** Its least size, when it was refused for that. */
  atLeastBytes: number | null;
  /** The encoding that its storage names; bytes are kept as they came. */
  contentEncoding: string | null;
  earlier: Came | undefined;
  /** Whether only two equal fetches prove that it is whole. */
  isFetchedTwice: boolean;
  /** What kept it from the archive; also undefined when the service reports it as failed. */
  problem: unknown;
}

/**
 * For a person who opens the folder years later.
 *
 * @param previous - this task's earlier manifest: who adopts an archived task knows less of it
 * @param isComplete - whether nothing is missing; until then it tells the next attempt which file is which output.
 */
export function toManifest(
  workflowId: string | null,
  input: ArchiveOutputsInput,
  outputs: readonly Output[],
  previous: Manifest | undefined,
  { isComplete, nowMs }: { readonly isComplete: boolean; readonly nowMs: number },
): Manifest {
  const hasInputs = input.inputs.length > 0 || Object.keys(input.values).length > 0;
  return {
    manifestVersion,
    complete: isComplete,
    requestId: input.requestId,
    status: input.status,
    workflowId,
    createNumber: input.createNumber ?? null,
    account: input.account,
    webAppId: input.webAppId ?? previous?.webAppId ?? null,
    archivedAt: new Date(nowMs).toISOString(),
    inputs: hasInputs ? input.inputs : (previous?.inputs ?? []),
    values: hasInputs ? input.values : (previous?.values ?? {}),
    timestamps: input.timestamps,
    costTimes: input.costTimes,
    cost: input.cost ?? previous?.cost ?? null,
    errorMessage: input.errorMessage,
    outputs: outputs.map((output) => toManifestOutput(output, isComplete)),
  };
}

function toManifestOutput(output: Output, isComplete: boolean): Manifest['outputs'][number] {
  const { item, name, file, was, link, atLeastBytes, contentEncoding, isFetchedTwice, problem } = output;
  // An intermediate manifest must keep what has not been checked yet.
  const kept = file ?? (isComplete || problem !== undefined ? undefined : was);
  return {
    file: kept === undefined ? null : (name.split('/').at(-1) ?? name),
    bytes: kept?.bytes ?? null,
    sha256: kept?.sha256 ?? null,
    tag: kept?.tag,
    ext: boundedWord(item.ext),
    contentEncoding: kept === undefined || contentEncoding === null ? undefined : boundedWord(contentEncoding),
    costTimeMs: item.costTimeMs ?? null,
    auditStatus: item.auditStatus,
    // Section 2.4 has two tables: the number alone is ambiguous.
    auditSource: 'outputs',
    errorType: boundedWord(item.errorType),
    errorMessage: item.errorMessage === undefined ? null : boundedMessage(item.errorMessage),
    url: item.objectUrl === undefined ? null : redactUrl(item.objectUrl),
    link: link?.text ?? null,
    fetchedTwice: kept !== undefined && isFetchedTwice ? true : undefined,
    atLeastBytes: kept === undefined ? (atLeastBytes ?? undefined) : undefined,
    problem: problem === undefined ? null : formatProblem(problem),
  };
}

export function boundedWord(word: string): string {
  return safeText(word.slice(0, maxWordCharacters));
}

/** Words of the service for results and files: short, and without links. */
export function boundedMessage(words: string): string {
  return withoutUrls(safeText(words.slice(0, maxMessageCharacters)));
}

export function formatProblem(problem: unknown): string {
  return boundedMessage(errorMessage(problem));
}

/** Null for one that cannot be read, undefined where there is none. */
export async function readManifest(archive: Archive, name: string): Promise<Manifest | null | undefined> {
  const content = await archive.read(name);
  return content === undefined ? undefined : (parseManifest(content) ?? null);
}

/** Ids may be reused: a create number of a workflow identifies a task, an adopted one its creation time. */
export function isOfSameTask(manifest: Manifest, workflowId: string | null, input: ArchiveOutputsInput): boolean {
  if (manifest.requestId !== input.requestId || manifest.account !== input.account) return false;
  const isSameWorkflow = manifest.workflowId === workflowId;
  if (manifest.createNumber !== null && input.createNumber !== undefined) {
    return isSameWorkflow && manifest.createNumber === input.createNumber;
  }
  const before = createdAt(manifest.timestamps);
  const now = createdAt(input.timestamps);
  return before === undefined || now === undefined ? isSameWorkflow : before === now;
}

function createdAt({ ['createdAt']: moment }: Timestamps): string | undefined {
  return moment?.iso ?? moment?.raw;
}

export interface OutputNames {
  /** Whether no other task has these names, so that an existing file is this task's. */
  readonly areItsOwn: boolean;
  readonly manifest: string;
  readonly output: (index: number, ext: string) => string;
}

/** By the batch's template, else by request id; fits into the archive. Ignores a bad template: the task is paid. */
export function getOutputNames(input: ArchiveOutputsInput, maxNameBytes: number): OutputNames {
  const { requestId } = input;
  const ownNames: OutputNames = {
    areItsOwn: true,
    manifest: manifestName(requestId),
    output: (index, ext) => outputName(requestId, index, ext),
  };
  const { areItsOwn, manifest, output } = getTemplateNames(input) ?? ownNames;
  const fit = (name: string): string => {
    return fittedName(input.folder === '' ? name : `${input.folder}/${name}`, maxNameBytes);
  };
  return { areItsOwn, manifest: fit(manifest), output: (index, ext) => fit(output(index, ext)) };
}

function getTemplateNames({ requestId, naming }: ArchiveOutputsInput): OutputNames | undefined {
  if (naming === undefined) return undefined;
  const { template, problems = [] } = parseOutputNameTemplate(naming.template);
  const missing = template?.columns.filter((column) => !Object.hasOwn(naming.columns, column)) ?? [];
  if (template === undefined || missing.length > 0) {
    const problem = problems[0] ?? `the row has no column ${JSON.stringify(missing[0])}`;
    log.warn('outputs are named by request id: the template of names cannot be used', { requestId, problem });
    return undefined;
  }
  const values = { batch: naming.batch, key: naming.key, requestId, columns: naming.columns };
  return {
    // Without {requestId} a row that is run again has the same names.
    areItsOwn: template.text.includes('{requestId}'),
    manifest: manifestNameBy(template, values),
    output: (index, ext) => outputNameBy(template, values, index, ext),
  };
}
