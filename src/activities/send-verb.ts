import type { TaskReference } from '../contract/activities';
import type { VerbAnswer } from '../domain/stop-request';
import { withoutUrls } from '../domain/uri';
import { InvalidRequestError, NotFoundError, ServiceApiError, ServiceError } from '../service';
import { serviceOf } from './account-service';
import type { ActivityDependencies } from './dependencies';

/**
 * Sends the service's `cancel` or `interrupt` (specification, sections 4.4 and 4.5). HTTP 200 means taken, not done;
 * a refusal is data, because the task may just have moved on. Repeating either does no harm.
 */
export async function sendVerb(
  parts: ActivityDependencies,
  verb: 'cancel' | 'interrupt',
  { account, requestId }: TaskReference,
): Promise<VerbAnswer> {
  const service = serviceOf(parts, account);
  try {
    await (verb === 'cancel' ? service.cancelTask(requestId) : service.interruptTask(requestId));
    return { taken: true };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { taken: false, refused: isRefusal(error), words: withoutUrls(error.message) };
  }
}

/** Whether the service looked at the task and said no; anything else may go better the next time. */
function isRefusal(error: ServiceError): boolean {
  const isAboutTask = error instanceof InvalidRequestError || error instanceof NotFoundError;
  return isAboutTask || (error instanceof ServiceApiError && error.httpStatus === 409);
}
