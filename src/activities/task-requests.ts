import { log } from '@temporalio/activity';
import type { CheckAdoptionInput, CheckAdoptionResult, TaskReference } from '../contract/activities';
import { findRival, type UncertainCreate } from '../core/adoption';
import type { VerbAnswer } from '../core/stop-request';
import { errorMessage } from '../core/text';
import { withoutUrls } from '../core/uri';
import { InvalidRequestError, NotFoundError, ServiceApiError, ServiceError, type TaskDetail } from '../service';
import { accountKey, getService } from './accounts';
import { findCreate } from './create-record';
import type { ActivityDependencies } from './dependencies';
import { getDetail, toFailedPoll, toPollResult } from './poll-task';
import { ownWorkflowId, requestProblem } from './to-application-failure';

/** Most workflows of a task whose create records are read: one created it, others adopted it. */
const maxCreators = 20;

/** Sends `cancel` or `interrupt` (sections 4.4, 4.5). A refusal is data: the task may just have moved on. */
export async function sendVerb(
  dependencies: ActivityDependencies,
  verb: 'cancel' | 'interrupt',
  { account, requestId }: TaskReference,
): Promise<VerbAnswer> {
  const service = getService(dependencies, account);
  try {
    await (verb === 'cancel' ? service.cancelTask(requestId) : service.interruptTask(requestId));
    return { taken: true };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const refused =
      error instanceof InvalidRequestError ||
      error instanceof NotFoundError ||
      (error instanceof ServiceApiError && error.httpStatus === 409);
    const words = requestProblem(error, accountKey(dependencies, account), withoutUrls(error.message));
    return { taken: false, refused, words };
  }
}

export async function checkAdoption(
  dependencies: ActivityDependencies,
  input: CheckAdoptionInput,
): Promise<CheckAdoptionResult> {
  let detail: TaskDetail;
  try {
    detail = await getDetail(dependencies, input);
  } catch (error) {
    const poll = toFailedPoll(dependencies, input.account, error);
    return { poll, createdAt: null, follower: null, creator: null, rival: null };
  }
  const createdAt = detail.createdAt?.iso ?? null;
  const own = ownWorkflowId();
  const [follower, creator, rival] = await Promise.all([
    // A second follower is harmless, so an error of Temporal prevents no adoption.
    unlessItFails('follower not checked', () => dependencies.findFollower?.(input)),
    findCreator(dependencies, input, own),
    findOtherUncertain(dependencies, input, own, createdAt),
  ]);
  return {
    poll: toPollResult(detail, input),
    createdAt,
    follower: follower === undefined || follower === own ? null : follower,
    creator: creator ?? null,
    rival: rival ?? null,
  };
}

/** Adopting workflows have no record of the create. Throws where the records of this key cannot be read. */
async function findCreator(
  { archive, findWorkflowsOf }: ActivityDependencies,
  task: CheckAdoptionInput,
  own: string,
): Promise<string | undefined> {
  const { requestId, createNumber } = task;
  const ofOwn = await findCreate(archive, own, { requestId, except: createNumber });
  if (ofOwn !== undefined) return ofOwn;
  return await unlessItFails('creator not checked', async () => {
    const found = (await findWorkflowsOf?.(task)) ?? [];
    for (const workflowId of found.filter((id) => id !== own).slice(0, maxCreators)) {
      const create = await findCreate(archive, workflowId, { requestId });
      if (create !== undefined) return create;
    }
    return undefined;
  });
}

/** Throws where Temporal cannot be asked: mistaking one create for another would swap their results. */
async function findOtherUncertain(
  { findUncertainCreates }: ActivityDependencies,
  { account, webAppId, sentAtMs }: CheckAdoptionInput,
  own: string,
  createdAt: string | null,
): Promise<UncertainCreate | undefined> {
  if (webAppId === null || sentAtMs === null) return undefined;
  const all = (await findUncertainCreates?.(account, webAppId)) ?? [];
  const others = all.filter(({ workflowId }) => workflowId !== own);
  return findRival(createdAt === null ? null : Date.parse(createdAt), sentAtMs, others);
}

async function unlessItFails<T>(problem: string, find: () => Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await find();
  } catch (error) {
    log.warn(problem, { error: errorMessage(error) });
    return undefined;
  }
}
