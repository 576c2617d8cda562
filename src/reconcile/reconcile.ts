import { Readable } from 'node:stream';
import { CreateRecordFile } from '../activities/create-record';
import { InputInvalidError } from '../client/errors';
import type { Longhaul } from '../client/longhaul';
import { createRecordName } from '../contract/workflow-ids';
import {
  afterDecisions,
  type Candidate,
  type Finding,
  inOrder,
  judgeTask,
  judgeUncertain,
  type SafeReason,
  type ServiceFacts,
  type Verdict,
} from '../core/reconcile';
import { parseCreateRecord } from '../archive/create-record';
import type { ServiceClient } from '../service';
import { formatCountOf, showValue } from '../core/text';
import type { Archive } from '../storage/archive/archive';
import { askAboutTask, askService, type InTurn } from './ask-service';
import { KnownTasks } from './known-tasks';
import { problemWithCreate } from './problem-with-create';
import { type ArchiveCount, readArchive } from './read-archive';
import { workflowState } from './workflow-state';

/** What {@link reconcile} asks. */
export interface ReconcileDependencies {
  readonly longhaul: Longhaul;
  /** One client per account, by the account's name. */
  readonly services: ReadonlyMap<string, ServiceClient>;
  readonly archive: Archive;
  /** Sends a query of an account when its turn comes. @default at once */
  readonly inTurn?: InTurn;
}

/** What is compared, and how thoroughly. */
export interface ReconcileOptions {
  /** Request ids from anywhere. */
  readonly requestIds: readonly string[];
  /** The account to ask about a task whose account is not known; null asks each in turn. */
  readonly account: string | null;
  /** What began before is left out; 0 compares everything. */
  readonly sinceMs: number;
  /** Only what the workers of this queue ran, and what the archive and the list name; null compares everything. */
  readonly taskQueue: string | null;
  /** Whether archived files are hashed, too. */
  readonly verify: boolean;
  /** Answers that are written into create records before anything is compared. */
  readonly settlements: readonly Settlement[];
  /** Ends the comparison; it rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Called with a line of progress. */
  readonly onProgress: (words: string) => void;
}

/** What is safe, counted, and what is not. */
export interface Reconciliation {
  readonly safe: Readonly<Record<SafeReason, number>>;
  /** The most pressing first. */
  readonly findings: readonly Finding[];
  /** The task queues of the workflows that run, each of which needs a worker. */
  readonly taskQueues: ReadonlySet<string>;
}

type Compared = Omit<Reconciliation, 'taskQueues'>;

/** Workflows that Temporal is asked about at the same time. */
const describesAtOnce = 4;

/** Items between two lines of progress. */
const progressStep = 1_000;

/**
 * Compares what Temporal, the archive and a list know of tasks, asks the service about those that are neither followed
 * nor archived, and says which of them are not safe. Apart from `settlements` it changes nothing.
 *
 * Throws `InputInvalidError`, ArchiveError, and the client's errors about Temporal.
 */
export async function reconcile(parts: ReconcileDependencies, options: ReconcileOptions): Promise<Reconciliation> {
  const { longhaul, services, archive, inTurn } = parts;
  const { account, sinceMs, taskQueue, signal, onProgress } = options;
  requireAccount(services, account);
  const known = new KnownTasks({ sinceMs, taskQueue });

  let workflows = 0;
  const taskQueues = new Set<string>();
  const workflowsOf = new Map(options.settlements.map(({ requestId }) => [requestId ?? '', new Set<string>()]));
  for await (const task of longhaul.list()) {
    signal?.throwIfAborted();
    known.addWorkflow(task);
    if (!task.isOver && (taskQueue === null || task.taskQueue === taskQueue)) taskQueues.add(task.taskQueue);
    if (task.requestId !== null) workflowsOf.get(task.requestId)?.add(task.workflowId);
    workflows += 1;
    if (workflows % progressStep === 0) onProgress(`Temporal: ${workflows} workflows …`);
  }
  onProgress(`Temporal: ${workflows} workflows`);

  await settle(parts, options.settlements, workflowsOf, (requestId, recorded) =>
    askAboutTask(services, requestId, account ?? recorded),
  );
  let counted = '';
  await readArchive(archive, known, {
    verify: options.verify,
    // A name does not always tell of which task a manifest is; what a list names must not seem lost for that.
    sinceMs: options.requestIds.length > 0 ? 0 : sinceMs,
    signal,
    onProgress: (count) => {
      const read = count.records + count.manifests;
      counted = archiveWords(count);
      if (read > 0 && read % progressStep === 0) onProgress(`Archive: ${counted} …`);
    },
  });
  onProgress(`Archive: ${counted}`);

  for (const requestId of options.requestIds) known.addListed(requestId);
  let questions = 0;
  await askService({ services, inTurn }, known, account, {
    signal,
    onProgress: (asked) => {
      questions = asked;
      if (asked % progressStep === 0) onProgress(`Service: asked about ${asked} tasks …`);
    },
  });
  onProgress(`Service: asked about ${questions} tasks`);
  return { ...(await withoutFollowed(longhaul, judgeAll(known, Date.now()), signal)), taskQueues };
}

function archiveWords({ records, manifests, foreign, firstForeign }: ArchiveCount): string {
  const isEmpty = records + manifests === 0;
  const read = isEmpty
    ? 'no create record and no manifest; is LONGHAUL_ARCHIVE right?'
    : `${records} create records, ${manifests} manifests`;
  if (foreign === 0) return read;
  return `${read}; passed over ${formatCountOf(foreign, 'name')} that Longhaul does not give, such as ${showValue(firstForeign)}`;
}

function requireAccount(services: ReadonlyMap<string, ServiceClient>, account: string | null): void {
  if (account === null || services.has(account)) return;
  const names = [...services.keys()].join(', ');
  throw new InputInvalidError(
    [`There is no account ${JSON.stringify(account)} here; there are: ${names}.`],
    'arguments',
  );
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

/**
 * Leaves out what a workflow follows all the same: one that began or continued as new while the list was read is missing
 * there, or seems to be over.
 */
async function withoutFollowed(
  longhaul: Longhaul,
  { safe, findings }: Compared,
  signal: AbortSignal | undefined,
): Promise<Compared> {
  const isFollowed = async (finding: Finding): Promise<boolean> => {
    const { workflowId, kind, remedies } = finding;
    // A workflow that waits for a person was in Temporal's list.
    const mayBeFollowed =
      kind === 'uncertain' ? remedies.some((remedy) => remedy.do === 'settle') : kind !== 'archiveIncomplete';
    return workflowId !== null && mayBeFollowed && (await workflowState(longhaul, workflowId)) === 'open';
  };
  const left = await Readable.from(findings)
    .map(async (finding: Finding) => ((await isFollowed(finding)) ? [] : [finding]), {
      concurrency: describesAtOnce,
      signal,
    })
    .toArray();
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
    // Only a task without a workflow and an archive can be what an uncertain create made.
    if (workflowId !== null || archived !== null || atService?.says !== 'task') continue;
    if (atService.createdAtMs !== null) candidates.push({ requestId, createdAtMs: atService.createdAtMs });
  }
  for (const create of known.uncertainCreates()) take(judgeUncertain(create, candidates));
  return { safe, findings: inOrder(afterDecisions(findings)) };
}

/** A person's answer about a create whose workflow is over: the task it made, or that it made none. */
export interface Settlement {
  readonly workflowId: string;
  readonly createNumber: number;
  /** Null: nothing was created. */
  readonly requestId: string | null;
  /** Also a task that another create made or may have made. @default false */
  readonly force?: boolean;
}

/** What the service says of a request id; `account` is that of the create, by its record, null where it has none. */
type AskAboutTask = (requestId: string, account: string | null) => Promise<ServiceFacts>;

/**
 * Writes the answer into the create record: the request id, or, when nothing was created, its withdrawal, so that the
 * next create of this workflow id may take its number. An id that the record has already stands, unless the service
 * does not know it; and none is written that the service does not know.
 *
 * @returns what is wrong; undefined when the record has the answer now. Throws ArchiveError.
 */
async function settleRecord(
  archive: Archive,
  settlement: Settlement,
  others: readonly string[],
  ask: AskAboutTask,
): Promise<string | undefined> {
  const { workflowId, createNumber, requestId, force = false } = settlement;
  const content = await archive.read(createRecordName(workflowId, createNumber));
  if (content === undefined) return `There is no record of create ${createNumber} of ${workflowId} in this archive.`;
  const recorded = parseCreateRecord(content);
  const { account = null } = recorded;
  const record = new CreateRecordFile(archive, workflowId, createNumber);
  const created = await record.find();
  const known = created?.outcome === 'accepted' ? created.requestId : undefined;
  if (known === requestId) return undefined;
  if (known !== undefined && (await ask(known, account)).says !== 'unknown') {
    return `Create ${createNumber} of ${workflowId} made the task ${known}; that stands.`;
  }
  if (requestId === null) {
    await record.release();
    return undefined;
  }
  const facts = await ask(requestId, account);
  if (facts.says === 'unknown') return `The service does not know the task ${requestId}; check the id, and --account.`;
  if (facts.says === 'nothing') {
    return `The service did not say whether it knows the task ${requestId} (${facts.words}); try again.`;
  }
  const create = { workflowId, createNumber, requestId };
  const problem = force ? undefined : await problemWithCreate(archive, create, recorded, { facts, others });
  if (problem === undefined) await record.addRequestId(requestId, known);
  return problem;
}
