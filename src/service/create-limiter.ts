import type { CreateOutcome } from '../core/create-outcome';
import { CreateGate, type CreateLimiterState, type Refusal, type RefusalCause, refusalIn } from './create-gate';
import { formatRate, steadyNow, TokenBucket } from './token-bucket';

class App extends CreateGate {
  readonly id: number;
  /** It was refused while another app was not: its refusals say nothing about the account. */
  isAlone = false;
  unanswered = 0;
  lastTurn = 0;
  seenMs = 0;
  takenMs = 0;
  lastReturnMs = 0;
  heldBackUntilMs = 0;

  constructor(id: number, now: () => number, uncertainPausesMs: readonly number[]) {
    super(now, uncertainPausesMs);
    this.id = id;
  }
}

export interface CreateLimiterView {
  readonly state: CreateLimiterState;
  readonly closedUntil: string | null;
  /** Null when it is open. */
  readonly reason: string | null;
  /** What has to change, for the account or else for an app; null while creates of all apps are sent. */
  readonly cause: RefusalCause | null;
  /** Why creates of these apps are held back although others are sent, by app id. */
  readonly apps: Readonly<Record<string, string>>;
  readonly waiting: number;
  readonly unanswered: number;
  readonly atOnce: number;
  /** What has to change may pass by itself: the service asked to wait. */
  readonly isForNow: boolean;
  /** Whether creates are late because of it, or were refused minutes ago and none was taken since. */
  readonly isHoldingBack: boolean;
}

export interface CreateLimiterOptions {
  readonly perSecond: number;
  /** How long it closes after each uncertain create in a row. @default 1 s, 5 min, 10 min */
  readonly uncertainPausesMs?: readonly number[];
  readonly onChange?: (change: 'closed' | 'still closed' | 'opened', limiter: CreateLimiterView) => void;
  /** How long a create may wait for its turn. @default 2000 */
  readonly patienceMs?: number;
  /** How many creates may wait: each holds a slot of the worker. @default 100 */
  readonly mostWaiting?: number;
  /** Milliseconds since 1970. @default {@link steadyNow} */
  readonly now?: () => number;
  /** Numbers in [0, 1). @default Math.random */
  readonly random?: () => number;
}

export interface HeldBack {
  /** When to try again, from now; at least 1. */
  readonly waitMs: number;
  /** What it waits for; without URLs and secrets. */
  readonly reason: string;
  /** Null: nothing is wrong, others are sent first. */
  readonly cause: RefusalCause | null;
}

interface Waiting {
  readonly app: App;
  readonly settle: (heldBack?: HeldBack) => void;
}

/** Concurrent creates at the start and after a rest; each reply allows one more. */
const firstAtOnce = 1;
const mostAtOnce = 64;
const restMs = 10_000;
const leastReturnMs = 500;
/** After this time a held back create that has not come again is gone: stopped, or sent by another worker. */
const missingAfterMs = 30_000;
const farMs = 30_000;
/** An app that asks for a longer wait may be alone with it, so another app is tried by then. */
const longestForOthersMs = 60_000;
/** For so long after a create of an app was taken, repeated refusals of another one are not a gateway's fault. */
const takenForMs = 60_000;
const yieldMs = 1_000;
/** For so long after the pause of several refusals, an answer to another request proves nothing about creates. */
const unprovenMs = 300_000;
const recheckEveryMs = 60_000;

/**
 * Limits the creates of one account in one worker: by rate, by concurrency, and to none while the service refuses them.
 *
 * A refusal closes the account and its app. Then one create is sent, of another app if one waits; unless creates were
 * refused only for now, a request that costs nothing comes first. A create that is taken opens the account and its app;
 * other closed apps then count as refused alone.
 */
export class CreateLimiter {
  readonly #options: Required<CreateLimiterOptions>;
  readonly #rate: TokenBucket;
  readonly #now: () => number;
  readonly #account: CreateGate;
  readonly #apps = new Map<number, App>();
  readonly #waiting = new Set<Waiting>();
  #workers = 1;
  #nextPlace: NodeJS.Timeout | undefined;
  #unanswered = 0;
  #atOnce = firstAtOnce;
  #answeredMs = 0;
  #turns = 0;
  #refusedApp: number | undefined;
  #recheckMs = 0;

  constructor(options: CreateLimiterOptions) {
    this.#options = {
      perSecond: options.perSecond,
      // At most three uncertain creates in a quarter of an hour.
      uncertainPausesMs: options.uncertainPausesMs ?? [1_000, 5 * 60_000, 10 * 60_000],
      onChange: options.onChange ?? (() => undefined),
      patienceMs: options.patienceMs ?? 2_000,
      mostWaiting: options.mostWaiting ?? 100,
      now: options.now ?? steadyNow,
      random: options.random ?? Math.random,
    };
    this.#now = this.#options.now;
    this.#rate = new TokenBucket(this.#options);
    this.#account = new CreateGate(this.#now, this.#options.uncertainPausesMs);
  }

  /** `undefined`: the create's turn has come; {@link report} or {@link withdraw} must follow. `check` costs nothing. */
  async acquire(webAppId: number, check: () => Promise<Refusal | undefined>): Promise<HeldBack | undefined> {
    const app = this.#app(webAppId);
    app.seenMs = this.#now();
    if (this.#unanswered === 0 && this.#now() - this.#answeredMs > restMs) this.#atOnce = firstAtOnce;
    // One create of each app may always wait; otherwise a busy app would take every free place.
    const isSoon =
      this.#rate.untilMs(this.#waiting.size + 1) <= this.#options.patienceMs ||
      (this.#apps.size > 1 && !this.#isWaiting(app));
    const mayWait = this.#closing(app) === undefined || this.#hasRoom(app);
    if (!mayWait || !isSoon || this.#waiting.size >= this.#options.mostWaiting) return this.heldBack(webAppId);
    const heldBack = await this.#turn(app);
    if (heldBack !== undefined || !(this.#account.needsCheck || app.needsCheck)) return heldBack;
    const refusal = await check();
    if (refusal === undefined) return undefined;
    this.#end(app, () => {
      this.#refused(app, refusal);
    });
    return this.heldBack(webAppId);
  }

  async #turn(app: App): Promise<HeldBack | undefined> {
    return await new Promise((resolve) => {
      const waiting: Waiting = {
        app,
        settle: (heldBack) => {
          clearTimeout(giveUp);
          this.#waiting.delete(waiting);
          resolve(heldBack);
        },
      };
      const giveUp = setTimeout(() => {
        waiting.settle(this.heldBack(app.id));
        this.#serve();
      }, this.#options.patienceMs);
      this.#waiting.add(waiting);
      this.#serve();
    });
  }

  /** Where creates were refused and none waits: asks, by a request that costs nothing, whether that lasts. */
  async recheck(check: () => Promise<Refusal | undefined>): Promise<void> {
    const isIdle = [...this.#apps.values()].every((app) => !this.#isAnyLate(app));
    const nowMs = this.#now();
    if (!isIdle || !this.#account.needsCheck || nowMs < Math.max(this.#recheckMs, this.#account.closedUntilMs)) return;
    this.#recheckMs = nowMs + recheckEveryMs;
    const refusal = await check();
    if (refusal === undefined) return;
    this.#account.close(refusal, this.#workers);
    this.#recheckMs = this.#account.closedUntilMs;
  }

  get #isUnproven(): boolean {
    return this.#account.isRepeated && this.#now() < this.#account.closedUntilMs + unprovenMs;
  }

  setRate(perSecond: number, workers: number): void {
    this.#workers = workers;
    this.#rate.setRate(perSecond);
    this.#serve();
  }

  /** Reports the outcome of a create whose turn had come. Its messages must be free of URLs and secrets. */
  report(webAppId: number, outcome: CreateOutcome): void {
    const app = this.#app(webAppId);
    const refusal = refusalIn(outcome);
    this.#end(app, () => {
      if (outcome.outcome === 'accepted') app.takenMs = this.#now();
      if (refusal !== undefined) this.#refused(app, refusal);
      else {
        this.#answeredMs = this.#now();
        // A reply to a create that was sent before the limiter closed does not open it.
        if (this.#closing(app)?.state !== 'closed') this.#open(app);
      }
    });
  }

  takes(webAppId: number): boolean {
    return this.#now() < this.#app(webAppId).takenMs + takenForMs;
  }

  withdraw(webAppId: number): void {
    this.#end(this.#app(webAppId), () => undefined);
  }

  /** When a held back create should try again, and why. The times of an app's creates are spread by the rate. */
  heldBack(webAppId: number): HeldBack {
    const app = this.#app(webAppId);
    const nowMs = this.#now();
    const closedMs = Math.max(this.#account.closedUntilMs, app.closedUntilMs) - nowMs;
    const placeMs = this.#rate.untilMs(this.#waiting.size + 1);
    const earliestMs = nowMs + (closedMs > 0 ? closedMs : Math.max(placeMs, leastReturnMs));
    app.lastReturnMs = Math.max(earliestMs, app.lastReturnMs + 1_000 / this.#rate.perSecond);
    const isFar = app.lastReturnMs > earliestMs + farMs;
    const returnMs = isFar ? earliestMs + farMs * this.#options.random() : app.lastReturnMs;
    app.heldBackUntilMs = Math.max(app.heldBackUntilMs, returnMs);
    const last = this.#closing(app)?.last;
    const inTurn =
      this.#unanswered >= this.#atOnce
        ? `${this.#unanswered} creates wait for the service’s answer`
        : `creates are limited to ${formatRate(this.#rate.perSecond)} in this worker`;
    const waitMs = Math.max(1, Math.ceil(returnMs - nowMs));
    return { waitMs, reason: last?.reason ?? inTurn, cause: last?.cause ?? null };
  }

  view(): CreateLimiterView {
    const apps = [...this.#apps.values()];
    const alone = apps.filter(({ isAlone, state }) => isAlone && state !== 'open');
    const [first] = apps.toSorted((one, other) => one.closedUntilMs - other.closedUntilMs);
    const closing = first && this.#closing(first);
    const closedUntilMs = Math.max(this.#account.closedUntilMs, first?.closedUntilMs ?? 0);
    const last = closing?.last ?? alone[0]?.last;
    return {
      state: closing?.state ?? 'open',
      closedUntil: closing?.state === 'closed' ? new Date(closedUntilMs).toISOString() : null,
      reason: closing?.last.reason ?? null,
      cause: last?.cause ?? null,
      isForNow: last?.isForNow === true,
      apps: Object.fromEntries(alone.map(({ id, last }) => [id, last.reason])),
      waiting: this.#waiting.size,
      unanswered: this.#unanswered,
      atOnce: this.#atOnce,
      isHoldingBack: this.#isUnproven || apps.some((app) => this.#closing(app) !== undefined && this.#isAnyLate(app)),
    };
  }

  #app(id: number): App {
    const known = this.#apps.get(id);
    if (known !== undefined) return known;
    for (const app of this.#apps.values()) {
      const isSeen = this.#now() < app.seenMs + missingAfterMs;
      if (!isSeen && app.state !== 'closed' && !this.#isAnyLate(app)) this.#apps.delete(app.id);
    }
    const app = new App(id, this.#now, this.#options.uncertainPausesMs);
    this.#apps.set(id, app);
    return app;
  }

  #isWaiting(app: App): boolean {
    return [...this.#waiting].some((waiting) => waiting.app === app);
  }

  #isAnyLate(app: App): boolean {
    return this.#now() < app.heldBackUntilMs + missingAfterMs || app.unanswered > 0 || this.#isWaiting(app);
  }

  #closing(app: App): CreateGate | undefined {
    const gates = [this.#account, app].filter(({ state }) => state !== 'open');
    return gates.find(({ state }) => state === 'closed') ?? gates[0];
  }

  #hasRoom(app: App): boolean {
    if (this.#closing(app)?.state === 'closed') return false;
    if (app.state === 'probing' && app.unanswered > 0) return false;
    return this.#unanswered < (this.#account.state === 'probing' ? 1 : this.#atOnce);
  }

  #serve(): void {
    for (const { app, settle } of this.#waiting) {
      if (this.#closing(app)?.state === 'closed') settle(this.heldBack(app.id));
    }
    for (let next = this.#next(); next !== undefined && this.#rate.untilMs() === 0; next = this.#next()) {
      this.#rate.take();
      this.#unanswered += 1;
      next.app.unanswered += 1;
      next.app.lastTurn = this.#turns += 1;
      next.settle();
    }
    clearTimeout(this.#nextPlace);
    if (this.#next() === undefined) return;
    this.#nextPlace = setTimeout(() => {
      this.#serve();
    }, this.#rate.untilMs());
  }

  #next(): Waiting | undefined {
    const mayGo = [...this.#waiting].filter(({ app }) => this.#hasRoom(app));
    return mayGo.toSorted((one, other) => one.app.lastTurn - other.app.lastTurn)[0];
  }

  #end(app: App, learn: () => void): void {
    this.#unanswered -= 1;
    app.unanswered -= 1;
    learn();
    this.#serve();
  }

  #open(app: App): void {
    const isOpened = [this.#account, app].map((gate) => gate.open());
    app.isAlone = false;
    for (const other of this.#apps.values()) if (other.state !== 'open') other.isAlone = true;
    this.#atOnce = Math.min(mostAtOnce, this.#atOnce + 1);
    if (isOpened.includes(true)) this.#options.onChange('opened', this.view());
  }

  #refused(app: App, refusal: Refusal): void {
    const isOfAccountToo = refusal.cause === 'account' || !app.isAlone;
    let change: ReturnType<CreateGate['close']>;
    if (isOfAccountToo) {
      const retryAfterMs = Math.min(refusal.retryAfterMs, longestForOthersMs);
      const isRepeated = refusal.cause === 'service' && this.#refusedApp === app.id;
      change = this.#account.close({ ...refusal, retryAfterMs }, this.#workers, isRepeated);
      this.#refusedApp = app.id;
      if (change !== undefined) this.#atOnce = firstAtOnce;
    }
    if (refusal.cause === 'service') {
      const ownChange = app.close(refusal, this.#workers);
      if (!isOfAccountToo) change = ownChange;
      else if (ownChange !== undefined && this.#apps.size > 1) {
        app.closedUntilMs = Math.max(app.closedUntilMs, this.#account.closedUntilMs + yieldMs);
      }
    }
    if (change === undefined) return;
    for (const one of this.#apps.values()) one.lastReturnMs = 0;
    this.#options.onChange(change, this.view());
  }
}
