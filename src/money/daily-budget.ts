import { expectedMicros, tasksBeforeFirstCost } from './batch-budget';
import {
  type CreateId,
  dayMs,
  type DayOperation,
  type DayOutcome,
  type DayView,
  type ExpectedCost,
  isGranted,
} from './day-operations';
import type { Money } from './money';

/** The state that a run of the day's workflow hands to the next. Plain JSON. */
export interface DayState {
  readonly limit?: Money;
  readonly settledMicros: number;
  readonly settled: number;
  readonly apps: Readonly<Record<string, AppState>>;
  /** App and last reserving attempt of each running create, by task and number. */
  readonly running: Readonly<Record<string, string>>;
  readonly held: Readonly<Record<string, Hold>>;
  readonly refusedSinceMs?: number;
}

interface Hold {
  readonly app: number;
  readonly untilMs: number;
}

interface AppState {
  readonly taskMicros: number;
  readonly isFixed: boolean;
  readonly largestMicros: number;
  readonly grantedMs?: number;
  readonly settled: number;
  readonly unknown: number;
}

/** After this time without a known cost one more task may run: those that run may never tell one. */
const oneMoreAfterMs = 15 * 60_000;
const earlyMs = 60_000;
/** How long a row's hold counts; its create reserves anew after that. */
const holdMs = 15 * 60_000;
/** Bounds of the state that continue-as-new carries; about 30 bytes a task. */
const maxTasks = 20_000;
const maxApps = 500;

const noApp: AppState = { taskMicros: 0, isFixed: true, largestMicros: 0, settled: 0, unknown: 0 };

/** What an account may spend in a day (UTC), and has spent. Pure. */
export class DailyBudget {
  #limit: Money | undefined;
  #settledMicros: number;
  #settled: number;
  #refusedSinceMs: number | undefined;
  readonly #apps: Map<string, AppState>;
  readonly #running: Map<string, string>;
  readonly #held: Map<string, Hold>;
  readonly #open = new Map<string, number>();

  constructor(state?: DayState) {
    this.#limit = state?.limit;
    this.#settledMicros = state?.settledMicros ?? 0;
    this.#settled = state?.settled ?? 0;
    this.#refusedSinceMs = state?.refusedSinceMs;
    this.#apps = new Map(Object.entries(state?.apps ?? {}));
    this.#running = new Map(Object.entries(state?.running ?? {}));
    this.#held = new Map(Object.entries(state?.held ?? {}));
    for (const running of this.#running.values()) this.#count(appOf(running), 1);
    for (const { app } of this.#held.values()) this.#count(app, 1);
  }

  get state(): DayState {
    return {
      limit: this.#limit,
      settledMicros: this.#settledMicros,
      settled: this.#settled,
      apps: Object.fromEntries(this.#apps),
      running: Object.fromEntries(this.#running),
      held: Object.fromEntries(this.#held),
      refusedSinceMs: this.#refusedSinceMs,
    };
  }

  /** Applies operations in order. Expected, reserved and settled costs must fit into the limit of this very worker. */
  apply(
    { limit, operations }: { readonly limit: Money; readonly operations: readonly DayOperation[] },
    nowMs: number,
    endsAtMs: number,
  ): DayOutcome[] {
    for (const [task, { untilMs }] of this.#held) if (untilMs <= nowMs) this.#unhold(task);
    const isOther = this.#limit !== undefined && this.#limit.currency !== limit.currency;
    if (!isOther) this.#limit = limit;
    return operations.map((operation) => {
      if (operation.kind !== 'reserve' && operation.kind !== 'hold') return this.#take(operation);
      const outcome = isOther ? 'otherCurrency' : this.#ask(operation, limit, nowMs, endsAtMs);
      if (isGranted(outcome)) this.#refusedSinceMs = undefined;
      else this.#refusedSinceMs ??= nowMs;
      return outcome;
    });
  }

  view(): DayView {
    const unknown = [...this.#apps.values()].reduce((sum, app) => sum + app.unknown, 0);
    return {
      limit: this.#limit ?? null,
      settledMicros: this.#settledSum(),
      reservedMicros: this.#reservedSum(),
      settled: this.#settled,
      unknown,
      running: this.#running.size,
      held: this.#held.size,
      refusedSince: this.#refusedSinceMs === undefined ? null : new Date(this.#refusedSinceMs).toISOString(),
    };
  }

  #ask(
    operation: Extract<DayOperation, { readonly kind: 'reserve' | 'hold' }>,
    limit: Money,
    nowMs: number,
    endsAtMs: number,
  ): DayOutcome {
    const { kind, task, app } = operation;
    const key = createKey(operation);
    if (this.#running.has(key)) {
      if (kind === 'reserve') this.#running.set(key, `${appOf(this.#running.get(key))} ${operation.by}`);
      return 'known';
    }
    if (kind === 'hold' && this.#held.has(task)) return 'known';
    this.#unhold(task);
    if (nowMs >= endsAtMs) return 'over';
    if (nowMs < endsAtMs - dayMs - earlyMs) return 'notYet';
    const name = String(app);
    if (this.#running.size + this.#held.size >= maxTasks) return 'full';
    if (!this.#apps.has(name) && this.#apps.size >= maxApps) return 'full';
    const before = this.#apps.get(name);
    const { taskMicros, isFixed, ...known } = before ?? noApp;
    // Prices of workers may differ: the higher one counts once a task was granted at it.
    const price = { taskMicros: Math.max(taskMicros, operation.taskMicros), isFixed: isFixed && operation.isFixed };
    const expected = { ...known, ...price };
    this.#apps.set(name, expected);
    const refusal = this.#refusal(operation, expected, limit, nowMs);
    if (refusal !== undefined) {
      if (before === undefined) this.#apps.delete(name);
      else this.#apps.set(name, before);
      return refusal;
    }
    this.#apps.set(name, { ...expected, grantedMs: nowMs });
    if (kind === 'hold') this.#held.set(task, { app, untilMs: nowMs + holdMs });
    else this.#running.set(key, `${app} ${operation.by}`);
    this.#count(app, 1);
    return 'granted';
  }

  #refusal(
    { task, app, create }: CreateId & ExpectedCost,
    expected: AppState,
    limit: Money,
    nowMs: number,
  ): 'noRoom' | 'noCost' | undefined {
    if (this.#settledSum() + this.#reservedSum() + expectedMicros(expected) > limit.micros) return 'noRoom';
    if (expected.isFixed || expected.settled > expected.unknown) return undefined;
    // A task that is created again takes the place of its earlier create.
    const isAgain = this.#running.has(createKey({ task, create: create - 1 }));
    const open = (this.#open.get(String(app)) ?? 0) + expected.unknown - (isAgain ? 1 : 0);
    const isLongAgo = nowMs - (expected.grantedMs ?? nowMs) >= oneMoreAfterMs;
    return open >= tasksBeforeFirstCost && !isLongAgo ? 'noCost' : undefined;
  }

  #take(operation: Exclude<DayOperation, { readonly kind: 'reserve' | 'hold' }>): 'done' {
    const key = createKey(operation);
    if (operation.kind === 'unhold') this.#unhold(operation.task);
    else if (operation.kind === 'release') {
      if (this.#running.get(key)?.endsWith(` ${operation.by}`) === true) this.#end(key);
    } else this.#settle(key, operation.cost);
    return 'done';
  }

  /** Ignores a create that is not reserved: it was settled before, or is of another day. */
  #settle(key: string, cost: Money | null): void {
    const name = this.#end(key);
    if (name === undefined) return;
    this.#settled += 1;
    const app = this.#apps.get(String(name)) ?? noApp;
    const isKnown = cost !== null && cost.currency === this.#limit?.currency;
    if (isKnown) this.#settledMicros = Math.min(this.#settledMicros + cost.micros, Number.MAX_SAFE_INTEGER);
    this.#apps.set(String(name), {
      ...app,
      settled: app.settled + 1,
      unknown: app.unknown + (isKnown ? 0 : 1),
      largestMicros: Math.max(app.largestMicros, isKnown ? cost.micros : 0),
    });
  }

  #end(key: string): number | undefined {
    const running = this.#running.get(key);
    if (running === undefined) return undefined;
    this.#running.delete(key);
    this.#count(appOf(running), -1);
    return appOf(running);
  }

  #unhold(task: string): void {
    const hold = this.#held.get(task);
    if (this.#held.delete(task) && hold !== undefined) this.#count(hold.app, -1);
  }

  #count(app: number, more: 1 | -1): void {
    this.#open.set(String(app), (this.#open.get(String(app)) ?? 0) + more);
  }

  #settledSum(): number {
    return this.#settledMicros + this.#sum(([, { unknown }]) => unknown);
  }

  #reservedSum(): number {
    return this.#sum(([app]) => this.#open.get(app) ?? 0);
  }

  #sum(tasks: (app: [string, AppState]) => number): number {
    return [...this.#apps].reduce((sum, app) => sum + tasks(app) * expectedMicros(app[1]), 0);
  }
}

function appOf(running = ''): number {
  return Number.parseInt(running, 10);
}

function createKey({ task, create }: CreateId): string {
  return `${task}/${create}`;
}
