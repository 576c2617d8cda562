import type { CreateOutcome } from '../domain/create-outcome';
import type { GateAnswer } from '../domain/gate-answer';
import { type Asker, GateLine } from './gate-line';
import type { GateListener, GateState, GateView } from './gate-view';
import { Rate } from './rate';

/** What a gate is made of. */
export interface GateOptions {
  /** Creates a second, on average. */
  readonly perSecond: number;
  readonly onChange?: GateListener;
  /** The clock, in milliseconds since 1970. @default Date.now */
  readonly now?: () => number;
  /** Numbers in [0, 1). @default Math.random */
  readonly dice?: () => number;
}

/** How long it stays closed after the first refusal; doubles with each further one, up to {@link longestPauseMs}. */
const firstPauseMs = 1_000;
const longestPauseMs = 60_000;
/** Creates at once while nothing is known of the service; each one that it takes allows one more. */
const firstAtOnce = 4;
const mostAtOnce = 256;
/** A create takes about this long to be answered. Only for estimates of when it is somebody's turn. */
const usualAnswerMs = 400;
/**
 * A create that has not reported back after this most likely runs in another worker, which hears of it instead: with
 * three workers about every third did (measured). Where it is just slow, one more goes through meanwhile.
 */
const lostAfterMs = 10_000;
/** Whose turn is further off comes back before, for the line may have moved faster. */
const farMs = 30_000;

/**
 * What holds back the creates of one account in one worker. It keeps nobody waiting: whoever asks hears "go now", or
 * when to ask again and why, so that a waiting task costs a durable timer and nothing else. The answers of a crowd are
 * spread, and its order is that of the first questions.
 *
 * A create that the service refuses for now, or fails, closes it, for as long as the service asks and at least for a
 * pause that doubles. Then one create goes through; what becomes of it opens the gate or closes it again. An open gate
 * begins with a few creates at once and allows one more with each that is answered, so that a service in trouble is met
 * by a handful.
 */
export class Gate {
  readonly #rate: Rate;
  readonly #perSecond: number;
  readonly #onChange: GateListener;
  readonly #now: () => number;
  readonly #dice: () => number;
  readonly #line = new GateLine();
  /** When each create that has not reported back went through, oldest first. */
  #unanswered: readonly number[] = [];
  #atOnce = firstAtOnce;
  /** Refusals since the last create that was answered. */
  #refusals = 0;
  #closedUntilMs = 0;
  #trouble = '';

  constructor({ perSecond, onChange = () => undefined, now = Date.now, dice = Math.random }: GateOptions) {
    this.#rate = new Rate({ perSecond, now });
    this.#perSecond = perSecond;
    this.#onChange = onChange;
    this.#now = now;
    this.#dice = dice;
  }

  /** May this task send its create now? One that may must do so, or {@link withdraw}. */
  ask(asker: Asker): GateAnswer {
    const nowMs = this.#now();
    this.#forgetLost(nowMs);
    const ahead = this.#line.ahead(asker, nowMs);
    const waitMs = this.#untilTurnMs(ahead, nowMs);
    if (waitMs === 0) {
      this.#line.leave(asker);
      this.#rate.take();
      this.#unanswered = [...this.#unanswered, nowMs];
      return { pass: true };
    }
    const spreadMs = Math.ceil(waitMs + this.#dice() * this.#paceMs());
    this.#line.expect(asker, nowMs + spreadMs);
    return { pass: false, waitMs: spreadMs, reason: this.#reason(ahead, nowMs) };
  }

  /** What became of a create that went through. Its words must be free of URLs and secrets. */
  report(outcome: CreateOutcome): void {
    this.withdraw();
    switch (outcome.outcome) {
      case 'accepted':
        this.#answered();
        break;
      case 'rejected':
        // A final no is about that one task: the service answers.
        if (outcome.retryable) this.#refused(refusalInWords(outcome), outcome.retryAfterMs);
        else this.#answered();
        break;
      case 'notSent':
        this.#refused(`the last create could not be sent: ${outcome.reason}`);
        break;
      case 'uncertain':
        this.#refused(`the last create got no usable answer: ${outcome.reason}`);
        break;
    }
  }

  /** A create that went through was not sent after all, for a reason of its own. */
  withdraw(): void {
    this.#unanswered = this.#unanswered.slice(1);
  }

  /** As people look at it. */
  view(): GateView {
    const nowMs = this.#now();
    const state = this.#state(nowMs);
    return {
      state,
      closedUntil: state === 'closed' ? new Date(this.#closedUntilMs).toISOString() : null,
      reason: state === 'open' ? null : this.#trouble,
      waiting: this.#line.length(nowMs),
      unanswered: this.#unanswered.length,
      atOnce: this.#atOnce,
    };
  }

  #state(nowMs: number): GateState {
    if (nowMs < this.#closedUntilMs) return 'closed';
    return this.#refusals > 0 ? 'probing' : 'open';
  }

  /** 0: now. While it is closed, the turns are those of a gate that has just opened. */
  #untilTurnMs(ahead: number, nowMs: number): number {
    const closedMs = this.#closedUntilMs - nowMs;
    if (closedMs > 0) return closedMs + this.#nearMs(ahead * Math.max(this.#paceMs(), 1_000 / this.#perSecond));
    const isFull = this.#unanswered.length + ahead >= this.#atOnce;
    return this.#nearMs(Math.max(this.#rate.untilMs(ahead + 1), isFull ? this.#untilRoomMs(ahead, nowMs) : 0));
  }

  /** What has gone unanswered for long will most likely do so as long again. */
  #untilRoomMs(ahead: number, nowMs: number): number {
    const oldestMs = nowMs - (this.#unanswered[0] ?? nowMs);
    return Math.max(usualAnswerMs, oldestMs) / this.#atOnce + ahead * this.#paceMs();
  }

  /** Spreads, too, those who are all to come back before their turn. */
  #nearMs(waitMs: number): number {
    return waitMs <= farMs ? waitMs : (farMs / 2) * (1 + this.#dice());
  }

  /** How long it takes from one turn to the next. */
  #paceMs(): number {
    return usualAnswerMs / Math.max(firstAtOnce, this.#atOnce);
  }

  #answered(): void {
    const nowMs = this.#now();
    // One that was on its way when others were refused says nothing about those that come.
    if (nowMs < this.#closedUntilMs) return;
    const wasShut = this.#refusals > 0;
    this.#refusals = 0;
    this.#atOnce = Math.min(mostAtOnce, this.#atOnce + 1);
    if (wasShut) this.#onChange('opened', this.view());
  }

  #refused(trouble: string, retryAfterMs = 0): void {
    const nowMs = this.#now();
    if (nowMs < this.#closedUntilMs) {
      // It went through before the gate closed; what the service asks for holds all the same.
      this.#closedUntilMs = Math.max(this.#closedUntilMs, nowMs + retryAfterMs);
      return;
    }
    const wasShut = this.#refusals > 0;
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(this.#refusals, 20));
    this.#refusals += 1;
    this.#atOnce = 1;
    this.#trouble = trouble;
    this.#closedUntilMs = nowMs + Math.max(retryAfterMs, pauseMs);
    this.#onChange(wasShut ? 'still closed' : 'closed', this.view());
  }

  #forgetLost(nowMs: number): void {
    this.#unanswered = this.#unanswered.filter((passedAtMs) => nowMs - passedAtMs < lostAfterMs);
  }

  #reason(ahead: number, nowMs: number): string {
    const before = ahead === 0 ? '' : `; ${ahead === 1 ? '1 task is' : `${ahead} tasks are`} before this one`;
    return `${this.#obstacle(nowMs)}${before}`;
  }

  #obstacle(nowMs: number): string {
    switch (this.#state(nowMs)) {
      case 'closed':
        return this.#trouble;
      case 'probing':
        return `${this.#trouble}; another one is to show whether it takes them again`;
      case 'open':
        return this.#unanswered.length >= this.#atOnce
          ? `${this.#unanswered.length} creates wait for the service’s answer`
          : `creates are limited to ${this.#perSecond} a second`;
    }
  }
}

function refusalInWords({ httpStatus, message }: { readonly httpStatus: number; readonly message: string }): string {
  return `the service refused the last create (HTTP ${httpStatus}: ${message})`;
}
