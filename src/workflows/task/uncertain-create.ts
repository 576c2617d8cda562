import { allHandlersFinished, condition, upsertMemo } from '@temporalio/workflow';
import { sentAtMemo } from '../../contract/search-attributes';
import { formatMoment, formatServiceMoment } from '../../domain/time';
import type { CreateUncertain } from '../../domain/create-outcome';
import { untilTotalDeadlineMs } from './deadlines';
import { type Decision, uncertainDecisions } from './decisions';
import { taskFailure } from '../failures';
import { checkCandidate } from './adoption';
import type { Candidate } from './candidate-request-ids';
import { continueWhenLong, waitBounded } from './continue-as-new';
import type { UncertainWait } from './continue-as-new-state';
import type { TaskRun } from './task-run';

/** Request ids of callbacks that the service is asked about side by side. */
const askedAtOnce = 10;

/**
 * It is not known whether the task exists: by policy, by a person's decision, or by a callback whose request id the
 * service confirms; never by itself.
 */
export async function resolveUncertain(run: TaskRun, create: CreateUncertain, begunMs: number): Promise<void> {
  const uncertaintyReason = `It is not known whether the service created the task: ${create.reason}.`;
  const wait = openWait(run, create, begunMs);
  Object.assign(run.state, { uncertaintyReason, problem: uncertaintyReason });
  const atOnce = new UncertainPolicyInForce(run, wait).due();
  if (atOnce !== undefined) {
    carryOut(run, uncertaintyReason, atOnce);
    return;
  }
  run.state.uncertain = wait;
  upsertMemo({ [sentAtMemo]: wait.sentAtMs });
  run.decisions.open(uncertainDecisions);
  await decideUncertain(run);
}

/** Waits for the decision about an uncertain create, if there is one that waits; a previous run may have begun it. */
export async function decideUncertain(run: TaskRun): Promise<void> {
  const { uncertain: wait, uncertaintyReason = '' } = run.state;
  if (wait === undefined) return;
  const found = await findDecision(run, wait);
  // A request id that a person gave may be on its way to the service: that is known in a moment.
  await condition(allHandlersFinished);
  run.state.parkedMs += Date.now() - wait.sinceMs;
  delete run.state.uncertain;
  // The status says already what will happen.
  carryOut(run, uncertaintyReason, run.decisions.close() ?? found);
}

/** `undefined`: a stop ended the wait. */
function carryOut(run: TaskRun, uncertaintyReason: string, decision: Decision | undefined): void {
  switch (decision?.kind) {
    case 'adopt':
      run.accept(decision.requestId);
      break;
    case 'recreate':
      raiseCreateNumber(run);
      break;
    case undefined:
      throw stopUnconfirmed(uncertaintyReason);
    default:
      throw givenUp(uncertaintyReason, run.state.createNumber);
  }
}

/** Waits for a decision, exempt from the task's deadlines, and asks the service about what callbacks bring. */
async function findDecision(run: TaskRun, wait: UncertainWait): Promise<Decision | undefined> {
  const { decisions, candidates } = run;
  const policy = new UncertainPolicyInForce(run, wait);
  showUncertain(run, wait, policy);
  for (;;) {
    const { arrived } = candidates;
    const requestId = await confirmedCandidate(run, wait);
    if (requestId !== undefined) return { kind: 'adopt', requestId };
    const isSettled = (): boolean => decisions.hasDecision || run.isCancellationRequested;
    if (isSettled()) return undefined;
    const byPolicy = policy.due();
    if (byPolicy !== undefined) return byPolicy;
    showUncertain(run, wait, policy);
    const isWokenUp = (): boolean => isSettled() || candidates.arrived > arrived;
    await waitBounded(run, isWokenUp, untilNextRound(run, wait, policy));
    wait.rounds += 1;
    await continueWhenLong(run);
  }
}

/** What the first page of the Web UI shows of a task that waits: the summary of its timer. */
const waitsForYou = 'Waits for you: adopt, recreate or abandon. User Metadata tells more';
/** A wait without an end has a timer, too, for its summary. */
const endlessWaitMs = 30 * 86_400_000;

/** Until the service is asked again, the policy decides, or something comes in. */
function untilNextRound(
  run: TaskRun,
  wait: UncertainWait,
  policy: UncertainPolicyInForce,
): { readonly ms: number; readonly summary: string } {
  if (!run.candidates.isEmpty)
    return { ms: pauseMs(run, wait), summary: `${waitsForYou}; then the service is asked again` };
  const ms = policy.untilDueMs();
  if (ms !== undefined) return { ms, summary: `${waitsForYou}; then the policy onUncertain decides` };
  return { ms: endlessWaitMs, summary: waitsForYou };
}

/**
 * The first of the callbacks' request ids that the service confirms. The callback will not come again, so a service that
 * does not answer is asked once more later, and "no such task" is "not visible yet" for a while.
 */
async function confirmedCandidate(run: TaskRun, wait: UncertainWait): Promise<string | undefined> {
  const undecided = run.candidates.list();
  for (let next = 0; next < undecided.length; next += askedAtOnce) {
    const some = undecided.slice(next, next + askedAtOnce);
    const answers = await Promise.all(some.map((candidate) => isConfirmed(run, wait, candidate)));
    const confirmed = some[answers.indexOf(true)];
    if (confirmed !== undefined) return confirmed.requestId;
    if (run.decisions.hasDecision || run.isCancellationRequested) return undefined;
  }
  return undefined;
}

async function isConfirmed(run: TaskRun, { notBeforeMs }: UncertainWait, candidate: Candidate): Promise<boolean> {
  const { requestId, sinceMs } = candidate;
  const verdict = await checkCandidate(run, requestId, notBeforeMs);
  const isLate = Date.now() - sinceMs >= run.plan.tuning.notVisibleGraceMs;
  if (verdict === 'refuted' || (verdict === 'unknown' && isLate)) run.candidates.remove(requestId);
  return verdict === 'confirmed';
}

function pauseMs({ plan: { tuning } }: TaskRun, { rounds }: UncertainWait): number {
  return Math.min(tuning.createRetryMaxMs, tuning.createRetryMs * 2 ** Math.min(rounds, 20));
}

function showUncertain(run: TaskRun, wait: UncertainWait, policy: UncertainPolicyInForce): void {
  const { sentAtMs } = wait;
  const confirmation = run.candidates.isEmpty
    ? ''
    : 'the service to confirm the request id that a callback brought, or ';
  run.display.show(
    'CreateUncertain',
    `${confirmation}your decision: adopt, recreate or abandon${policy.words()}`,
    `find the task in the service’s own list: of app ${run.plan.webAppId ?? ''}, created at ${formatMoment(sentAtMs)} (${formatServiceMoment(sentAtMs)} there) or later: a service that recovers may still create it; nothing is sent automatically`,
  );
}

function raiseCreateNumber(run: TaskRun): void {
  run.state.createNumber += 1;
  // They answer the create before.
  run.candidates.clear();
  // The client reads it here when the task is started again under the same key.
  upsertMemo({ createNumber: run.state.createNumber });
}

/** A stop that cannot be confirmed, because there is no request id to stop. */
export function stopUnconfirmed(uncertaintyReason: string): Error {
  return taskFailure('StopUnconfirmed', `${uncertaintyReason} So the stop cannot be confirmed.`, { requestId: null });
}

function givenUp(uncertaintyReason: string, createNumber: number): Error {
  const words = 'The policy onUncertain or a person chose not to wait. If it exists, follow it with its request id.';
  return taskFailure('CreateUncertain', `${uncertaintyReason} ${words}`, { createNumber });
}

/** The wait about a create whose outcome has just turned out to be unknown. */
function openWait(
  run: TaskRun,
  { callbackAsked = false, sentAtMs = Infinity }: CreateUncertain,
  begunMs: number,
): UncertainWait {
  const nowMs = Date.now();
  const waitMs = run.plan.uncertainWaitMs ?? (callbackAsked ? untilTotalDeadlineMs(run) : 0);
  // One that an earlier run sent has a record of before this run began.
  const notBeforeMs = Math.min(sentAtMs, begunMs);
  const isKnown = Number.isFinite(sentAtMs);
  return {
    sinceMs: nowMs,
    sentAtMs: isKnown ? sentAtMs : notBeforeMs,
    notBeforeMs,
    actAtMs: nowMs + waitMs,
    rounds: 0,
  };
}

/**
 * What `onUncertain` decides by itself about one uncertain create, and when: at once, or, while a callback may still
 * bring the request id, after `uncertainWait`.
 */
class UncertainPolicyInForce {
  readonly #run: TaskRun;
  readonly #decision: Decision | undefined;
  readonly #actAtMs: number;

  constructor(run: TaskRun, { actAtMs }: UncertainWait) {
    this.#run = run;
    this.#decision = getPolicyDecision(run);
    this.#actAtMs = actAtMs;
  }

  /** What it decides now; `undefined` while it holds. Request ids of callbacks are checked first. */
  due(): Decision | undefined {
    return this.#run.candidates.isEmpty && Date.now() >= this.#actAtMs ? this.#applicable() : undefined;
  }

  /** How long until it decides; `undefined` when it never will. */
  untilDueMs(): number | undefined {
    return this.#applicable() === undefined ? undefined : Math.max(1, this.#actAtMs - Date.now());
  }

  /** For the operator; empty when it holds. */
  words(): string {
    if (this.#applicable() === undefined) return '';
    const what = this.#decision?.kind === 'recreate' ? 'sends it again (may be paid twice)' : 'gives the task up';
    return `; without them the policy ${what} at ${new Date(this.#actAtMs).toISOString()}`;
  }

  /** After a request to stop nothing is created any more. */
  #applicable(): Decision | undefined {
    return this.#decision?.kind === 'recreate' && this.#run.stops.isAskedBeforeCreate ? undefined : this.#decision;
  }
}

/** `recreate` at most once: after that it holds. */
function getPolicyDecision({ plan, state }: TaskRun): Decision | undefined {
  if (plan.onUncertain === 'fail') return { kind: 'abandon' };
  const mayRecreate = plan.onUncertain === 'recreate' && state.createNumber === plan.createNumber;
  return mayRecreate ? { kind: 'recreate' } : undefined;
}
