import { log } from '@temporalio/activity';
import type { AskGateInput } from '../contract/activities';
import type { GateAnswer } from '../domain/gate-answer';
import { errorMessage } from '../domain/unknown-error';
import type { ArchiveIdentity } from '../storage/archive-identity';
import { limitsOf } from './account-service';
import type { ActivityDependencies } from './dependencies';
import { ownWorkflowId } from './own-workflow';

/** Asks the gate of the account whether this task may send its create now. Asking again does no harm. */
export async function askGate(
  parts: ActivityDependencies,
  archive: ArchiveIdentity,
  { account, sinceMs }: AskGateInput,
): Promise<GateAnswer> {
  const answer = limitsOf(parts, account).creates.ask({ id: ownWorkflowId(), sinceMs });
  if (!answer.pass) return answer;
  const archiveId = await identityOf(archive);
  return { ...answer, ...(archiveId !== undefined && { archiveId }) };
}

/** An archive that cannot be read right now is no reason to wait here: the create will find out. */
async function identityOf(archive: ArchiveIdentity): Promise<string | undefined> {
  try {
    return await archive.get();
  } catch (error) {
    log.warn('archive not identified', { error: errorMessage(error) });
    return undefined;
  }
}
