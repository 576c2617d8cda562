import { allHandlersFinished, condition, upsertMemo } from '@temporalio/workflow';
import type { PollResult } from '../../contract/activities';
import type { CreateUncertain } from '../../domain/create-outcome';
import { untilTotalDeadlineMs } from './deadlines';
import { type Decision, uncertainDecisions } from './decisions';
import { taskFailure } from '../failures';
import { look } from './watch';
import type { Offer } from './candidate-request-ids';
import { continueWhenLong, waitBounded } from './continue-as-new';
import type { UncertainWait } from './continue-as-new-state';
import type { TaskRun } from './task-run';

/** Request ids of callbacks that the service is asked about side by side. */
const askedAtOnce = 10;

/**
 * Nobody knows whether the task exists: by policy, by a person's decision, or by a callback whose request id the
 * service confirms; never by itself.
 */
export async function resolveUncertain(run: TaskRun, create: CreateUncertain): Promise<void> {
  const doubt = `It is not known whether the service created the task: ${create.reason}.`;
  const wait = openWait(run, create);
  Object.assign(run.state, { doubt, problem: doubt });
  const atOnce = new UncertainPolicyInForce(run, wait).due();
  if (atOnce !== undefined) {
    carryOut(run, doubt, atOnce);
    return;
  }
  run.state.uncertain = wait;
  run.decisions.open(uncertainDecisions);
  await decideUncertain(run);
}

/** Waits for the decision about an uncertain create, if there is one that waits; a former run may have begun it. */
export async function decideUncertain(run: TaskRun): Promise<void> {
  const { uncertain: wait, doubt = '' } = run.state;
  if (wait === undefined) return;
  const found = await findDecision(run, wait);
  // A request id that a person gave may be on its way to the service: that is known in a moment.
  await condition(allHandlersFinished);
  run.state.parkedMs += Date.now() - wait.sinceMs;
  delete run.state.uncertain;
  // A person was told already what will happen.
  carryOut(run, doubt, run.decisions.close() ?? found);
}

/** `undefined`: a stop ended the wait. */
function carryOut(run: TaskRun, doubt: string, decision: Decision | undefined): void {
  switch (decision?.kind) {
    case 'adopt':
      run.accept(decision.requestId);
      break;
    case 'recreate':
      raiseCreateNumber(run);
      break;
    case undefined:
      throw stopUnconfirmed(doubt);
    default:
      throw givenUp(doubt, run.state.createNumber);
  }
}

/** Waits for a decision, exempt from the task's deadlines, and asks the service about what callbacks bring. */
async function findDecision(run: TaskRun, wait: UncertainWait): Promise<Decision | undefined> {
  const { decisions, offers } = run;
  const policy = new UncertainPolicyInForce(run, wait);
  showUncertain(run, policy);
  for (;;) {
    const { arrived } = offers;
    const requestId = await confirmedOffer(run, pauseMs(run, wait));
    if (requestId !== undefined) return { kind: 'adopt', requestId };
    const isSettled = (): boolean => decisions.hasDecision || run.isCancellationRequested;
    if (isSettled()) return undefined;
    const byPolicy = policy.due();
    if (byPolicy !== undefined) return byPolicy;
    showUncertain(run, policy);
    const hasNews = (): boolean => isSettled() || offers.arrived > arrived;
    await waitBounded(run, hasNews, untilNextRound(run, wait, policy));
    wait.rounds += 1;
    await continueWhenLong(run);
  }
}

/** Until the service is asked again, the policy decides, or, `undefined`, something comes in. */
function untilNextRound(
  run: TaskRun,
  wait: UncertainWait,
  policy: UncertainPolicyInForce,
): { readonly ms: number; readonly summary: string } | undefined {
  if (!run.offers.isEmpty) return { ms: pauseMs(run, wait), summary: 'before the service is asked again' };
  const ms = policy.untilDueMs();
  return ms === undefined ? undefined : { ms, summary: 'until the policy onUncertain decides' };
}

/**
 * The first of the callbacks' request ids that the service knows. The callback will not come again, so a service that
 * does not answer is asked once more later, and "no such task" is "not visible yet" for a while.
 */
async function confirmedOffer(run: TaskRun, againAfterMs: number): Promise<string | undefined> {
  const { offers } = run;
  if (offers.areMany) return await confirmedAmongMany(run, againAfterMs);
  for (const offer of offers.list()) {
    if ((await askAbout(run, offer)) === 'task') return offer.requestId;
  }
  return undefined;
}

/** Several at a time; those that the service has just not known wait their turn, so that new ones come to theirs. */
async function confirmedAmongMany(run: TaskRun, againAfterMs: number): Promise<string | undefined> {
  const { offers } = run;
  const due = offers.list().filter(({ unknownAtMs = 0 }) => Date.now() - unknownAtMs >= againAfterMs);
  for (let next = 0; next < due.length; next += askedAtOnce) {
    const some = due.slice(next, next + askedAtOnce);
    const answers = await Promise.all(some.map((offer) => askAbout(run, offer)));
    const known = some[answers.indexOf('task')];
    if (known !== undefined) return known.requestId;
    some.forEach(({ requestId }, index) => {
      if (answers[index] === 'nothing') offers.postpone(requestId);
    });
    const isAway = answers.every((seen) => seen === 'nothing');
    if (isAway || run.decisions.hasDecision || run.isCancellationRequested) return undefined;
    await continueWhenLong(run);
  }
  return undefined;
}

async function askAbout({ plan, offers }: TaskRun, { requestId, sinceMs }: Offer): Promise<PollResult['seen']> {
  const { seen } = await look({ account: plan.account, requestId });
  const nowMs = Date.now();
  if (seen === 'notFound' && nowMs - sinceMs >= plan.tuning.notVisibleGraceMs) offers.drop(requestId);
  else if (seen === 'notFound' || seen === 'gone') offers.markUnknown(requestId, nowMs);
  return seen;
}

function pauseMs({ plan: { tuning } }: TaskRun, { rounds }: UncertainWait): number {
  return Math.min(tuning.createRetryMaxMs, tuning.createRetryMs * 2 ** Math.min(rounds, 20));
}

function showUncertain(run: TaskRun, policy: UncertainPolicyInForce): void {
  const updates =
    'the update adopt (with the request id, if the service shows the task), recreate (may be paid twice) or abandon';
  const confirmation = run.offers.isEmpty ? '' : 'the service to confirm the request id that a callback brought, or ';
  run.show(
    'CreateUncertain',
    `${confirmation}${updates}${policy.words()}`,
    'look in the service’s own list for a task of this moment; nothing is sent by itself',
  );
}

function raiseCreateNumber(run: TaskRun): void {
  run.state.createNumber += 1;
  // The client reads it here when the task is started again under the same key.
  upsertMemo({ createNumber: run.state.createNumber });
}

/** A stop that cannot be confirmed, because there is no request id to stop. */
export function stopUnconfirmed(doubt: string): Error {
  return taskFailure('StopUnconfirmed', `${doubt} So the stop cannot be confirmed.`, { requestId: null });
}

function givenUp(doubt: string, createNumber: number): Error {
  const words = 'The policy onUncertain or a person chose not to wait. If it exists, follow it with its request id.';
  return taskFailure('CreateUncertain', `${doubt} ${words}`, { createNumber });
}

/** The wait about a create whose outcome has just turned out to be unknown. */
function openWait(run: TaskRun, { callbackAsked = false }: CreateUncertain): UncertainWait {
  const nowMs = Date.now();
  const waitMs = run.plan.uncertainWaitMs ?? (callbackAsked ? untilTotalDeadlineMs(run) : 0);
  return { sinceMs: nowMs, actAtMs: nowMs + waitMs, rounds: 0 };
}

/**
 * What `onUncertain` decides by itself about one uncertain create, and when: at once, or, while a callback may still
 * bring the request id, after `uncertainWait`.
 */
class UncertainPolicyInForce {
  private readonly run: TaskRun;
  private readonly decision: Decision | undefined;
  private readonly actAtMs: number;

  constructor(run: TaskRun, { actAtMs }: UncertainWait) {
    this.run = run;
    this.decision = decisionOf(run);
    this.actAtMs = actAtMs;
  }

  /** What it decides now; `undefined` while it holds. What a callback brought is looked into first. */
  due(): Decision | undefined {
    return this.run.offers.isEmpty && Date.now() >= this.actAtMs ? this.applicable() : undefined;
  }

  /** How long until it decides; `undefined` when it never will. */
  untilDueMs(): number | undefined {
    return this.applicable() === undefined ? undefined : Math.max(1, this.actAtMs - Date.now());
  }

  /** For the operator; empty when it holds. */
  words(): string {
    if (this.applicable() === undefined) return '';
    const what = this.decision?.kind === 'recreate' ? 'sends it again (may be paid twice)' : 'gives the task up';
    return `; without them the policy ${what} at ${new Date(this.actAtMs).toISOString()}`;
  }

  /** After a request to stop nothing is created any more. */
  private applicable(): Decision | undefined {
    return this.decision?.kind === 'recreate' && this.run.isStopAskedBeforeCreate ? undefined : this.decision;
  }
}

/** `recreate` at most once: after that it holds. */
function decisionOf({ plan, state }: TaskRun): Decision | undefined {
  if (plan.onUncertain === 'fail') return { kind: 'abandon' };
  const mayRecreate = plan.onUncertain === 'recreate' && state.createNumber === plan.createNumber;
  return mayRecreate ? { kind: 'recreate' } : undefined;
}
