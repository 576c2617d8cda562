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
  /** The running creates, the oldest first, separated by spaces: task, last reserving attempt, app's place, number. */
  readonly running: string;
  /** The held rows, separated by spaces: task, end of the hold, app's place. */
  readonly held: string;
  readonly refusedSinceMs?: number;
}

interface Running {
  readonly app: number;
  readonly by: string;
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
/** Temporal takes 2 MiB of state: a running create takes 15 bytes of it, a held row twice as many. */
const maxOpen = 120_000;
const heldWeight = 2;
/** Leaves room for creates, so that none is settled while its worker may still ask for it. */
const maxHeld = 20_000;
const maxApps = 500;

const noApp: AppState = { taskMicros: 0, isFixed: true, largestMicros: 0, settled: 0, unknown: 0 };

/** What an account may spend in a day (UTC), and has spent. Pure. */
export class DailyBudget {
  #limit: Money | undefined;
  #settledMicros: number;
  #settled: number;
  #refusedSinceMs: number | undefined;
  readonly #apps: Map<string, AppState>;
  readonly #running: Map<string, Running>;
  readonly #held: Map<string, Hold>;
  /** By app. */
  readonly #open = new Map<string, number>();

  constructor(state?: DayState) {
    this.#limit = state?.limit;
    this.#settledMicros = state?.settledMicros ?? 0;
    this.#settled = state?.settled ?? 0;
    this.#refusedSinceMs = state?.refusedSinceMs;
    this.#apps = new Map(Object.entries(state?.apps ?? {}));
    const apps = [...this.#apps.keys()].map(Number);
    this.#running = new Map(readRunning(state?.running, apps));
    this.#held = new Map(readHeld(state?.held, apps));
    for (const { app } of [...this.#running.values(), ...this.#held.values()]) this.#count(app, 1);
  }

  /** How many creates run and rows are held. */
  get open(): number {
    return this.#running.size + this.#held.size;
  }

  get state(): DayState {
    const apps = Object.fromEntries(this.#apps);
    // In the order in which the next run reads them: an object sorts names that are whole numbers.
    const places = new Map(Object.keys(apps).map((app, place) => [Number(app), place.toString(36)]));
    const running = [...this.#running].map(([key, { app, by }]) => {
      const [task = '', create] = key.split('/');
      return `${task}${by}${places.get(app)}${create === '1' ? '' : `/${create}`}`;
    });
    const held = [...this.#held].map(([task, { app, untilMs }]) => `${task}${untilMs.toString(36)}${places.get(app)}`);
    return {
      limit: this.#limit,
      settledMicros: this.#settledMicros,
      settled: this.#settled,
      apps,
      running: running.join(' '),
      held: held.join(' '),
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
    const running = this.#running.get(key);
    if (running !== undefined) {
      if (kind === 'reserve') this.#running.set(key, { app: running.app, by: operation.by });
      return 'known';
    }
    if (kind === 'hold' && this.#held.has(task)) return 'known';
    this.#unhold(task);
    if (nowMs >= endsAtMs) return 'over';
    if (nowMs < endsAtMs - dayMs - earlyMs) return 'notYet';
    const name = String(app);
    if (kind === 'hold' && this.#held.size >= maxHeld) return 'full';
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
    else this.#running.set(key, { app, by: operation.by });
    this.#count(app, 1);
    this.#settleOldest();
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
      if (this.#running.get(key)?.by === operation.by) this.#end(key);
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

  /** Beyond what the state can hold, the oldest creates stay at what was expected of them. */
  #settleOldest(): void {
    for (const key of this.#running.keys()) {
      if (this.#running.size + this.#held.size * heldWeight <= maxOpen) return;
      this.#settle(key, null);
    }
  }

  #end(key: string): number | undefined {
    const running = this.#running.get(key);
    if (running === undefined) return undefined;
    this.#running.delete(key);
    this.#count(running.app, -1);
    return running.app;
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
    let sum = 0;
    for (const app of this.#apps) sum += tasks(app) * expectedMicros(app[1]);
    return sum;
  }
}

const taskLength = 10;
const byLength = 2;
const untilLength = 8;

function* readRunning(state = '', apps: readonly number[]): Generator<[string, Running]> {
  for (const entry of state.split(' ').filter(Boolean)) {
    const [place = '', create = '1'] = entry.slice(taskLength + byLength).split('/');
    const key = createKey({ task: entry.slice(0, taskLength), create: Number(create) });
    yield [key, { app: placedApp(apps, place), by: entry.slice(taskLength, taskLength + byLength) }];
  }
}

function* readHeld(state = '', apps: readonly number[]): Generator<[string, Hold]> {
  for (const entry of state.split(' ').filter(Boolean)) {
    const [until, place] = [entry.slice(taskLength, taskLength + untilLength), entry.slice(taskLength + untilLength)];
    yield [entry.slice(0, taskLength), { app: placedApp(apps, place), untilMs: Number.parseInt(until, 36) }];
  }
}

function placedApp(apps: readonly number[], place: string): number {
  return apps[Number.parseInt(place, 36)] ?? 0;
}

function createKey({ task, create }: CreateId): string {
  return `${task}/${create}`;
}
