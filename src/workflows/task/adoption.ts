import { CancellationScope, log } from '@temporalio/workflow';
import type { CheckAdoptionResult } from '../../contract/activities';
import { isCreatedBefore } from '../../domain/adoption';
import { isCreatedAbout } from '../../domain/reconcile';
import { formatMoment } from '../../domain/time';
import { activities, adoptionCheckOptions } from '../activity-proxies';
import { failureMessage, messageRefused } from '../failures';
import type { TaskRun } from './task-run';

/** Throws, in words for the person who sent it, unless the id can be that of the task that the uncertain create made. */
export async function requireAdoptable(run: TaskRun, requestId: string, force: boolean): Promise<void> {
  const check = await checkAdoption(run, requestId, run.state.uncertain?.sentAtMs ?? 0);
  const { poll, follower } = check;
  if (follower !== null) {
    throw messageRefused(
      `The workflow ${follower} follows the task ${requestId} already. Nothing is decided; if it is the task of this create, give this one up with "abandon".`,
    );
  }
  if (poll.seen !== 'task') {
    const problem =
      poll.seen === 'notFound'
        ? `The service does not know it in the account "${run.plan.account}"; check the id.`
        : poll.problem;
    throw messageRefused(`The task ${requestId} is not followed: ${problem} Nothing is decided; the task still waits.`);
  }
  const problem = force ? undefined : problemWithCreate(run, requestId, check);
  if (problem === undefined) return;
  throw messageRefused(
    `${problem} Check the id. Nothing is decided; the task still waits. If it is the task of this create all the same: --force ("force": true).`,
  );
}

/** Why the task is another create's, or may well be; undefined when nothing speaks against it. */
function problemWithCreate(
  { state }: TaskRun,
  requestId: string,
  { creator, createdAt, rival }: CheckAdoptionResult,
): string | undefined {
  const { sentAtMs = 0 } = state.uncertain ?? {};
  if (creator !== null) {
    return `The task ${requestId} was created by ${creator}, by its create record, so it is not the task of this create.`;
  }
  const created =
    createdAt === null
      ? `The service does not say when it created the task ${requestId}`
      : `The service created the task ${requestId} at ${formatMoment(createdAt)}`;
  const sent = `this create was sent at ${formatMoment(sentAtMs)}`;
  if (createdAt !== null && isCreatedBefore(Date.parse(createdAt), sentAtMs)) {
    return `${created}, and ${sent}, so it is the task of an earlier create, unless a clock is wrong.`;
  }
  if (rival === null) return undefined;
  return `${created}, and ${sent}; the create of ${rival.workflowId}, sent at ${formatMoment(rival.sentAtMs)}, is uncertain, too, and may as well have made it.`;
}

/** What the service says of a callback's request id, and whether the create that waits can have made that task. */
export async function checkCandidate(
  run: TaskRun,
  requestId: string,
  notBeforeMs: number,
): Promise<'confirmed' | 'refuted' | 'unknown' | 'unanswered'> {
  const { poll, creator, createdAt, follower } = await checkAdoption(run, requestId, null);
  if (poll.seen === 'nothing') return 'unanswered';
  if (poll.seen !== 'task') return 'unknown';
  const isEarlier = createdAt !== null && !isCreatedAbout(Date.parse(createdAt), notBeforeMs, Infinity);
  // Whose it is, a record says once its follower has ended: a service that calls two creates by one id pays for two tasks.
  if (creator === null && !isEarlier) return follower === null ? 'confirmed' : 'unanswered';
  log.warn('callback about the task of another create', { calledBack: requestId, creator, createdAt });
  return 'refuted';
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
