import { log } from '@temporalio/activity';
import type { CheckAdoptionResult, TaskReference } from '../contract/activities';
import type { VerbAnswer } from '../domain/stop-request';
import { errorMessage } from '../domain/text';
import { withoutUrls } from '../domain/uri';
import { InvalidRequestError, NotFoundError, ServiceApiError, ServiceError } from '../service';
import { accountKey, getService } from './accounts';
import { hasCreated } from './create-record';
import type { ActivityDependencies } from './dependencies';
import { pollTask } from './poll-task';
import { ownWorkflowId, requestProblem } from './to-application-failure';

/**
 * Sends the service's `cancel` or `interrupt` (specification, sections 4.4 and 4.5). HTTP 200 means taken, not done;
 * a refusal is data, because the task may just have moved on. Repeating either does no harm.
 */
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
    return {
      taken: false,
      refused: isRefusal(error),
      words: requestProblem(error, accountKey(dependencies, account), withoutUrls(error.message)),
    };
  }
}

/** Whether the service refused the verb for this task; anything else may go better the next time. */
function isRefusal(error: ServiceError): boolean {
  const isAboutTask = error instanceof InvalidRequestError || error instanceof NotFoundError;
  return isAboutTask || (error instanceof ServiceApiError && error.httpStatus === 409);
}

/** Asks the service about a task, and Temporal who follows it. It changes nothing. */
export async function checkAdoption(
  dependencies: ActivityDependencies,
  task: TaskReference,
): Promise<CheckAdoptionResult> {
  const own = ownWorkflowId();
  const [poll, follower, creator] = await Promise.all([
    pollTask(dependencies, task),
    findTaskFollower(dependencies, task),
    findCreator(dependencies, task, own),
  ]);
  const isOther = follower !== undefined && follower !== own;
  return { poll, follower: isOther ? follower : null, ...(creator !== undefined && { creator }) };
}

/** So many workflows of one task have their create records read: one of them created it, others adopted it. */
const maxCreators = 20;

/** Who adopts a task leaves no record of a create that made it. What cannot be asked prevents no adoption, either. */
async function findCreator(
  { archive, findWorkflowsOf }: ActivityDependencies,
  task: TaskReference,
  own: string,
): Promise<string | undefined> {
  try {
    const found = (await findWorkflowsOf?.(task)) ?? [];
    for (const workflowId of found.filter((id) => id !== own).slice(0, maxCreators)) {
      if (await hasCreated(archive, workflowId, task.requestId)) return workflowId;
    }
  } catch (error) {
    log.warn('creator not checked', { error: errorMessage(error) });
  }
  return undefined;
}

/** A second follower only asks and archives the same again, so an error of Temporal prevents no adoption. */
async function findTaskFollower(
  { findFollower }: ActivityDependencies,
  task: TaskReference,
): Promise<string | undefined> {
  try {
    return await findFollower?.(task);
  } catch (error) {
    log.warn('follower not checked', { error: errorMessage(error) });
    return undefined;
  }
}
