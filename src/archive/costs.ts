import { Readable } from 'node:stream';
import { failureTypes } from '../contract/failure-types';
import { batchIdOf } from '../contract/workflow-ids';
import { parseJson } from '../core/json';
import { type Money, MoneySums } from '../money/money';
import type { Archive } from '../storage/archive/archive';
import { archivedFile, type RecordedCreate, toRecordedCreate } from './archive-reader';
import { parseRecordText } from './batch-record';
import type { CreateEnd } from './create-record';
import { type Manifest, parseManifest } from './manifest';
import { allCreates, type RowRecord } from './row-end';

/** In the order in which outcomes are shown. */
export const costOutcomes = [
  'succeeded',
  /** At the service, as `canceled`. */
  'failed',
  'canceled',
  /** It succeeded, and the archive has nothing of it. */
  'lost',
  /** Another create followed before its end was known. */
  'createdTwice',
  /** It runs, or its end was missed. */
  'open',
  /** It is not known whether the service created it. */
  'uncertain',
] as const;
export type CostOutcome = (typeof costOutcomes)[number];

/** Null stands for what is not known. */
export interface CostOfTask {
  readonly batch: string | null;
  readonly webAppId: number | null;
  readonly account: string | null;
  readonly atMs: number;
  readonly outcome: CostOutcome;
  /** Null is not the same as free. */
  readonly cost: Money | null;
}

export interface CostSources {
  records: number;
  manifests: number;
  rows: number;
  /** Files that cannot be read as what they are named. */
  readonly damaged: string[];
}

const readsAtOnce = 32;
const maxDamaged = 20;

/** By create records first, then manifests and batch records. Holds a few hundred bytes a task. Throws ArchiveError. */
export async function readCosts(
  archive: Pick<Archive, 'list' | 'read'>,
  onProgress: (sources: Readonly<CostSources>) => void,
): Promise<{ readonly sources: CostSources; readonly tasks: () => Generator<CostOfTask, void, undefined> }> {
  const sources: CostSources = { records: 0, manifests: 0, rows: 0, damaged: [] };
  const known = new KnownCosts();
  const readCreate = async (name: string): Promise<void> => {
    const file = archivedFile(name);
    if (file?.kind !== 'create') return;
    const content = await archive.read(name);
    if (content !== undefined) known.addCreate(toRecordedCreate(file, content));
    sources.records += 1;
  };
  const noteDamaged = (name: string): void => {
    if (sources.damaged.length < maxDamaged) sources.damaged.push(name);
  };
  const readRows = async (name: string, batchId: string): Promise<void> => {
    try {
      const records = parseRecordText((await archive.read(name))?.toString() ?? '');
      for (const record of records) known.addRow(batchId, record);
      sources.rows += records.length;
    } catch {
      noteDamaged(name);
    }
  };
  const readManifest = async (name: string): Promise<void> => {
    const content = await archive.read(name);
    const manifest = parseManifest(content);
    if (manifest !== undefined) {
      known.addManifest(manifest);
      sources.manifests += 1;
    } else if (parseJson(content?.toString() ?? '') === undefined) noteDamaged(name);
  };
  const readOther = async (name: string): Promise<void> => {
    const file = name.startsWith('.') ? undefined : archivedFile(name);
    if (file?.kind === 'rows') await readRows(name, file.batchId);
    else if (file?.kind === 'manifest' && file.isPlain && known.isSettled(file.folderName)) {
      known.addArchived(file.folderName);
      sources.manifests += 1;
    } else if (file?.kind === 'manifest') await readManifest(name);
  };
  const readEach = async (folder: string, read: (name: string) => Promise<void>): Promise<void> => {
    const readOne = async ({ name }: { readonly name: string }): Promise<void> => {
      await read(name);
      onProgress(sources);
    };
    await Readable.from(archive.list(folder)).forEach(readOne, { concurrency: readsAtOnce });
  };
  // First, so that the manifests of settled tasks need not be read.
  await readEach('.creates', readCreate);
  await readEach('', readOther);
  return { sources, tasks: () => known.tasks() };
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

const succeededAtTheService: readonly string[] = [
  failureTypes.ResultLost,
  failureTypes.SuccessNoOutputs,
  failureTypes.ArchiveIncomplete,
];

class KnownCosts {
  readonly #tasks = new Map<string, KnownTask>();
  readonly #unanswered: KnownTask[] = [];
  readonly #lastNumbers = new Map<string, number>();

  addCreate({ workflowId, createNumber, requestId, account, webAppId, sentAtMs, end }: RecordedCreate): void {
    this.#noteNumber(workflowId, createNumber);
    const atMs = timeOf(end?.createdAt) ?? sentAtMs ?? 0;
    const { status = null, cost = null } = end ?? {};
    const task: KnownTask = { workflowId, createNumber, webAppId, account, atMs, status, cost, isArchived: false };
    if (requestId === null) this.#unanswered.push(task);
    else this.#tasks.set(this.#key(requestId, account), task);
  }

  isSettled(requestId: string): boolean {
    const task = this.#tasks.get(requestId);
    return task?.status != null && task.cost !== null && task.account !== null;
  }

  addArchived(requestId: string): void {
    const task = this.#tasks.get(requestId);
    if (task !== undefined) task.isArchived = true;
  }

  addManifest({ requestId, account, webAppId, workflowId, status, cost, timestamps, archivedAt }: Manifest): void {
    const task = this.#getOrAdd(requestId, account, timeOf(timestamps['createdAt']?.iso) ?? timeOf(archivedAt) ?? 0);
    task.workflowId ??= workflowId;
    task.account ??= account;
    task.webAppId ??= webAppId;
    task.status ??= status;
    task.cost ??= cost;
    task.isArchived = true;
  }

  addRow(batch: string, record: RowRecord): void {
    const { key, requestId: own, createNumber: last, startedAt, status, failure, manifest } = record;
    const workflowId = `batch:${batch}:${key}`;
    this.#noteNumber(workflowId, last);
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
    for (const task of this.#tasks.values()) yield toCost(task, this.#outcomeOf(task));
    for (const task of this.#unanswered) yield toCost(task, 'uncertain');
  }

  #outcomeOf({ workflowId, createNumber, status, isArchived }: KnownTask): CostOutcome {
    if (status === 'Failed') return 'failed';
    if (status === 'Canceled') return 'canceled';
    if (isArchived) return 'succeeded';
    if (createNumber > 0 && createNumber < (this.#lastNumbers.get(workflowId ?? '') ?? 0)) return 'createdTwice';
    return status === 'Success' ? 'lost' : 'open';
  }

  #noteNumber(workflowId: string, createNumber: number): void {
    if (createNumber <= 1) return;
    this.#lastNumbers.set(workflowId, Math.max(createNumber, this.#lastNumbers.get(workflowId) ?? 0));
  }

  #getOrAdd(requestId: string, account: string | null, atMs: number): KnownTask {
    const key = this.#key(requestId, account);
    const unknown = { workflowId: null, createNumber: 0, webAppId: null, status: null, cost: null, isArchived: false };
    const task = this.#tasks.get(key) ?? { ...unknown, account, atMs };
    this.#tasks.set(key, task);
    return task;
  }

  /** Two accounts may have the same request id. */
  #key(requestId: string, account: string | null): string {
    const known = this.#tasks.get(requestId)?.account ?? null;
    return known === null || account === null || known === account ? requestId : `${requestId}\n${account}`;
  }
}

function toCost({ workflowId, webAppId, account, atMs, cost }: KnownTask, outcome: CostOutcome): CostOfTask {
  const [kind, batch = ''] = workflowId?.split(':') ?? [];
  const batchId = kind === 'batch' ? batchIdOf(`batch:${batch}`) : undefined;
  return { batch: batchId ?? null, webAppId, account, atMs, outcome, cost };
}

function timeOf(iso: string | null | undefined): number | undefined {
  const ms = Date.parse(iso ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}

export type CostGroup = 'batch' | 'app' | 'account' | 'day';

export interface OutcomeCosts {
  readonly outcome: CostOutcome;
  readonly tasks: number;
  readonly sums: readonly (Money & { readonly tasks: number })[];
  /** Tasks of unknown cost, which is in none of the sums. */
  readonly unknown: number;
}

export interface CostSum {
  /** A batch's id, an app, an account, or a day in UTC; null for none, or where it is not known. */
  readonly name: string | null;
  readonly tasks: number;
  readonly sums: readonly Money[];
  /** The part that brought no result; nothing of tasks that may still run. */
  readonly withoutResult: readonly Money[];
  readonly unknown: number;
  readonly outcomes: readonly OutcomeCosts[];
}

const outcomesWithoutResult: readonly CostOutcome[] = ['failed', 'canceled', 'lost', 'createdTwice'];

type Tally = Map<CostOutcome, Map<string | null, { micros: number; tasks: number }>>;

export function sumCosts(
  tasks: Iterable<CostOfTask>,
  { by, sinceMs }: { readonly by: CostGroup; readonly sinceMs: number },
): { readonly groups: readonly CostSum[]; readonly total: CostSum } {
  const groups = new Map<string | null, Tally>();
  const total: Tally = new Map();
  for (const task of tasks) {
    if (task.atMs < sinceMs) continue;
    const name = groupName(task, by);
    const group = groups.get(name) ?? (new Map() as Tally);
    groups.set(name, group);
    for (const tally of [group, total]) addTo(tally, task);
  }
  const named = [...groups].sort(([one], [other]) => compareNames(one, other));
  return { groups: named.map(([name, group]) => toSum(name, group)), total: toSum(null, total) };
}

function addTo(tally: Tally, { outcome, cost }: CostOfTask): void {
  const byCurrency = tally.get(outcome) ?? new Map<string | null, { micros: number; tasks: number }>();
  tally.set(outcome, byCurrency);
  const { micros, tasks } = byCurrency.get(cost?.currency ?? null) ?? { micros: 0, tasks: 0 };
  byCurrency.set(cost?.currency ?? null, { micros: micros + (cost?.micros ?? 0), tasks: tasks + 1 });
}

function toSum(name: string | null, tally: Tally): CostSum {
  const outcomes = costOutcomes.flatMap((outcome): OutcomeCosts[] => {
    const byCurrency = tally.get(outcome);
    if (byCurrency === undefined) return [];
    const sums = [...byCurrency].flatMap(([currency, sum]) => (currency === null ? [] : [{ currency, ...sum }]));
    sums.sort((one, other) => (one.currency < other.currency ? -1 : 1));
    const tasks = [...byCurrency.values()].reduce((sum, one) => sum + one.tasks, 0);
    return [{ outcome, tasks, sums, unknown: byCurrency.get(null)?.tasks ?? 0 }];
  });
  const addUp = (these: readonly OutcomeCosts[]): readonly Money[] => {
    const sums = new MoneySums();
    for (const sum of these.flatMap((one) => one.sums)) sums.add(sum);
    return sums.list();
  };
  return {
    name,
    tasks: outcomes.reduce((sum, { tasks }) => sum + tasks, 0),
    sums: addUp(outcomes),
    withoutResult: addUp(outcomes.filter(({ outcome }) => outcomesWithoutResult.includes(outcome))),
    unknown: outcomes.reduce((sum, { unknown }) => sum + unknown, 0),
    outcomes,
  };
}

function groupName({ batch, webAppId, account, atMs }: CostOfTask, by: CostGroup): string | null {
  switch (by) {
    case 'batch':
      return batch;
    case 'app':
      return webAppId === null ? null : String(webAppId);
    case 'account':
      return account;
    case 'day':
      return atMs === 0 ? null : new Date(atMs).toISOString().slice(0, 10);
  }
}

/** Numbers by their size; null last. */
function compareNames(one: string | null, other: string | null): number {
  if (one === null || other === null) return one === null ? 1 : -1;
  return one.localeCompare(other, 'en', { numeric: true });
}
