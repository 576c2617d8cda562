import { Client } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';
import type { TemporalConnection } from '../config/temporal-connection';
import { searchAttributes } from '../contract/search-attributes';
import { archiveOf, shortArchiveId } from '../contract/task-queues';
import { connectTemporal } from './connect-temporal';
import { isWorkflowGone, listWorkflows } from './workflow-info';
import type { Problem } from './workers';

/** Several are tried: Temporal forgets the run of a long task that had its create. */
const maxTasks = 10;
/** Pages of a task's history that are searched for its create, which comes after the uploads of its input files. */
const maxPages = 10;

export type OtherArchive = Problem;

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

export interface KnownArchive {
  /** Null for one that has none yet. */
  readonly identity: { readonly id: string; readonly namespace: string } | null;
  /** The archive that it replaces, by the first digits of its id; null for none. */
  readonly replaces: string | null;
}

/**
 * Compares an archive with that of the worker that created the newest task of a queue: another one has none of its
 * tasks' create records, so keys would be paid twice. Undefined: the same, replaced, or unknown. Throws errors of gRPC.
 */
export async function findOtherArchive(
  client: Client,
  taskQueue: string,
  { identity, replaces }: KnownArchive,
): Promise<OtherArchive | undefined> {
  const { namespace } = client.options;
  if (identity !== null && identity.namespace !== namespace) {
    const its = identity.namespace;
    return {
      found: `it is the archive of the Temporal namespace "${its}", and tasks of "${namespace}" would take its create records for their own: a key that both namespaces have would be created only once`,
      remedy: `Give "${namespace}" an archive of its own, such as another folder or prefix (LONGHAUL_ARCHIVE), or correct TEMPORAL_NAMESPACE. Where "${namespace}" takes the place of "${its}" for good, write "${namespace}" into the second line of .archive-id.`,
    };
  }
  const query = `TaskQueue = ${JSON.stringify(taskQueue)} AND WorkflowType = "task" AND ${searchAttributes.requestId.name} IS NOT NULL`;
  let tried = 0;
  for await (const { workflowId, runId } of listWorkflows(client, query, maxTasks)) {
    if (++tried > maxTasks) return undefined;
    const used = await archiveOfCreate(client, workflowId, runId);
    if (used === undefined) continue;
    if (used === replaces || (identity !== null && used === shortArchiveId(identity.id))) return undefined;
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

/** That of the worker that ran `createTask`: any worker runs workflow tasks. Undefined: no run or worker is known. */
async function archiveOfCreate(client: Client, workflowId: string, runId: string): Promise<string | undefined> {
  let createId: string | undefined;
  try {
    for await (const event of eventsOfTask(client, workflowId, runId)) {
      const { activityTaskScheduledEventAttributes: scheduled, activityTaskStartedEventAttributes: started } = event;
      if (scheduled?.activityType?.name === 'createTask') createId = String(event.eventId);
      if (started && String(started.scheduledEventId) === createId) return archiveOf(started.identity ?? '');
    }
    return undefined;
  } catch (error) {
    if (isWorkflowGone(error, workflowId)) return undefined;
    throw error;
  }
}

/** From its first run, `maxPages` at most. A run that continued as new ends with the event that names the next one. */
async function* eventsOfTask(client: Client, workflowId: string, lastRunId: string): AsyncGenerator<HistoryEvent> {
  const { namespace } = client.options;
  const pageOf = (runId: string, page: { nextPageToken?: Uint8Array; maximumPageSize?: number }) =>
    client.workflowService.getWorkflowExecutionHistory({ namespace, execution: { workflowId, runId }, ...page });
  const [start] = (await pageOf(lastRunId, { maximumPageSize: 1 })).history?.events ?? [];
  let runId = start?.workflowExecutionStartedEventAttributes?.firstExecutionRunId ?? '';
  let nextPageToken: Uint8Array = new Uint8Array();
  for (let page = 0; page < maxPages && runId !== ''; page++) {
    const { history, nextPageToken: next } = await pageOf(runId, { nextPageToken });
    const events = history?.events ?? [];
    yield* events;
    nextPageToken = next;
    if (next.length === 0)
      runId = events.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? '';
  }
}
