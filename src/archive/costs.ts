import { Readable } from 'node:stream';
import { failureTypes } from '../contract/failure-types';
import { batchIdOf } from '../contract/workflow-ids';
import { parseJson } from '../core/json';
import type { Money } from '../money/money';
import { parseRecordText } from './batch-record';
import type { CreateEnd } from './create-record';
import { parseManifestCosts } from './manifest';
import { allCreates } from './row-end';
import type { Archive, ListedFile } from '../storage/archive/archive';
import { archivedFile, type RecordedCreate, toRecordedCreate } from './archive-reader';

/**
 * What became of a task that was created: `succeeded` with outputs in the archive; `failed` or `canceled` at the service;
 * `lost` when it succeeded and the archive has nothing of it; `createdTwice` when another create followed before its end was
 * known; `open` when its end is not known, because it runs or its end was missed; `uncertain` when it is not known whether the
 * service created it.
 */
export type CostOutcome = 'succeeded' | 'failed' | 'canceled' | 'lost' | 'createdTwice' | 'open' | 'uncertain';

/** In the order in which they are shown. */
// prettier-ignore
export const costOutcomes: readonly CostOutcome[] = [
  'succeeded', 'failed', 'canceled', 'lost', 'createdTwice', 'open', 'uncertain',
];

/** A task that was created, as far as the archive knows it. */
export interface CostOfTask {
  readonly batch: string | null;
  /** Null when it is not known. */
  readonly webAppId: number | null;
  /** Null when it is not known. */
  readonly account: string | null;
  /** When it was created, in milliseconds since 1970. */
  readonly atMs: number;
  readonly outcome: CostOutcome;
  /** Null when it is not known, which is not the same as free. */
  readonly cost: Money | null;
}

/** What the reading of an archive saw. */
export interface CostSources {
  records: number;
  manifests: number;
  rows: number;
  /** Files that cannot be read as what they are named. */
  readonly damaged: string[];
}

/** Its costs, task by task. */
export interface ArchiveCosts {
  readonly sources: CostSources;
  readonly tasks: () => Generator<CostOfTask, void, undefined>;
}

const readsAtOnce = 32;
const maxDamaged = 20;

/**
 * Reads what tasks cost from an archive: every create that was sent has a record, which a worker completes at the end of the
 * task; manifests and the records of batches tell the costs of tasks that it does not, and of those of earlier versions. Names
 * are listed in pages; of each task a few hundred bytes are held. Throws ArchiveError.
 */
export async function readCosts(
  archive: Pick<Archive, 'list' | 'read'>,
  onProgress: (sources: Readonly<CostSources>) => void,
): Promise<ArchiveCosts> {
  const sources: CostSources = { records: 0, manifests: 0, rows: 0, damaged: [] };
  const known = new KnownCosts();
  const readEach = async (folder: string, read: (name: string) => Promise<void>): Promise<void> => {
    const readOne = ({ name }: ListedFile): Promise<void> => read(name);
    await Readable.from(archive.list(folder)).forEach(readOne, { concurrency: readsAtOnce });
  };
  // First, so that a manifest whose task is settled need not be read.
  await readEach('.creates', async (name) => {
    const file = archivedFile(name);
    if (file?.kind !== 'create') return;
    const content = await archive.read(name);
    if (content !== undefined) known.addCreate(toRecordedCreate(file, content));
    sources.records += 1;
    onProgress(sources);
  });
  await readEach('', async (name) => {
    if (name.startsWith('.')) return;
    const isDamaged = await readOther(archive, name, known, sources);
    if (isDamaged && sources.damaged.length < maxDamaged) sources.damaged.push(name);
    onProgress(sources);
  });
  return { sources, tasks: () => known.tasks() };
}

/** Reads a manifest or a page of a batch's record; whether it is damaged. */
async function readOther(
  archive: Pick<Archive, 'read'>,
  name: string,
  known: KnownCosts,
  sources: CostSources,
): Promise<boolean> {
  const file = archivedFile(name);
  if (file?.kind === 'rows') {
    try {
      const records = parseRecordText((await archive.read(name))?.toString('utf8') ?? '');
      for (const record of records) known.addRow(file.batchId, record);
      sources.rows += records.length;
      return false;
    } catch {
      return true;
    }
  }
  if (file?.kind !== 'manifest') return false;
  if (file.isPlain && known.isSettled(file.folderName)) {
    known.addArchived(file.folderName);
    sources.manifests += 1;
    return false;
  }
  const json = parseJson((await archive.read(name))?.toString('utf8') ?? '');
  const manifest = parseManifestCosts(json);
  if (manifest === undefined) return json === undefined;
  known.addManifest(manifest);
  sources.manifests += 1;
  return false;
}

interface KnownTask {
  workflowId: string | null;
  createNumber: number;
  webAppId: number | null;
  account: string | null;
  atMs: number;
  status: CreateEnd['status'] | null;
  cost: Money | null;
  isArchived: boolean;
}

type RowOfRecord = ReturnType<typeof parseRecordText>[number];
type ManifestCosts = NonNullable<ReturnType<typeof parseManifestCosts>>;

/** Failures of tasks that succeeded at the service. */
const succeededAtTheService: readonly string[] = [
  failureTypes.ResultLost,
  failureTypes.SuccessNoOutputs,
  failureTypes.ArchiveIncomplete,
];

/** Every task by its request id, and the creates that have none. */
class KnownCosts {
  readonly #tasks = new Map<string, KnownTask>();
  readonly #unanswered: KnownTask[] = [];
  /** Of workflows that made more than one create. */
  readonly #lastNumbers = new Map<string, number>();

  addCreate({ workflowId, createNumber, requestId, account, webAppId, sentAtMs, end }: RecordedCreate): void {
    if (createNumber > 1) {
      this.#lastNumbers.set(workflowId, Math.max(createNumber, this.#lastNumbers.get(workflowId) ?? 0));
    }
    const task: KnownTask = {
      workflowId,
      createNumber,
      webAppId,
      account,
      atMs: timeOf(end?.createdAt) ?? sentAtMs ?? 0,
      status: end?.status ?? null,
      cost: end?.cost ?? null,
      isArchived: false,
    };
    if (requestId === null) this.#unanswered.push(task);
    else this.#tasks.set(this.#key(requestId, account), task);
  }

  /** Whether its create record tells how it ended and what it cost. */
  isSettled(requestId: string): boolean {
    const task = this.#tasks.get(requestId);
    return task?.status != null && task.cost !== null && task.account !== null;
  }

  addArchived(requestId: string): void {
    const task = this.#tasks.get(requestId);
    if (task !== undefined) task.isArchived = true;
  }

  addManifest({ requestId, account, webAppId, workflowId, status, cost, createdAt, archivedAt }: ManifestCosts): void {
    const task = this.#getOrAdd(requestId, account, timeOf(createdAt) ?? timeOf(archivedAt) ?? 0);
    task.workflowId ??= workflowId;
    task.account ??= account;
    task.webAppId ??= webAppId;
    task.status ??= status;
    task.cost ??= cost;
    task.isArchived = true;
  }

  addRow(batch: string, record: RowOfRecord): void {
    const { key, requestId: own, createNumber: last, startedAt, status, failure, manifest } = record;
    const workflowId = `batch:${batch}:${key}`;
    if (last > 1) this.#lastNumbers.set(workflowId, Math.max(last, this.#lastNumbers.get(workflowId) ?? 0));
    for (const { createNumber, requestId: known, cost = null } of allCreates(record)) {
      const requestId = createNumber === last ? (own ?? known) : known;
      if (requestId === null) continue;
      const task = this.#getOrAdd(requestId, null, timeOf(startedAt) ?? 0);
      task.workflowId ??= workflowId;
      task.createNumber = Math.max(task.createNumber, createNumber);
      task.cost ??= cost;
      if (createNumber !== last) continue;
      if (status !== 'Failed' || failure?.type === failureTypes.TaskFailed) task.status ??= status;
      else if (failure !== null && succeededAtTheService.includes(failure.type)) task.status ??= 'Success';
      task.isArchived ||= manifest !== null;
    }
  }

  *tasks(): Generator<CostOfTask, void, undefined> {
    for (const task of this.#tasks.values()) yield this.#toCost(task, this.#outcomeOf(task));
    for (const task of this.#unanswered) yield this.#toCost(task, 'uncertain');
  }

  #toCost({ workflowId, webAppId, account, atMs, cost }: KnownTask, outcome: CostOutcome): CostOfTask {
    const [batch = ''] = workflowId?.startsWith('batch:') === true ? workflowId.slice('batch:'.length).split(':') : [];
    return { batch: batchIdOf(`batch:${batch}`) ?? null, webAppId, account, atMs, outcome, cost };
  }

  #outcomeOf({ workflowId, createNumber, status, isArchived }: KnownTask): CostOutcome {
    if (status === 'Failed') return 'failed';
    if (status === 'Canceled') return 'canceled';
    if (isArchived) return 'succeeded';
    if (createNumber > 0 && createNumber < (this.#lastNumbers.get(workflowId ?? '') ?? 0)) return 'createdTwice';
    return status === 'Success' ? 'lost' : 'open';
  }

  #getOrAdd(requestId: string, account: string | null, atMs: number): KnownTask {
    const key = this.#key(requestId, account);
    const known = this.#tasks.get(key);
    if (known !== undefined) return known;
    const task: KnownTask = {
      workflowId: null,
      createNumber: 0,
      webAppId: null,
      account,
      atMs,
      status: null,
      cost: null,
      isArchived: false,
    };
    this.#tasks.set(key, task);
    return task;
  }

  /** Services of two accounts may give the same request id. */
  #key(requestId: string, account: string | null): string {
    const known = this.#tasks.get(requestId)?.account ?? null;
    return known === null || account === null || known === account ? requestId : `${requestId}\n${account}`;
  }
}

function timeOf(iso: string | null | undefined): number | undefined {
  const ms = Date.parse(iso ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}
