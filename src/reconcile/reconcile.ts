import { Readable } from 'node:stream';
import { InputInvalidError } from '../client/errors';
import type { Longhaul } from '../client/longhaul';
import type { ListedTask } from '../client/task/list-tasks';
import { isRequestId } from '../core/create-outcome';
import {
  afterDecisions,
  type Candidate,
  dependsOnService,
  type Finding,
  inOrder,
  judgeTask,
  judgeUncertain,
  type SafeReason,
  type Verdict,
} from '../core/reconcile';
import { formatCountOf, showValue } from '../core/text';
import type { ServiceClient } from '../service';
import type { Archive } from '../storage/archive/archive';
import { askAccounts, askService, type InTurn } from './ask-service';
import { KnownTasks } from './known-tasks';
import { type ArchiveCount, readArchive } from './read-archive';
import { type AskAboutTask, type Settlement, settleRecord } from './settle';
import { workflowState } from './workflow-state';

export interface ReconcileDependencies {
  readonly longhaul: Longhaul;
  readonly services: ReadonlyMap<string, ServiceClient>;
  readonly archive: Archive;
  /** @default at once */
  readonly inTurn?: InTurn;
}

export interface ReconcileOptions {
  readonly requestIds: readonly string[];
  /** Asked about tasks of unknown account; null asks each in turn. */
  readonly account: string | null;
  /** What began before is left out; 0 compares everything. */
  readonly sinceMs: number;
  /** Only what workers of this queue ran, and what archive and list name; null compares everything. */
  readonly taskQueue: string | null;
  /** Only what changed since then, runs, or is named here is compared; null: all of it. */
  readonly changes: Changes | null;
  readonly verify: boolean;
  /** Written into create records before anything is compared. */
  readonly settlements: readonly Settlement[];
  readonly signal?: AbortSignal;
  readonly onProgress: (words: string) => void;
}

export interface Changes {
  readonly sinceMs: number;
  /** Findings of the last comparison. */
  readonly earlier: readonly Pick<Finding, 'requestId' | 'account' | 'workflowId'>[];
}

export interface Reconciliation {
  readonly safe: Readonly<Record<SafeReason, number>>;
  readonly findings: readonly Finding[];
  readonly taskQueues: ReadonlySet<string>;
}

type Compared = Omit<Reconciliation, 'taskQueues'>;

const describesAtOnce = 4;
const progressStep = 1_000;
const requestIdsAList = 50;

/**
 * Compares what Temporal, the archive and a list know of tasks, asks the service about those neither followed nor
 * archived, and says which are not safe. Apart from `settlements` it changes nothing. Throws `InputInvalidError`,
 * ArchiveError, and the client's errors about Temporal.
 */
export async function reconcile(parts: ReconcileDependencies, options: ReconcileOptions): Promise<Reconciliation> {
  const { longhaul, services, archive, inTurn } = parts;
  const { account, sinceMs, changes, taskQueue, signal, onProgress } = options;
  if (account !== null && !services.has(account)) {
    const names = [...services.keys()].join(', ');
    throw new InputInvalidError([`There is no account ${showValue(account)} here; there are: ${names}.`], 'arguments');
  }
  const known = new KnownTasks({ sinceMs, taskQueue });

  let workflows = 0;
  const taskQueues = new Set<string>();
  const workflowsOf = new Map(options.settlements.map(({ requestId }) => [requestId ?? '', new Set<string>()]));
  for (const finding of changes?.earlier ?? []) known.addEarlier(finding);
  for await (const task of listed(longhaul, changes)) {
    signal?.throwIfAborted();
    known.addWorkflow(task);
    if (!task.isOver && (taskQueue === null || task.taskQueue === taskQueue)) taskQueues.add(task.taskQueue);
    if (task.requestId !== null) workflowsOf.get(task.requestId)?.add(task.workflowId);
    workflows += 1;
    if (workflows % progressStep === 0) onProgress(`Temporal: ${workflows} workflows …`);
  }
  onProgress(`Temporal: ${workflows} workflows`);

  const ask: AskAboutTask = async (requestId, recorded) =>
    (await askAccounts({ services }, requestId, account ?? recorded)).facts;
  await settle(parts, options.settlements, workflowsOf, ask);
  const found = await readArchive(archive, known, {
    verify: options.verify,
    // A name does not always tell a manifest's task; a listed task must not seem lost for that.
    sinceMs: options.requestIds.length > 0 ? 0 : sinceMs,
    changesSinceMs: changes?.sinceMs ?? null,
    signal,
    onProgress: (count) => {
      if ((count.records + count.manifests) % progressStep === 0) onProgress(`Archive: ${archiveWords(count)} …`);
    },
  });
  onProgress(`Archive: ${archiveWords(found.count)}`);

  for (const requestId of options.requestIds) known.addListed(requestId);
  if (changes !== null) await addEarlierRuns(longhaul, known, changes);
  const questions = await askService({ services, inTurn, signal }, known, account, (asked) => {
    if (asked % progressStep === 0) onProgress(`Service: asked about ${asked} tasks …`);
  });
  onProgress(`Service: asked about ${questions} tasks`);
  let compared = judgeAll(known, Date.now());
  // An earlier finding may be in a file whose name does not tell its task.
  const isDoubtful = compared.findings.length > 0 || (changes?.earlier.length ?? 0) > 0;
  if (isDoubtful && (await found.readUnnamed())) compared = judgeAll(known, Date.now());
  return { ...(await withoutFollowed(longhaul, compared, signal)), taskQueues };
}

/** What runs first: a task that ends between the two lists is in the first one. */
async function* listed(longhaul: Longhaul, changes: Changes | null): AsyncGenerator<ListedTask> {
  if (changes === null) {
    yield* longhaul.list();
    return;
  }
  yield* longhaul.list({ running: true });
  yield* longhaul.list({ endedSince: new Date(changes.sinceMs) });
}

/** How earlier workflows of a task ended may say that there is nothing to save. */
async function addEarlierRuns(longhaul: Longhaul, known: KnownTasks, { earlier }: Changes): Promise<void> {
  const all = [...known.all()].filter(dependsOnService).map(({ requestId }) => requestId);
  const requestIds = [...new Set([...earlier.map(({ requestId }) => requestId ?? ''), ...all])].filter(isRequestId);
  for (let from = 0; from < requestIds.length; from += requestIdsAList) {
    const some = longhaul.list({ requestIds: requestIds.slice(from, from + requestIdsAList) });
    for await (const task of some) known.addWorkflow(task);
  }
}

function archiveWords({ records, manifests, foreign, firstForeign }: ArchiveCount): string {
  const read =
    records + manifests === 0
      ? 'no create record and no manifest; is LONGHAUL_ARCHIVE right?'
      : `${records} create records, ${manifests} manifests`;
  if (foreign === 0) return read;
  return `${read}; passed over ${formatCountOf(foreign, 'name')} that Longhaul does not give, such as ${showValue(firstForeign)}`;
}

async function settle(
  { archive, longhaul }: ReconcileDependencies,
  settlements: readonly Settlement[],
  workflowsOf: ReadonlyMap<string, ReadonlySet<string>>,
  ask: AskAboutTask,
): Promise<void> {
  for (const settlement of settlements) {
    const { workflowId, requestId } = settlement;
    const others = [...(workflowsOf.get(requestId ?? '') ?? [])].filter((id) => id !== workflowId);
    const problem =
      (await workflowState(longhaul, workflowId)) === 'open'
        ? `${workflowId} runs; what it waits for is decided with "longhaul resolve".`
        : await settleRecord(archive, settlement, others, ask);
    if (problem !== undefined) throw new InputInvalidError([`--settle: ${problem}`], 'arguments');
  }
}

/** Drops findings with a workflow that began or continued as new while the list was read. */
async function withoutFollowed(
  longhaul: Longhaul,
  { safe, findings }: Compared,
  signal: AbortSignal | undefined,
): Promise<Compared> {
  const keepUnfollowed = async (finding: Finding): Promise<readonly Finding[]> => {
    const { workflowId, kind, remedies } = finding;
    // A workflow that waits for a person was in Temporal's list.
    const mayBeFollowed =
      kind === 'uncertain' ? remedies.some((remedy) => remedy.do === 'settle') : kind !== 'archiveIncomplete';
    const isFollowed = workflowId !== null && mayBeFollowed && (await workflowState(longhaul, workflowId)) === 'open';
    return isFollowed ? [] : [finding];
  };
  const left = await Readable.from(findings).map(keepUnfollowed, { concurrency: describesAtOnce, signal }).toArray();
  const unsafe = (left as Finding[][]).flat();
  return { safe: { ...safe, followed: safe.followed + findings.length - unsafe.length }, findings: unsafe };
}

function judgeAll(known: KnownTasks, nowMs: number): Compared {
  const safe: Record<SafeReason, number> = { followed: 0, archived: 0, nothingToSave: 0, superseded: 0 };
  const findings: Finding[] = [];
  const candidates: Candidate[] = [];
  const take = (verdict: Verdict): void => {
    if ('finding' in verdict) findings.push(verdict.finding);
    else safe[verdict.safe] += 1;
  };
  for (const task of known.all()) {
    take(judgeTask(task, nowMs));
    const { requestId, workflowId, archived, atService } = task;
    if (workflowId !== null || archived !== null || atService?.says !== 'task') continue;
    if (atService.createdAtMs !== null) candidates.push({ requestId, createdAtMs: atService.createdAtMs });
  }
  for (const create of known.uncertainCreates()) take(judgeUncertain(create, candidates));
  return { safe, findings: inOrder(afterDecisions(findings)) };
}
