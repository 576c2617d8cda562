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

/** One output of the task under the name that it keeps, what the service says of it, and what became of it. */
export interface Output {
  readonly index: number;
  readonly name: string;
  /** As it was last listed; without a link when the last list lacks it. */
  item: OutputItem;
  /** What its link is known by when a list comes in another order; null without a link. */
  link: LinkIdentity | null;
  /** What its file is by an earlier manifest. */
  readonly was: Expectation | undefined;
  file: ArchivedFile | null;
  /** How long it is at least, when it was refused for its size. */
  atLeastBytes: number | null;
  /** How its storage says that its bytes are encoded; they are kept as they came. */
  contentEncoding: string | null;
  /** What came of it, without any proof that it was all. */
  earlier: Came | undefined;
  /** Whether two fetches that brought the same are all the proof that it is whole. */
  isFetchedTwice: boolean;
  /** What kept it from the archive; undefined also for an output that the service reports as failed. */
  problem: unknown;
}

/**
 * What stands beside the outputs for a person who opens the folder years later: where they came from and what they are.
 *
 * @param previous - this task's manifest of before: who adopts a task that was archived already knows less of it
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
  // Written down on the way, it must not forget what has not been looked at yet.
  const kept = file ?? (isComplete || problem !== undefined ? undefined : was);
  return {
    file: kept === undefined ? null : (name.split('/').at(-1) ?? name),
    bytes: kept?.bytes ?? null,
    sha256: kept?.sha256 ?? null,
    ext: boundedWord(item.ext),
    contentEncoding: kept === undefined || contentEncoding === null ? undefined : boundedWord(contentEncoding),
    costTimeMs: item.costTimeMs ?? null,
    auditStatus: item.auditStatus,
    // Its two tables differ (specification, section 2.4), so the number alone does not say what it means.
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

/** Words of the service as they may stand in a result and in a file: short, and no link in them. */
export function boundedMessage(words: string): string {
  return withoutUrls(safeText(words.slice(0, maxMessageCharacters)));
}

export function formatProblem(problem: unknown): string {
  return boundedMessage(errorMessage(problem));
}

/** The manifest that has this name; null for one that cannot be read, undefined where there is none. */
export async function readManifest(archive: Archive, name: string): Promise<Manifest | null | undefined> {
  const content = await archive.read(name);
  return content === undefined ? undefined : (parseManifest(content) ?? null);
}

/** Whether a manifest is of this task. Ids may be given again: one create of one workflow is one task; an adopted one is known by its time. */
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

/** When the service created the task, in one way of writing. */
function createdAt({ ['createdAt']: moment }: Timestamps): string | undefined {
  return moment?.iso ?? moment?.raw;
}

export interface OutputNames {
  /** Whether no other task has these names: what is there under one is then this task's. */
  readonly areItsOwn: boolean;
  readonly manifest: string;
  readonly output: (index: number, ext: string) => string;
}

/** By the batch’s template, else by request id; each fits into the archive. A template that cannot be used is not: the task is paid. */
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
    // A row that is run again has another request id, and with such a template the same names.
    areItsOwn: template.text.includes('{requestId}'),
    manifest: manifestNameBy(template, values),
    output: (index, ext) => outputNameBy(template, values, index, ext),
  };
}
