import { setTimeout as delay } from 'node:timers/promises';
import { errorMessage } from '../../../src/core/text';
import { FaultStack } from '../fault-stack';
import { brokenPromises } from '../promises';
import { type StackUnderTest, TaskUnderTest } from '../task-under-test';
import { attend, type Attention } from './attend';
import { inject } from './inject';
import type { SoakFault, SoakPlan, SoakTask } from './plan';

/** How long everything may take to end after the last fault. */
const settleWithinMs = 240_000;
const pollEveryMs = 1_000;

/** What a soak did, and what came of it. */
export interface SoakReport {
  readonly seed: number;
  readonly tasks: number;
  readonly seconds: number;
  /** Of those that had something to hit. */
  readonly faults: ReadonlyMap<string, number>;
  /** What a person had to do. */
  readonly attentions: ReadonlyMap<Attention, number>;
  /** How many tasks ended so. */
  readonly ends: ReadonlyMap<string, number>;
  readonly acceptedCreates: number;
  /** What of the promises does not hold; nothing when all of it does. */
  readonly broken: readonly string[];
}

/** Runs a plan on real parts of its own. Tells `say` what happens, as it happens. */
export async function runSoak(plan: SoakPlan, forMs: number, say: (line: string) => void): Promise<SoakReport> {
  const stack = await FaultStack.open();
  try {
    return await new Soak({ stack, plan, forMs, say, inject: (...one) => inject(stack, ...one) }).run();
  } finally {
    await stack.close();
  }
}

/** What a soak is made of. */
export interface SoakOptions<Name extends string> {
  readonly stack: StackUnderTest;
  readonly plan: SoakPlan<Name>;
  readonly forMs: number;
  readonly say: (line: string) => void;
  /** Lets one fault happen, and ends it. Returns whether there was anything for it to hit. */
  readonly inject: (fault: SoakFault<Name>, started: readonly TaskUnderTest[]) => Promise<boolean>;
  /** Accounts that tasks name in turn. @default the worker's default */
  readonly accounts?: readonly string[];
}

/** Tasks and faults of a plan, and a person who attends to the tasks. */
export class Soak<Name extends string> {
  readonly #options: SoakOptions<Name>;
  readonly #stack: StackUnderTest;
  readonly #plan: SoakPlan<Name>;
  readonly #forMs: number;
  readonly #beganAtMs = Date.now();
  readonly #started: TaskUnderTest[] = [];
  readonly #mayBeStopped = new Set<TaskUnderTest>();
  readonly #ends = new Map<TaskUnderTest, string>();
  readonly #faults = new Map<string, number>();
  readonly #attentions = new Map<Attention, number>();

  constructor(options: SoakOptions<Name>) {
    this.#options = options;
    ({ stack: this.#stack, plan: this.#plan, forMs: this.#forMs } = options);
  }

  async run(): Promise<SoakReport> {
    const { tasks, heavy, light } = this.#plan;
    const running = [
      ...tasks.map((task, index) => this.#runTask(task, index)),
      this.#runFaults(heavy),
      this.#runFaults(light),
    ];
    const attending = this.#attendAll();
    await Promise.all(running);
    this.#options.say(`no more faults; waiting for ${tasks.length - this.#ends.size} tasks`);
    await attending;
    return await this.#report();
  }

  async #runTask({ startAtMs, watch, heldMs, stopAfterMs }: SoakTask, index: number): Promise<void> {
    const { accounts = [] } = this.#options;
    const account = accounts[index % accounts.length];
    const task = new TaskUnderTest(this.#stack, `soak-${index}`, { watch, ...(account !== undefined && { account }) });
    const { scenarios } = this.#stack.parts.service;
    scenarios.add({ endpoint: 'create', scenario: { name: 'hold', ms: heldMs }, correlation: task.workflowId });
    await delay(startAtMs);
    await insist(() => task.start());
    this.#started.push(task);
    if (stopAfterMs === null) return;
    this.#mayBeStopped.add(task);
    await delay(stopAfterMs);
    await insist(async () => {
      if (!(await task.handle.status()).isOver) await task.handle.stop();
    });
  }

  /** One fault after the other, until the time is over. */
  async #runFaults(faults: readonly SoakFault<Name>[]): Promise<void> {
    for (const fault of faults) {
      if (Date.now() - this.#beganAtMs + fault.afterMs > this.#forMs) return;
      await delay(fault.afterMs);
      if (!(await this.#options.inject(fault, this.#started))) continue;
      count(this.#faults, fault.name);
      this.#tell(fault.name);
    }
  }

  /** A person who looks at every task again and again, until all have been started and are over. */
  async #attendAll(): Promise<void> {
    const deadlineMs = this.#beganAtMs + this.#forMs + settleWithinMs;
    while (this.#ends.size < this.#plan.tasks.length && Date.now() < deadlineMs) {
      await delay(pollEveryMs);
      const open = this.#started.filter((task) => !this.#ends.has(task));
      await Promise.all(open.map((task) => this.#attendOne(task)));
    }
  }

  async #attendOne(task: TaskUnderTest): Promise<void> {
    try {
      const view = await task.handle.status();
      const attention = await attend(task, view);
      if (attention === 'nothing' && view.isOver) this.#ends.set(task, view.status);
      if (attention === 'nothing') return;
      count(this.#attentions, attention);
      this.#tell(`a person lets ${task.key} ${attention}`);
    } catch {
      // Temporal or the worker is away: the person looks again.
    }
  }

  async #report(): Promise<SoakReport> {
    const ends = new Map<string, number>();
    for (const status of this.#ends.values()) count(ends, status);
    const acceptedCreates = this.#started.reduce((sum, task) => sum + task.acceptedCreates.length, 0);
    return {
      seed: this.#plan.seed,
      tasks: this.#plan.tasks.length,
      seconds: Math.round((Date.now() - this.#beganAtMs) / 1000),
      faults: this.#faults,
      attentions: this.#attentions,
      ends,
      acceptedCreates,
      broken: [...(await this.#wrongEnds()), ...(await this.#brokenPromises())],
    };
  }

  /** A check that fails does not take the rest of the report with it. */
  async #brokenPromises(): Promise<string[]> {
    try {
      return await brokenPromises(this.#stack, this.#started);
    } catch (error) {
      return [`the promises could not be checked: ${errorMessage(error)}`];
    }
  }

  /** Nothing of what happened is a reason to fail: a task succeeds, or is stopped when somebody asked for it. */
  async #wrongEnds(): Promise<string[]> {
    const wrong = this.#started.map(async (task) => {
      const status = this.#ends.get(task);
      if (status === 'Success' || (status === 'Canceled' && this.#mayBeStopped.has(task))) return [];
      return [`${task.key}: ended as ${status ?? 'nothing'}: ${JSON.stringify(await task.handle.status())}`];
    });
    return (await Promise.all(wrong)).flat();
  }

  #tell(what: string): void {
    this.#options.say(`${((Date.now() - this.#beganAtMs) / 1000).toFixed(1).padStart(6)} s  ${what}`);
  }
}

function count<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** A caller whose Temporal is away tries again. */
async function insist(action: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await action();
      return;
    } catch (error) {
      if (attempt === 60) throw error;
      await delay(pollEveryMs);
    }
  }
}

/** The report as a table for a person, with the command that does the same again. */
export function soakTable(report: SoakReport, again: string): string {
  const { tasks, seconds, acceptedCreates, broken } = report;
  return [
    section('faults', report.faults),
    section('a person let tasks', report.attentions),
    section('tasks ended as', report.ends),
    `${tasks} tasks, ${acceptedCreates} accepted creates, ${seconds} s`,
    broken.length === 0 ? 'every promise held' : `BROKEN:\n${broken.map((one) => `  ${one}`).join('\n')}`,
    `the same again: ${again}`,
  ].join('\n');
}

function section(title: string, counts: ReadonlyMap<string, number>): string {
  const lines = [...counts].sort(([, a], [, b]) => b - a).map(([name, many]) => `  ${name.padEnd(22)}${many}`);
  return [title, ...(lines.length === 0 ? ['  none'] : lines)].join('\n');
}
