import { condition, upsertMemo } from '@temporalio/workflow';
import type { CreateUncertain } from '../domain/create-outcome';
import type { Decision } from './decisions';
import { taskFailure } from './failures';
import { look } from './look';
import type { TaskRun } from './task-run';
import { UncertainPolicyInForce } from './uncertain-policy';

/**
 * Nobody knows whether the task exists: by policy, by a person's decision, or by a callback whose request id the
 * service confirms; never by itself.
 */
export async function resolveUncertain(run: TaskRun, create: CreateUncertain): Promise<void> {
  run.doubt = `It is not known whether the service created the task: ${create.reason}.`;
  run.state.problem = run.doubt;
  const policy = new UncertainPolicyInForce(run, create);
  const decision = policy.due() ?? (await awaitDecision(run, policy));
  switch (decision?.kind) {
    case 'adopt':
      run.accept(decision.requestId);
      break;
    case 'recreate':
      raiseCreateNumber(run);
      break;
    case undefined:
      throw stopUnconfirmed(run.doubt);
    default:
      throw givenUp(run.doubt, run.state.createNumber);
  }
}

/** Parks the task, exempt from its deadlines. `undefined`: a stop ended the wait. */
async function awaitDecision(run: TaskRun, policy: UncertainPolicyInForce): Promise<Decision | undefined> {
  const { decisions } = run;
  const parkedAtMs = Date.now();
  decisions.open(['adopt', 'recreate', 'abandon']);
  const found = await findDecision(run, policy);
  run.state.parkedMs += Date.now() - parkedAtMs;
  // A person was told already what will happen.
  return decisions.close() ?? found;
}

/** Waits for a decision, and asks the service about what callbacks bring. */
async function findDecision(run: TaskRun, policy: UncertainPolicyInForce): Promise<Decision | undefined> {
  const { decisions, offers } = run;
  showUncertain(run, policy);
  for (let attempt = 0; ; attempt += 1) {
    const { arrived } = offers;
    const requestId = await confirmedOffer(run);
    if (requestId !== undefined) return { kind: 'adopt', requestId };
    const isSettled = (): boolean => decisions.hasDecision || run.isCancellationRequested;
    if (isSettled()) return undefined;
    const byPolicy = policy.due();
    if (byPolicy !== undefined) return byPolicy;
    showUncertain(run, policy);
    const hasNews = (): boolean => isSettled() || offers.arrived > arrived;
    if (!offers.isEmpty)
      await condition(hasNews, pauseMs(run, attempt), { summary: 'before the service is asked again' });
    else await whenNews(hasNews, policy.untilDueMs());
  }
}

async function whenNews(hasNews: () => boolean, withinMs: number | undefined): Promise<void> {
  if (withinMs === undefined) await condition(hasNews);
  else await condition(hasNews, withinMs, { summary: 'until the policy onUncertain decides' });
}

/**
 * The first of the callbacks' request ids that the service knows. The callback will not come again, so a service that
 * does not answer is asked once more later, and "no such task" is "not visible yet" for a while.
 */
async function confirmedOffer({ plan, offers }: TaskRun): Promise<string | undefined> {
  for (const { requestId, sinceMs } of offers.list()) {
    const poll = await look({ account: plan.account, requestId });
    if (poll.seen === 'task') return requestId;
    const isUnknown = poll.seen === 'notFound' && Date.now() - sinceMs >= plan.tuning.notVisibleGraceMs;
    if (isUnknown) offers.drop(requestId);
  }
  return undefined;
}

function pauseMs({ plan: { tuning } }: TaskRun, attempt: number): number {
  return Math.min(tuning.createRetryMaxMs, tuning.createRetryMs * 2 ** Math.min(attempt, 20));
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
