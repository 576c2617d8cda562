import type { ListedTask } from '../client/task/list-tasks';
import { failureTypes } from '../contract/failure-types';
import { createName } from '../contract/workflow-ids';
import { manifestName } from '../core/archive-name';
import type { ArchiveFacts, Finding, ServiceFacts, TaskFacts, UncertainFacts } from '../core/reconcile';
import type { RecordedCreate } from '../archive/archive-reader';

export interface ReadManifest extends ArchiveFacts {
  readonly requestId: string;
  readonly account: string | null;
  /** The task's create; null where not known, as for an adopted task. */
  readonly createdBy: string | null;
  readonly archivedAtMs: number | null;
}

export interface KnownTasksScope {
  readonly sinceMs: number;
  readonly taskQueue: string | null;
}

type Gathered = { -readonly [Name in keyof TaskFacts]: TaskFacts[Name] } & {
  /** Whether anything but a workflow of another queue names it. */
  isInScope: boolean;
  isRecorded: boolean;
  /** Workflow by create of the records that name it; several where the service reused an id. */
  readonly creators: Map<string, string>;
  readonly archives: Map<string | null, ArchiveFacts>;
  /** Whether its latest workflow ended because the service did not know it. */
  hasEndedUnknown: boolean;
};

/**
 * What all sources know of each task. Temporal's list comes first, newest first, then the archive: a workflow that the
 * list shows as over has written its manifest by then.
 */
export class KnownTasks {
  readonly #tasks = new Map<string, Gathered[]>();
  readonly #runs = new Map<string, Pick<ListedTask, 'isOver' | 'status' | 'requestId'>>();
  readonly #uncertain: RecordedCreate[] = [];
  readonly #recordedWorkflows = new Set<string>();
  /** Folder by request id, archived before `sinceMs`. */
  readonly #oldManifests = new Map<string, string>();
  /** Listed runs, which another list may have, too. */
  readonly #listed = new Set<string>();
  readonly #earlier = new Set<string>();
  readonly #highestNumber = new Map<string, number>();
  readonly #scope: KnownTasksScope;

  constructor(scope: KnownTasksScope) {
    this.#scope = scope;
  }

  addWorkflow(listed: ListedTask): void {
    const { workflowId, runId, isOver, status, requestId, account, startedAt, taskQueue, failure } = listed;
    if (this.#listed.has(runId)) return;
    this.#listed.add(runId);
    const isInScope = this.#scope.taskQueue === null || taskQueue === this.#scope.taskQueue;
    if (isOver && (!isInScope || Date.parse(startedAt) < this.#scope.sinceMs)) return;
    if (isInScope && !this.#runs.has(workflowId)) this.#runs.set(workflowId, { isOver, status, requestId });
    if (requestId === null) return;
    const task = this.#getOrAdd(requestId, account);
    task.isInScope ||= isInScope;
    if (isOver) {
      if (task.lastStatus === null) task.hasEndedUnknown = failure === failureTypes.TaskNotFound;
      task.lastStatus ??= status;
      if (failure === failureTypes.SuccessNoOutputs) task.endsWithoutOutputs += 1;
    } else if (task.follower === null || task.follower.status === 'ArchiveIncomplete') {
      task.follower = { workflowId, status };
    }
    task.workflowId ??= workflowId;
  }

  /** A finding of an earlier comparison. */
  addEarlier({ requestId, account, workflowId }: Pick<Finding, 'requestId' | 'account' | 'workflowId'>): void {
    if (workflowId !== null) this.#earlier.add(workflowId);
    if (requestId !== null) this.#getOrAdd(requestId, account);
  }

  has(requestId: string): boolean {
    return this.#tasks.has(requestId);
  }

  /** Whether an old record may tell of something unsafe: its workflow ended, waits for a person, or was found before. */
  needsRecord(workflowId: string): boolean {
    const run = this.#runs.get(workflowId);
    return this.#earlier.has(workflowId) || run?.isOver === true || run?.status === 'CreateUncertain';
  }

  /** Names of the manifests of known tasks that were added by their names alone. */
  oldManifestNames(): readonly string[] {
    return [...this.#tasks.keys()].flatMap((requestId) => {
      const folder = this.#oldManifests.get(requestId);
      if (folder === undefined) return [];
      return [folder === '' ? manifestName(requestId) : `${folder}/${manifestName(requestId)}`];
    });
  }

  addOldRecord({ workflowId, createNumber }: Pick<RecordedCreate, 'workflowId' | 'createNumber'>): void {
    this.#recordedWorkflows.add(workflowId);
    if (createNumber > 1) {
      this.#highestNumber.set(workflowId, Math.max(createNumber, this.#highestNumber.get(workflowId) ?? 0));
    }
  }

  addRecord(record: RecordedCreate): void {
    const { workflowId, createNumber, sentAtMs, requestId, account } = record;
    this.addOldRecord(record);
    if (sentAtMs !== null && sentAtMs < this.#scope.sinceMs) return;
    if (requestId === null) {
      this.#uncertain.push(record);
      return;
    }
    const task = this.#recorded(requestId, account);
    task.workflowId ??= workflowId;
    task.creators.set(createName(workflowId, createNumber), workflowId);
  }

  addManifest({ requestId, account, createdBy, folder, problems, archivedAtMs }: ReadManifest): void {
    const isOld = archivedAtMs !== null && archivedAtMs < this.#scope.sinceMs;
    const { archives } = this.#recorded(requestId, account);
    // Of several folders, one that is complete is enough.
    if (!isWhole(archives.get(createdBy))) archives.set(createdBy, { folder, problems: isOld ? [] : problems });
  }

  /** A manifest from before `sinceMs`: its task is safe, unless it was created since. */
  addOldManifest(requestId: string, folder: string): void {
    this.#oldManifests.set(requestId, folder);
  }

  addListed(requestId: string): void {
    this.#recorded(requestId, null);
  }

  /** @param account - whose it is, by what the service says */
  answer(asked: Pick<TaskFacts, 'requestId' | 'account'>, account: string | null, atService: ServiceFacts): void {
    Object.assign(this.#getOrAdd(asked.requestId, asked.account), { account, atService });
  }

  *all(): Generator<TaskFacts> {
    for (const task of [...this.#tasks.values()].flat()) {
      if (!task.isInScope || this.#isMistaken(task)) continue;
      const { creators, archives, follower } = task;
      const unsaved = [...creators].filter(([create]) => !isWhole(archives.get(create)));
      // An adopting workflow archived the task of one of the creates.
      const [other] = unsaved.slice(isWhole(archives.get(null)) ? 1 : 0);
      // Records and manifests of more than one create: the service reused the id.
      const creates = new Set([...creators.keys(), ...archives.keys()].filter((create) => create !== null));
      if (creates.size > 1 && archives.size > 0 && other !== undefined) {
        const [create, workflowId] = other;
        const isOfOther =
          follower?.workflowId !== workflowId && [...creators.values()].includes(follower?.workflowId ?? '');
        yield { ...task, workflowId, archived: archives.get(create) ?? null, follower: isOfOther ? null : follower };
        continue;
      }
      const [first = null] = [...archives.values()].sort((one, two) => one.problems.length - two.problems.length);
      const folder = creators.size === 0 ? this.#oldManifests.get(task.requestId) : undefined;
      yield { ...task, archived: first ?? (folder === undefined ? null : { folder, problems: [] }) };
    }
  }

  /** The creates without a request id, except those whose task the workflow knows. */
  *uncertainCreates(): Generator<UncertainFacts> {
    const recorded = new Set<string>();
    for (const { workflowId, createNumber, sentAtMs } of this.#uncertain) {
      recorded.add(workflowId);
      const run = this.#runs.get(workflowId);
      const isSuperseded = createNumber < (this.#highestNumber.get(workflowId) ?? 0);
      if (!isSuperseded && this.#isKnownTo(run)) continue;
      yield { workflowId, createNumber, sentAtMs, isSuperseded, openStatus: getOpenStatus(run) };
    }
    for (const [workflowId, run] of this.#runs) {
      if (getOpenStatus(run) !== 'CreateUncertain' || recorded.has(workflowId)) continue;
      yield { workflowId, createNumber: 1, sentAtMs: null, isSuperseded: false, openStatus: run.status };
    }
  }

  #isKnownTo(run: Pick<ListedTask, 'requestId'> | undefined): boolean {
    return (this.#tasks.get(run?.requestId ?? '') ?? []).some((task) => !this.#isMistaken(task));
  }

  /** Whether an id was mistyped: only an ended workflow has it, and neither the service nor a create record does. */
  #isMistaken({ atService, isRecorded, follower, workflowId, hasEndedUnknown }: Gathered): boolean {
    if (atService?.says !== 'unknown' || isRecorded || follower !== null) return false;
    return workflowId !== null && (hasEndedUnknown || this.#recordedWorkflows.has(workflowId));
  }

  #recorded(requestId: string, account: string | null): Gathered {
    return Object.assign(this.#getOrAdd(requestId, account), { isInScope: true, isRecorded: true });
  }

  /** @param account - null: not known, so any that has such a task */
  #getOrAdd(requestId: string, account: string | null): Gathered {
    const known = this.#tasks.get(requestId) ?? [];
    const other = account === null ? known[0] : known.find((task) => task.account === null);
    const found = known.find((task) => task.account === account) ?? other;
    if (found !== undefined) return Object.assign(found, { account: found.account ?? account });
    const task: Gathered = {
      requestId,
      account,
      workflowId: null,
      lastStatus: null,
      endsWithoutOutputs: 0,
      follower: null,
      archived: null,
      atService: null,
      creators: new Map(),
      archives: new Map(),
      isInScope: false,
      isRecorded: false,
      hasEndedUnknown: false,
    };
    this.#tasks.set(requestId, [...known, task]);
    return task;
  }
}

function isWhole(archived: ArchiveFacts | undefined): boolean {
  return archived?.problems.length === 0;
}

function getOpenStatus(run: Pick<ListedTask, 'isOver' | 'status'> | undefined): string | null {
  return run?.isOver === false ? run.status : null;
}
