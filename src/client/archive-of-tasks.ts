import type { Client } from '@temporalio/client';
import { searchAttributes } from '../contract/search-attributes';
import { archiveOf, shortArchiveId } from '../contract/worker-identity';
import { listWorkflows } from './workflow-info';

/** Of so many of its last events it is looked which worker they are of. */
const lastEvents = 30;

/** That the tasks of a queue were worked on with another archive, and what to do. */
export interface OtherArchive {
  readonly found: string;
  readonly remedy: string;
}

/**
 * Compares an archive with that of the worker which last worked on the newest created task of a queue: one that was
 * exchanged for another, or whose disk is not mounted, has none of the tasks' create records. Undefined where it is the
 * same, or no such task is known. Throws errors of gRPC.
 *
 * @param archiveId - null for an archive that has none yet.
 */
export async function findOtherArchive(
  client: Client,
  taskQueue: string,
  archiveId: string | null,
): Promise<OtherArchive | undefined> {
  const query = `TaskQueue = ${JSON.stringify(taskQueue)} AND WorkflowType = "task" AND ${searchAttributes.requestId.name} IS NOT NULL`;
  for await (const { workflowId, runId } of listWorkflows(client, query, 1)) {
    const used = await archiveOfRun(client, workflowId, runId);
    if (used === undefined || (archiveId !== null && used === shortArchiveId(archiveId))) return undefined;
    return {
      found: `the tasks of the task queue "${taskQueue}" have another archive, such as ${workflowId}: their create records and results are not in this one, so that a key which is started again may be paid twice`,
      remedy:
        'It may be the wrong folder or bucket: correct LONGHAUL_ARCHIVE or mount its disk. If another archive is meant, this is said until the first task was created with it.',
    };
  }
  return undefined;
}

async function archiveOfRun(client: Client, workflowId: string, runId: string): Promise<string | undefined> {
  const { history } = await client.workflowService.getWorkflowExecutionHistoryReverse({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: lastEvents,
  });
  for (const { workflowTaskCompletedEventAttributes, workflowTaskStartedEventAttributes } of history?.events ?? []) {
    const { identity } = workflowTaskCompletedEventAttributes ?? workflowTaskStartedEventAttributes ?? {};
    const archive = archiveOf(identity ?? '');
    if (archive !== undefined) return archive;
  }
  return undefined;
}
