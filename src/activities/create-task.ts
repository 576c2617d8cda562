import { randomUUID } from 'node:crypto';
import { activityInfo, Context, heartbeat, log } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { CreateHeartbeat, CreateTaskInput, CreateTaskResult, LostCreate } from '../contract/activities';
import { failureTypes, waitsForTurn } from '../contract/failure-types';
import type { CreateOutcome, CreateRejected } from '../core/create-outcome';
import { errorMessage } from '../core/text';
import { formatDuration } from '../core/time';
import type { CreateTaskAsyncOptions, CreateTaskRequest, ServiceClient } from '../service';
import { isOfAccount, isOfWay } from '../service/create-gate';
import type { CreateLimiter } from '../service/create-limiter';
import type { ArchiveIdentity } from '../storage/archive/archive-identity';
import { type AccountKey, accountKey, type AccountPatience, getLimits, getService, requireAllowed } from './accounts';
import { workerClock } from './clock';
import { CreateRecordFile } from './create-record';
import { callbackOptions, checkService, sendCreate, toCreateRequest, withFileHint } from './create-request';
import { CreateReservation } from './daily-budgets';
import type { ActivityDependencies } from './dependencies';
import { confirmHeartbeat, readCreateHeartbeat } from './heartbeat';
import { notNow, ownWorkflowId, refusedForNow, toApplicationFailure } from './to-application-failure';

/** So long before its timeout an attempt neither waits for another's answer nor sends. */
const marginMs = 3_000;
const othersFirstMs = 500;
/** Gateway refusals before a create fails while others are taken; they last longer than the minute of `takes`. */
const mostOfWay = 8;
const confirmWithinMs = 5_000;
/** With a slower create record the request id goes into a heartbeat, too. */
const completeWithinMs = 300;

/**
 * One attempt to create a task (specification, section 4.1; decision 22). It sends the request at most once, and only
 * with a create record of its own.
 *
 * | it ends with          | what that proves                                                              |
 * | --------------------- | ----------------------------------------------------------------------------- |
 * | a retryable failure   | nothing was sent that could have been taken: Temporal may retry it            |
 * | a final failure       | nothing was sent, and no attempt would: the task ends unpaid                  |
 * | accepted              | the task exists; its id is in the create record, or in the heartbeat          |
 * | rejected              | no task exists, and the same request would be refused again                   |
 * | uncertain             | a task may exist: never sent again by itself; the record stays without an id  |
 * | no end, with an id    | the worker died after the answer: the next attempt takes the heartbeat's id   |
 * | no end, without an id | the worker died: the create record in the archive of the heartbeat says more  |
 *
 * A cancellation counts only before it claims the record, and the worker's shutdown never: the answer to a create in
 * flight is always waited for.
 */
export async function createTask(
  dependencies: ActivityDependencies,
  archive: ArchiveIdentity,
  patience: AccountPatience,
  input: CreateTaskInput,
): Promise<CreateTaskResult> {
  return await new CreateAttempt(dependencies, archive, patience, input).run();
}

class CreateAttempt {
  readonly #begun = { steadyMs: performance.now(), wallMs: workerClock() };
  readonly #workflowId = ownWorkflowId();
  readonly #previous = readCreateHeartbeat(activityInfo().heartbeatDetails);
  readonly #refused = this.#previous?.refused ?? 0;
  /** That of an earlier attempt that provably created nothing and may have left its record, else a new one. */
  readonly #maker = this.#previous?.maker ?? randomUUID();
  readonly #dependencies: ActivityDependencies;
  readonly #archive: ArchiveIdentity;
  readonly #patience: AccountPatience;
  readonly #input: CreateTaskInput;
  readonly #key: AccountKey;
  readonly #options: CreateTaskAsyncOptions;
  readonly #record: CreateRecordFile;
  readonly #reservation: CreateReservation;

  constructor(
    dependencies: ActivityDependencies,
    archive: ArchiveIdentity,
    patience: AccountPatience,
    input: CreateTaskInput,
  ) {
    const { createNumber, createDigest, account, webAppId } = input;
    this.#dependencies = dependencies;
    this.#archive = archive;
    this.#patience = patience;
    this.#input = input;
    this.#key = accountKey(dependencies, account);
    this.#options = callbackOptions(dependencies.callback, this.#workflowId, createNumber);
    const callbackAsked = this.#options.callback !== undefined;
    const own = { maker: this.#maker, callbackAsked, createDigest, account, webAppId };
    this.#record = new CreateRecordFile(dependencies.archive, this.#workflowId, createNumber, own);
    this.#reservation = new CreateReservation(dependencies.dailyBudgets, { ...input, workflowId: this.#workflowId });
  }

  async run(): Promise<CreateTaskResult> {
    const { lost, webAppId, inputs } = this.#input;
    const known = await this.#previousOutcome();
    if (known !== undefined) return known;
    if (lost !== undefined) return await this.#outcomeOf(lost);
    const { service, limiter } = await this.#admit();
    let request: CreateTaskRequest;
    let archiveId: string | undefined;
    let isOurs: boolean;
    try {
      request = await toCreateRequest(service, this.#input);
      const paid = await this.#reserve();
      if (paid !== undefined) {
        limiter.withdraw(webAppId);
        return { ...paid, sent: this.#refused + 1 };
      }
      archiveId = await this.#confirm();
      isOurs = await this.#record.claim();
      if (isOurs) this.#requireInTime();
    } catch (error) {
      limiter.withdraw(webAppId);
      await this.#reservation.release();
      if (archiveId !== undefined) {
        await keep('release', () => this.#record.releaseUnsent());
        this.#tellReleased(archiveId);
      }
      throw this.#toFailure(error);
    }
    if (!isOurs) {
      limiter.withdraw(webAppId);
      await this.#reservation.release();
      return await this.#outcomeOfOther(archiveId);
    }
    const answer = await sendCreate(service, request, this.#options, this.#key);
    return await this.#conclude(limiter, archiveId, withFileHint(answer, inputs));
  }

  async #outcomeOfOther(archiveId: string): Promise<CreateTaskResult> {
    try {
      const other = await this.#record.find(this.#leftMs, (untilMs) => {
        heartbeat(this.#toHeartbeat(archiveId, { waitsUntil: new Date(untilMs).toISOString() }));
      });
      if (other !== undefined) return { ...other, sent: this.#refused + 1 };
      const words = `The create was not sent: another one had its record (${this.#record.place}), which is gone now`;
      throw notNow(failureTypes.ArchiveUnavailable, words);
    } catch (error) {
      this.#tellReleased(archiveId);
      throw this.#toFailure(error);
    }
  }

  /** What is in flight elsewhere ends within the time of an attempt. */
  get #leftMs(): number {
    return Math.max(0, activityInfo().startToCloseTimeoutMs - marginMs - this.#elapsedMs);
  }

  /** One clock may be set back; the other stands still while the machine sleeps. */
  get #elapsedMs(): number {
    const { steadyMs, wallMs } = this.#begun;
    return Math.max(performance.now() - steadyMs, workerClock() - wallMs);
  }

  /** `undefined`: the attempt before sent nothing, or there was none. */
  async #previousOutcome(): Promise<CreateTaskResult | undefined> {
    const previous = this.#previous;
    if (previous === undefined || previous.isReleased === true) return undefined;
    const { requestId, archiveId } = previous;
    if (requestId !== undefined) {
      await keep('complete', () => this.#record.addRequestId(requestId));
      return { outcome: 'accepted', requestId, sent: this.#refused + 1 };
    }
    const outcome = await this.#outcomeOf({ archiveId, reason: 'the worker of an attempt before gave no answer' });
    return outcome.outcome === 'notSent' ? undefined : { ...outcome, sent: this.#refused + 1 };
  }

  async #outcomeOf({ archiveId, reason }: LostCreate): Promise<CreateOutcome> {
    const found = await this.#record.find(this.#leftMs);
    // After the record was read: an archive that is unavailable or exchanged proves nothing.
    await this.#archive.requireSame({ anew: true });
    const isThere = (await this.#archive.get()) === archiveId;
    if (found?.outcome === 'accepted') return found;
    if (found?.outcome === 'uncertain') {
      return { ...found, reason: `${reason}; it was about to send the create, or had sent it` };
    }
    if (isThere) return { outcome: 'notSent', reason: `${reason}; it had not begun to send it` };
    const words = `${reason}, and it kept create records in another archive than this worker (${this.#dependencies.archive.location}): give all workers of a task queue the same LONGHAUL_ARCHIVE`;
    return { outcome: 'uncertain', reason: words, callbackAsked: true };
  }

  async #admit(): Promise<{ readonly service: ServiceClient; readonly limiter: CreateLimiter }> {
    const { account, webAppId, choices } = this.#input;
    let service: ServiceClient;
    let limiter: CreateLimiter;
    try {
      requireAllowed(this.#dependencies.allowed, choices);
      service = getService(this.#dependencies, account);
      limiter = getLimits(this.#dependencies, account).creates;
      this.#patience.forget(this.#step);
    } catch (error) {
      throw this.#toFailure(error);
    }
    if (isTooLate(performance.now() - this.#begun.steadyMs)) {
      const words = `The create was not sent before the task’s total deadline. ${limiter.view().reason ?? ''}`.trim();
      throw ApplicationFailure.nonRetryable(words, failureTypes.DeadlineExceeded);
    }
    const heldBack = await limiter.acquire(webAppId, () => checkService(service, this.#key));
    if (heldBack === undefined) return { service, limiter };
    const { cause, reason, waitMs } = heldBack;
    const type = { account: failureTypes.AccountRefused, service: failureTypes.ServiceUnavailable };
    const words = `The create waits for its turn in the account "${account}": ${reason}`;
    throw notNow(cause === null ? waitsForTurn : type[cause], words, waitMs);
  }

  /** Reserves the expected cost in the daily budget. If that is refused, returns what the create record has. */
  async #reserve(): Promise<CreateOutcome | undefined> {
    const problem = this.#dependencies.dailyBudgets?.problem(this.#input);
    const refusal = problem === undefined ? await this.#reservation.make() : undefined;
    if (problem === undefined && refusal === undefined) return undefined;
    const before = await this.#record.find(this.#leftMs);
    if (before !== undefined) return before;
    if (refusal !== undefined) throw notNow(failureTypes.DailyBudgetReached, refusal.words, refusal.waitMs);
    throw ApplicationFailure.nonRetryable(`Nothing was created: ${problem}`, failureTypes.BudgetUnusable);
  }

  /** Has Temporal confirm this attempt and the archive of its record. Throws when nothing may be sent. */
  async #confirm(): Promise<string> {
    const archiveId = await this.#archive.get();
    if (this.#previous !== undefined && this.#previous.archiveId !== archiveId) {
      this.#tellReleased(archiveId);
      const words = `the archive of this worker (${this.#dependencies.archive.location}) is not that of another worker of this task queue, so create records do not protect each other: give all of them the same LONGHAUL_ARCHIVE`;
      throw ApplicationFailure.retryable(words, failureTypes.ArchiveUnavailable);
    }
    // An archive that was unmounted, emptied or exchanged protects nothing.
    await this.#archive.requireSame();
    try {
      await confirmHeartbeat(Context.current(), this.#toHeartbeat(archiveId, {}), confirmWithinMs);
    } catch (error) {
      const words = `The create was not sent: Temporal did not let it (${errorMessage(error)})`;
      throw notNow(failureTypes.ServiceUnavailable, words);
    }
    return archiveId;
  }

  /** Retryable: no workflow would follow a task that is paid after the attempt's time. */
  #requireInTime(): void {
    const elapsedMs = this.#elapsedMs;
    const { startToCloseTimeoutMs } = activityInfo();
    if (elapsedMs < Math.max(startToCloseTimeoutMs / 2, startToCloseTimeoutMs - marginMs)) return;
    const words = `the create could be sent only after ${formatDuration(elapsedMs)}, too late to receive the answer: check whether the archive hangs or the worker was suspended`;
    throw ApplicationFailure.retryable(words, failureTypes.ArchiveUnavailable);
  }

  /** Makes the outcome durable. Throws only what Temporal may retry. */
  async #conclude(limiter: CreateLimiter, archiveId: string, outcome: CreateOutcome): Promise<CreateTaskResult> {
    const { webAppId } = this.#input;
    const sent = this.#refused + 1;
    const callbackAsked = this.#options.callback !== undefined;
    limiter.report(webAppId, outcome);
    if (outcome.outcome === 'accepted') {
      await this.#keepRequestId(archiveId, outcome.requestId);
      return { ...outcome, callbackAsked: callbackAsked || undefined, sent };
    }
    if (outcome.outcome === 'uncertain') {
      return { ...outcome, callbackAsked, sentAtMs: this.#record.sentAtMs, sent };
    }
    await keep('release', () => this.#record.release());
    await this.#reservation.release({ isProven: true });
    if (outcome.outcome === 'rejected' && this.#isFinal(outcome, limiter)) return { ...outcome, sent };
    this.#tellReleased(archiveId, this.#refused + (outcome.outcome === 'rejected' ? 1 : 0));
    throw refusedForNow(outcome, limiter.heldBack(webAppId).waitMs + othersFirstMs);
  }
  /** The create record keeps it; if that is slow or fails, a heartbeat does in case the worker dies. */
  async #keepRequestId(archiveId: string, requestId: string): Promise<void> {
    const tell = (): void => {
      heartbeat(this.#toHeartbeat(archiveId, { requestId }));
    };
    const late = setTimeout(tell, completeWithinMs);
    await keep('complete', () =>
      this.#record.complete(requestId).catch((error: unknown) => {
        tell();
        throw error;
      }),
    );
    clearTimeout(late);
  }

  /** Refusals by a gateway are final only after many attempts, while other creates are taken. */
  #isFinal(outcome: CreateRejected, limiter: CreateLimiter): boolean {
    if (outcome.retryable || isOfAccount(outcome)) return false;
    return !isOfWay(outcome) || (this.#refused >= mostOfWay && limiter.takes(this.#input.webAppId));
  }

  /** Before anything is sent: passing faults are retryable, and a final one ends the task unpaid. */
  #toFailure(error: unknown): Error {
    return toApplicationFailure(error, this.#key, () => this.#patience.isOver(this.#step));
  }

  get #step(): string {
    return `${this.#workflowId} create`;
  }

  /** Lets the next attempt send, perhaps with another archive: this one created nothing, and is over. */
  #tellReleased(archiveId: string, refused = this.#refused): void {
    heartbeat(this.#toHeartbeat(archiveId, { isReleased: true, maker: this.#maker }, refused));
  }

  #toHeartbeat(archiveId: string, said: Partial<CreateHeartbeat>, refused = this.#refused): CreateHeartbeat {
    return { archiveId, ...said, refused: refused > 0 ? refused : undefined };
  }
}

/** Whether Temporal could cut off what this attempt sends; by its own clock. @internal exported for tests */
export function isTooLate(elapsedMs: number): boolean {
  const info = activityInfo();
  const deadlineMs = info.scheduledTimestampMs + info.scheduleToCloseTimeoutMs - info.startToCloseTimeoutMs;
  return info.currentAttemptScheduledTimestampMs + elapsedMs > deadlineMs;
}

/** The service has answered, so nothing is thrown any more. */
async function keep(what: string, action: () => Promise<void>): Promise<void> {
  await action().catch((error: unknown) => {
    log.warn('create record not kept', { what, error: errorMessage(error) });
  });
}
