import { Client } from '@temporalio/client';
import type { TemporalConnection } from '../config/temporal-connection';
import { searchAttributes } from '../contract/search-attributes';
import { archiveOf, shortArchiveId } from '../contract/worker-identity';
import { connectTemporal } from './connect-temporal';
import { listWorkflows } from './list-workflows';

/** So many of its last events are searched for that of a worker. */
const lastEvents = 30;

/** That the tasks of a queue were worked on with another archive, and what to do. */
export interface OtherArchive {
  readonly found: string;
  readonly remedy: string;
}

/** An archive, as its worker knows it. */
export interface KnownArchive {
  /** Null for one that has none yet. */
  readonly id: string | null;
  /** What its operator says: the archive that it takes the place of, by the first digits of its id; null for none. */
  readonly replaces: string | null;
}

/**
 * Compares an archive with that of the worker which last worked on the newest created task of a queue: one that was
 * exchanged for another, or whose disk is not mounted, has none of the tasks' create records. Undefined where it is the
 * same or replaces that one, or no such task is known. Throws errors of gRPC.
 */
export async function findOtherArchive(
  client: Client,
  taskQueue: string,
  { id, replaces }: KnownArchive,
): Promise<OtherArchive | undefined> {
  const query = `TaskQueue = ${JSON.stringify(taskQueue)} AND WorkflowType = "task" AND ${searchAttributes.requestId.name} IS NOT NULL`;
  for await (const { workflowId, runId } of listWorkflows(client, query, 1)) {
    const used = await archiveOfRun(client, workflowId, runId);
    if (used === undefined || used === replaces || (id !== null && used === shortArchiveId(id))) return undefined;
    return {
      found: `the tasks of the task queue "${taskQueue}" have another archive (${used}), such as ${workflowId}: their create records are not in this one, so that a key which is started again would be paid twice`,
      remedy: `Correct LONGHAUL_ARCHIVE or mount its disk; if the archive was copied, copy its hidden files, too. If new tasks are to be created with this archive although it knows none of the others, set LONGHAUL_REPLACES_ARCHIVE=${used}.`,
    };
  }
  return undefined;
}

/** The same by a connection of its own. Throws where Temporal does not answer. */
export async function askForOtherArchive(
  temporal: TemporalConnection,
  taskQueue: string,
  archive: KnownArchive,
): Promise<OtherArchive | undefined> {
  const connection = await connectTemporal(temporal);
  const client = new Client({ connection, namespace: temporal.namespace });
  return await findOtherArchive(client, taskQueue, archive).finally(() => connection.close());
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
