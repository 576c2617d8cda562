import { randomUUID } from 'node:crypto';
import {
  ScheduleAlreadyRunning,
  type ScheduleDescription,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  WorkflowFailedError,
  type WorkflowExecutionStatusName,
} from '@temporalio/client';
import {
  isSweepResult,
  parseSweepInput,
  sweepNowId,
  sweepScheduleId,
  sweepWorkflow,
  type SweepInput,
  type SweepPlan,
  type SweepResult,
} from '../contract/sweep';
import { workflowTaskTimeout } from '../core/workflow-tasks';
import { errorMessage, showValue } from '../core/text';
import { InputInvalidError, ReplyInvalidError, SweepFailedError, UnknownTaskError } from './errors';
import { abortable, askTemporal, type TemporalAccess, translating, workflowUrl } from './temporal-access';
import { countTasks } from './task/list-tasks';
import { listWorkflows } from './workflow-info';
import type { WorkflowInfo } from './workflow-info';

export interface InstalledSweep {
  readonly scheduleId: string;
  /** The longest time between two of the next sweeps; null when Temporal will start none. */
  readonly everyMs: number | null;
  readonly plan: SweepPlan;
  /** Of a plan that was changed by hand, so that no sweep can begin; else empty. */
  readonly problems: readonly string[];
  readonly isPaused: boolean;
  /** ISO-8601; null while it is paused. */
  readonly nextAt: string | null;
  /** When the next sweep must have ended, two intervals after the last one; null while it is paused or ended. */
  readonly dueAt: string | null;
}

export interface SweepStatus {
  /** Null: none is installed. */
  readonly installed: InstalledSweep | null;
  /** Null when there is none that Temporal keeps. */
  readonly newest: { readonly workflowId: string; readonly execution: WorkflowExecutionStatusName } | null;
  /** Null without a Web UI or a sweep. */
  readonly newestUrl: string | null;
  /** The last one that completed; null when there is none that Temporal keeps. */
  readonly last: SweepResult | null;
}

export interface SweepAlarm extends Pick<SweepResult, 'unsafe'>, Pick<InstalledSweep, 'dueAt'> {
  /** A sweep was asked for just now. */
  readonly isTriggered: boolean;
}

const minEveryMs = 5 * 60_000;
const usualEveryMs = 3_600_000;
/** What was terminated so shortly before a sweep began, Temporal's list may not have shown it. */
const listLagMs = 3_000;
const maxEveryMs = 30 * 24 * 3_600_000;
/** What was missed longer ago, while Temporal was down, is not made up for. */
const catchupWindow = '10 minutes';
/** A sweep is late after two intervals and this. */
const graceMs = 30 * 60_000;
const pageSize = 20;
const startOptions = { workflowTaskTimeout, staticSummary: 'What was paid for and is not safe' };

export function isSweepInterval(everyMs: unknown): everyMs is number {
  return typeof everyMs === 'number' && everyMs >= minEveryMs && everyMs <= maxEveryMs;
}

/** The scheduled sweeps of a task queue. Every method throws the errors of `askTemporal`. */
export class Sweeps {
  readonly #access: TemporalAccess;
  readonly #scheduleId: string;
  /** Results by run id, which do not change; null for one that cannot be read. */
  readonly #known = new Map<string, SweepResult | null>();

  /** @internal */
  constructor(access: TemporalAccess) {
    this.#access = access;
    this.#scheduleId = sweepScheduleId(access.taskQueue);
  }

  /**
   * Runs a sweep every so often, from now on, also by changing one that is installed. Throws `InputInvalidError`.
   * @param everyMs - five minutes to thirty days.
   */
  async install(everyMs: number, input: SweepInput = {}): Promise<void> {
    const remedy = `give milliseconds from ${minEveryMs} (five minutes) to ${maxEveryMs} (thirty days), such as 3600000`;
    const problems = isSweepInterval(everyMs) ? [] : [`everyMs is ${showValue(everyMs)}; ${remedy}.`];
    const plan = checkedPlan(input, problems);
    const { taskQueue, client } = this.#access;
    const scheduleId = this.#scheduleId;
    const schedule = {
      spec: { intervals: [{ every: everyMs }] },
      action: {
        ...startOptions,
        type: 'startWorkflow' as const,
        workflowType: sweepWorkflow,
        workflowId: scheduleId,
        taskQueue,
        args: [plan],
      },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow },
    };
    await this.#ask(async () => {
      try {
        await client.schedule.create({ ...schedule, scheduleId, state: { triggerImmediately: true } });
      } catch (error) {
        if (!(error instanceof ScheduleAlreadyRunning)) throw error;
        await this.#handle.update(() => ({ ...schedule, state: { paused: false } }));
        await this.#handle.trigger(ScheduleOverlapPolicy.SKIP);
      }
    });
  }

  /** Ends the Schedule; a sweep that runs goes on. Returns whether there was one. */
  async remove(): Promise<boolean> {
    return (await this.#described(() => this.#handle.delete().then(() => true))) ?? false;
  }

  async status(): Promise<SweepStatus> {
    const [description, [newest], last] = await Promise.all([
      this.#described(() => this.#handle.describe()),
      this.#list(''),
      this.last(),
    ]);
    return {
      installed: description === undefined ? null : installedSweep(this.#scheduleId, description, last),
      newest: newest === undefined ? null : { workflowId: newest.workflowId, execution: newest.execution },
      newestUrl: newest === undefined ? null : workflowUrl(this.#access, newest.workflowId),
      last,
    };
  }

  /** Runs a sweep every hour, unless one is scheduled, or paused. Returns whether there was none. */
  async installMissing(): Promise<boolean> {
    const description = await this.#described(() => this.#handle.describe());
    if (description === undefined) await this.install(usualEveryMs);
    return description === undefined;
  }

  /**
   * Of the last sweep, where one is scheduled; null, after one request, where none is. One runs at once after a task was
   * terminated: what it left at the service is paid for, and an hour is long. Not again before the next termination,
   * whatever became of that sweep.
   */
  async alarm(): Promise<SweepAlarm | null> {
    const description = await this.#described(() => this.#handle.describe());
    if (description === undefined) return null;
    const last = await this.last();
    const { dueAt } = installedSweep(this.#scheduleId, description, last);
    const isTriggered = dueAt !== null && (await this.#isAnyUnswept());
    if (isTriggered) await this.#ask(() => this.#handle.trigger(ScheduleOverlapPolicy.SKIP));
    return { unsafe: last?.unsafe ?? {}, dueAt, isTriggered };
  }

  /** Whether a task was terminated since the newest sweep began, which has ended. */
  async #isAnyUnswept(): Promise<boolean> {
    const [newest] = await this.#list('');
    if (newest === undefined || newest.execution === 'RUNNING') return false;
    const endedSince = new Date(newest.startedAt.getTime() - listLagMs);
    return (await countTasks(this.#access, { failure: 'WorkflowTerminated', endedSince })) > 0;
  }

  /** Sweeps once, now, by the plan unless `input` is given. Throws `InputInvalidError` and `SweepFailedError`. */
  async run(input: SweepInput | undefined, signal?: AbortSignal): Promise<SweepResult> {
    const { plan = {}, problems = [] } = input === undefined ? ((await this.status()).installed ?? {}) : {};
    if (problems.length > 0) throw new InputInvalidError(problems, 'sweep');
    const checked = checkedPlan(input ?? plan);
    const { taskQueue, client } = this.#access;
    const workflowId = sweepNowId(taskQueue, randomUUID());
    const handle = await this.#ask(() =>
      client.workflow.start(sweepWorkflow, { ...startOptions, workflowId, taskQueue, args: [checked] }),
    );
    const wait = (): Promise<unknown> => abortable(this.#access, signal, () => handle.result());
    try {
      return checkedResult(workflowId, await translating(this.#access, workflowId, wait));
    } catch (error) {
      if (!(error instanceof WorkflowFailedError)) throw error;
      // A failed activity says only that it failed; its cause says why.
      const inner = error.cause?.cause ?? error.cause;
      const words = inner === undefined ? error.message : errorMessage(inner);
      throw new SweepFailedError(workflowId, words, { cause: error });
    }
  }

  get #handle() {
    return this.#access.client.schedule.getHandle(this.#scheduleId);
  }

  #ask<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    return askTemporal(this.#access, this.#scheduleId, ask);
  }

  #described<Answer>(ask: () => Promise<Answer>): Promise<Answer | undefined> {
    return this.#ask(async () => {
      try {
        return await ask();
      } catch (error) {
        if (error instanceof ScheduleNotFoundError) return undefined;
        throw error;
      }
    });
  }

  /** Of this task queue: those of others are in the same namespace. */
  #list(narrowed: string): Promise<readonly WorkflowInfo[]> {
    const { client, taskQueue } = this.#access;
    // A name with other characters cannot stand in a filter.
    const ofQueue = /^[\w.-]+$/.test(taskQueue) ? ` AND TaskQueue = "${taskQueue}"` : '';
    return this.#ask(async () => {
      const sweeps: WorkflowInfo[] = [];
      const all = listWorkflows(client, `WorkflowType = "${sweepWorkflow}"${ofQueue}${narrowed}`, pageSize);
      for await (const workflow of all) {
        if (workflow.taskQueue === taskQueue) sweeps.push(workflow);
        if (sweeps.length === pageSize) break;
      }
      return sweeps;
    });
  }

  /** The last that completed; a result that another program left is passed over. */
  async last(): Promise<SweepResult | null> {
    for (const workflow of await this.#list(' AND ExecutionStatus = "Completed"')) {
      const result = await this.#resultOf(workflow);
      if (result !== null) return result;
    }
    return null;
  }

  async #resultOf({ workflowId, runId }: WorkflowInfo): Promise<SweepResult | null> {
    const known = this.#known.get(runId);
    if (known !== undefined) return known;
    const { client } = this.#access;
    const handle = client.workflow.getHandle(workflowId, runId, { followRuns: false });
    let result: SweepResult | null = null;
    try {
      result = checkedResult(workflowId, await this.#ask(() => handle.result() as Promise<unknown>));
    } catch (error) {
      if (!(error instanceof ReplyInvalidError || error instanceof UnknownTaskError)) throw error;
    }
    if (this.#known.size >= 2 * pageSize) this.#known.clear();
    this.#known.set(runId, result);
    return result;
  }
}

function checkedPlan(input: SweepInput, further: readonly string[] = []): SweepPlan {
  const { plan, problems } = parseSweepInput(input);
  if (problems.length + further.length > 0) throw new InputInvalidError([...further, ...problems], 'sweep');
  return plan;
}

function installedSweep(
  scheduleId: string,
  { spec, action, state, info }: ScheduleDescription,
  last: SweepResult | null,
): InstalledSweep {
  const isPaused = state.paused;
  const { plan, problems } = parseSweepInput(action.args?.[0]);
  const sinceMs = Math.max(Date.parse(last?.endedAt ?? '') || 0, (info.lastUpdatedAt ?? info.createdAt).getTime());
  const times = info.nextActionTimes;
  const [next] = times;
  // The longest gap: a Schedule may have been given a calendar by hand.
  const gaps = times.slice(1).map((time, index) => time.getTime() - (times[index] ?? time).getTime());
  const everyMs = gaps.length > 0 ? Math.max(...gaps) : (spec.intervals?.[0]?.every ?? null);
  const comes = !isPaused && next !== undefined && everyMs !== null;
  return {
    scheduleId,
    everyMs,
    // What no sweep can be run with is not shown as a plan.
    plan: problems.length === 0 ? plan : checkedPlan({}),
    problems,
    isPaused,
    nextAt: comes ? next.toISOString() : null,
    dueAt: comes ? new Date(sinceMs + 2 * everyMs + graceMs).toISOString() : null,
  };
}

function checkedResult(workflowId: string, result: unknown): SweepResult {
  if (isSweepResult(result)) return result;
  throw new ReplyInvalidError(workflowId, 'The result of the sweep');
}
