import type { ArchiveOutputsInput } from '../contract/activities';
import type { Timestamps } from '../contract/task-result';
import { errorMessage, safeText } from '../core/text';
import { redactUrl, withoutUrls } from '../core/uri';
import { type Manifest, manifestVersion, parseManifest } from '../archive/manifest';
import type { OutputItem } from '../service';
import type { Archive, ArchivedFile, Expectation } from '../storage/archive/archive';
import type { Came } from '../storage/errors';
import type { LinkIdentity } from './link-identity';

/** More of an extension or a code of the service helps no reader. */
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
  const { requestId, status, account, timestamps, costTimes, errorMessage } = input;
  const hasInputs = input.inputs.length > 0 || Object.keys(input.values).length > 0;
  const webAppId = input.webAppId ?? previous?.webAppId ?? null;
  const inputs = hasInputs ? input.inputs : (previous?.inputs ?? []);
  const values = hasInputs ? input.values : (previous?.values ?? {});
  const cost = input.cost ?? previous?.cost ?? null;
  return {
    manifestVersion,
    complete: isComplete,
    requestId,
    status,
    workflowId,
    createNumber: input.createNumber ?? null,
    account,
    webAppId,
    archivedAt: new Date(nowMs).toISOString(),
    inputs,
    values,
    timestamps,
    costTimes,
    cost,
    errorMessage,
    outputs: outputs.map(({ item, name, file, was, link, atLeastBytes, contentEncoding, isFetchedTwice, problem }) => {
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
    }),
  };
}

/** A word of the service as it may stand in a result. */
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
