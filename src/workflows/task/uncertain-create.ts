import { allHandlersFinished, CancellationScope, condition, log, upsertMemo } from '@temporalio/workflow';
import type { CheckAdoptionResult } from '../../contract/activities';
import { sentAtMemo } from '../../contract/search-attributes';
import { isCreatedBefore } from '../../core/adoption';
import type { CreateUncertain } from '../../core/create-outcome';
import { isCreatedAbout } from '../../core/reconcile';
import { formatMoment, formatServiceMoment } from '../../core/time';
import { activities, adoptionCheckOptions } from '../activity-proxies';
import { failureMessage, messageRefused, taskFailure } from '../failures';
import { continueWhenLong, waitBounded } from './continue-as-new';
import { show } from './display';
import { isStoppedBeforeCreate, untilTotalDeadlineMs } from './stop';
import {
  acceptTask,
  awaitDecision,
  type Candidate,
  type Decision,
  type TaskRun,
  uncertainDecisions,
  type UncertainWait,
} from './task-run';

const askedAtOnce = 10;
const endlessWaitMs = 30 * 86_400_000;
const waitsForYou = 'Waits for you: adopt, recreate or abandon. User Metadata tells more';

/** Decides an uncertain create by policy, by a person, or by a callback whose request id the service confirms. */
export async function resolveUncertain(run: TaskRun, create: CreateUncertain, begunMs: number): Promise<void> {
  const { state, plan } = run;
  const { reason, callbackAsked = false, sentAtMs = Infinity } = create;
  state.uncertaintyReason = `It is not known whether the service created the task: ${reason}.`;
  state.problem = state.uncertaintyReason;
  log.warn('create uncertain', { reason });
  const nowMs = Date.now();
  const waitMs = plan.uncertainWaitMs ?? (callbackAsked ? untilTotalDeadlineMs(run) : 0);
  // A create of an earlier run was recorded before this run began.
  const notBeforeMs = Math.min(sentAtMs, begunMs);
  const wait: UncertainWait = {
    sinceMs: nowMs,
    sentAtMs: Number.isFinite(sentAtMs) ? sentAtMs : notBeforeMs,
    notBeforeMs,
    actAtMs: nowMs + waitMs,
    rounds: 0,
  };
  const atOnce = duePolicy(run, wait);
  if (atOnce !== undefined) {
    carryOut(run, atOnce);
    return;
  }
  state.uncertain = wait;
  upsertMemo({ [sentAtMemo]: wait.sentAtMs });
  awaitDecision(run, uncertainDecisions);
  await decideUncertain(run);
}

export async function decideUncertain(run: TaskRun): Promise<void> {
  const { uncertain: wait } = run.state;
  if (wait === undefined) return;
  const found = await findDecision(run, wait);
  // A handler may still be checking a request id from a person.
  await condition(allHandlersFinished);
  run.state.parkedMs += Date.now() - wait.sinceMs;
  delete run.state.uncertain;
  const decision = run.decision ?? found;
  awaitDecision(run, []);
  carryOut(run, decision);
}

/** @param decision - undefined: a stop ended the wait. */
function carryOut(run: TaskRun, decision: Decision | undefined): void {
  const { state } = run;
  switch (decision?.kind) {
    case 'adopt':
      acceptTask(run, decision.requestId);
      break;
    case 'recreate':
      state.createNumber += 1;
      // They answer the create before.
      state.candidates = [];
      // The client reads it here when the task is started again under the same key.
      upsertMemo({ createNumber: state.createNumber });
      break;
    case undefined:
      throw stopUnconfirmed(run);
    default: {
      const words = `${state.uncertaintyReason} The policy onUncertain or a person chose not to wait. If it exists, follow it with its request id.`;
      throw taskFailure('CreateUncertain', words, { createNumber: state.createNumber });
    }
  }
}

export function stopUnconfirmed({ state }: TaskRun): Error {
  const words = `${state.uncertaintyReason} So the stop cannot be confirmed.`;
  return taskFailure('StopUnconfirmed', words, { requestId: null });
}

/** Exempt from the task's deadlines. Asks the service about request ids of callbacks. */
async function findDecision(run: TaskRun, wait: UncertainWait): Promise<Decision | undefined> {
  const isSettled = (): boolean => run.decision !== undefined || run.state.isCancellationRequested;
  showUncertain(run, wait);
  for (;;) {
    const arrived = run.candidatesArrived;
    const requestId = await confirmedCandidate(run, wait, isSettled);
    if (requestId !== undefined) return { kind: 'adopt', requestId };
    if (isSettled()) return undefined;
    const byPolicy = duePolicy(run, wait);
    if (byPolicy !== undefined) return byPolicy;
    showUncertain(run, wait);
    await waitBounded(run, () => isSettled() || run.candidatesArrived > arrived, untilNextRound(run, wait));
    wait.rounds += 1;
    await continueWhenLong(run);
  }
}

function untilNextRound(run: TaskRun, { rounds, actAtMs }: UncertainWait): { ms: number; summary: string } {
  const { createRetryMs, createRetryMaxMs } = run.plan.tuning;
  if (run.state.candidates.length > 0) {
    const ms = Math.min(createRetryMaxMs, createRetryMs * 2 ** Math.min(rounds, 20));
    return { ms, summary: `${waitsForYou}; then the service is asked again` };
  }
  if (getPolicy(run) === undefined) return { ms: endlessWaitMs, summary: waitsForYou };
  return { ms: Math.max(1, actAtMs - Date.now()), summary: `${waitsForYou}; then the policy onUncertain decides` };
}

function showUncertain(run: TaskRun, { sentAtMs, actAtMs }: UncertainWait): void {
  const policy = getPolicy(run);
  const confirmation =
    run.state.candidates.length === 0 ? '' : 'the service to confirm the request id that a callback brought, or ';
  const what = policy?.kind === 'recreate' ? 'sends it again (may be paid twice)' : 'gives the task up';
  const byPolicy =
    policy === undefined ? '' : `; without them the policy ${what} at ${new Date(actAtMs).toISOString()}`;
  show(
    run,
    'CreateUncertain',
    `${confirmation}your decision: adopt, recreate or abandon${byPolicy}`,
    `find the task in the service’s own list: of app ${run.plan.webAppId ?? ''}, created at ${formatMoment(sentAtMs)} (${formatServiceMoment(sentAtMs)} there) or later: a service that recovers may still create it; nothing is sent automatically`,
  );
}

/** `recreate` at most once, and not after a request to stop. */
function getPolicy(run: TaskRun): Decision | undefined {
  const { plan, state } = run;
  if (plan.onUncertain === 'fail') return { kind: 'abandon' };
  const mayRecreate = plan.onUncertain === 'recreate' && state.createNumber === plan.createNumber;
  return mayRecreate && !isStoppedBeforeCreate(run) ? { kind: 'recreate' } : undefined;
}

function duePolicy(run: TaskRun, { actAtMs }: UncertainWait): Decision | undefined {
  return run.state.candidates.length === 0 && Date.now() >= actAtMs ? getPolicy(run) : undefined;
}

/** A callback comes once, so a failing service is asked again, and "no such task" is "not visible yet" for a while. */
async function confirmedCandidate(
  run: TaskRun,
  wait: UncertainWait,
  isSettled: () => boolean,
): Promise<string | undefined> {
  const undecided = run.state.candidates;
  for (let next = 0; next < undecided.length; next += askedAtOnce) {
    const some = undecided.slice(next, next + askedAtOnce);
    const answers = await Promise.all(some.map((candidate) => isConfirmed(run, wait, candidate)));
    const confirmed = some[answers.indexOf(true)];
    if (confirmed !== undefined) return confirmed.requestId;
    if (isSettled()) return undefined;
  }
  return undefined;
}

/** Whether the waiting create can have made the task; drops an id that is another's. */
async function isConfirmed(run: TaskRun, { notBeforeMs }: UncertainWait, candidate: Candidate): Promise<boolean> {
  const { requestId, sinceMs } = candidate;
  const { poll, creator, createdAt, follower } = await checkAdoption(run, requestId, null);
  const isEarlier = createdAt !== null && !isCreatedAbout(Date.parse(createdAt), notBeforeMs, Infinity);
  const isRefuted = poll.seen === 'task' && (creator !== null || isEarlier);
  const isUnknown = poll.seen !== 'task' && poll.seen !== 'nothing';
  if (isRefuted) log.warn('callback about the task of another create', { calledBack: requestId, creator, createdAt });
  if (isRefuted || (isUnknown && Date.now() - sinceMs >= run.plan.tuning.notVisibleGraceMs)) {
    run.state.candidates = run.state.candidates.filter((other) => other.requestId !== requestId);
  }
  // Not while another workflow follows it: a service that gives two creates one id charges for two tasks.
  return poll.seen === 'task' && !isRefuted && follower === null;
}

/** Throws, in words for a person, unless the id can be that of the uncertain create's task. */
export async function requireAdoptable(run: TaskRun, requestId: string, force: boolean): Promise<void> {
  const { sentAtMs = 0 } = run.state.uncertain ?? {};
  const check = await checkAdoption(run, requestId, sentAtMs);
  const { poll, follower } = check;
  if (follower !== null) {
    throw messageRefused(
      `The workflow ${follower} follows the task ${requestId} already. Nothing is decided; if it is the task of this create, give this one up with "abandon".`,
    );
  }
  if (poll.seen !== 'task') {
    const unknown = `The service does not know it in the account "${run.plan.account}"; check the id.`;
    const problem = poll.seen === 'notFound' ? unknown : poll.problem;
    throw messageRefused(`The task ${requestId} is not followed: ${problem} Nothing is decided; the task still waits.`);
  }
  const problem = force ? undefined : problemWithCreate(requestId, sentAtMs, check);
  if (problem === undefined) return;
  throw messageRefused(
    `${problem} Check the id. Nothing is decided; the task still waits. If it is the task of this create all the same: --force ("force": true).`,
  );
}

function problemWithCreate(
  requestId: string,
  sentAtMs: number,
  { creator, createdAt, rival }: CheckAdoptionResult,
): string | undefined {
  if (creator !== null) {
    return `The task ${requestId} was created by ${creator}, by its create record, so it is not the task of this create.`;
  }
  const created =
    createdAt === null
      ? `The service does not say when it created the task ${requestId}`
      : `The service created the task ${requestId} at ${formatMoment(createdAt)}`;
  const words = `${created}, and this create was sent at ${formatMoment(sentAtMs)}`;
  if (createdAt !== null && isCreatedBefore(Date.parse(createdAt), sentAtMs)) {
    return `${words}, so it is the task of an earlier create, unless a clock is wrong.`;
  }
  if (rival === null) return undefined;
  return `${words}; the create of ${rival.workflowId}, sent at ${formatMoment(rival.sentAtMs)}, is uncertain, too, and may as well have made it.`;
}

/** Never cancelled: a stop that comes meanwhile ends the task that may just be found. */
async function checkAdoption(
  { plan: { account, webAppId }, state: { createNumber } }: TaskRun,
  requestId: string,
  sentAtMs: number | null,
): Promise<CheckAdoptionResult> {
  const input = { account, requestId, webAppId, createNumber, sentAtMs };
  try {
    return await CancellationScope.nonCancellable(() =>
      activities.checkAdoption.executeWithOptions(adoptionCheckOptions, [input]),
    );
  } catch (error) {
    const problem = `The service could not be asked (${failureMessage(error)}); try again.`;
    return { poll: { seen: 'nothing', problem }, createdAt: null, follower: null, creator: null, rival: null };
  }
}
