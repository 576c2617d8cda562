import type { Client } from '@temporalio/client';
import { rowsOfBatch, searchAttributes } from '../../contract/search-attributes';
import { batchIdOf } from '../../contract/workflow-ids';
import { listWorkflows, runningOn } from '../workflow-info';

export interface LateRows {
  readonly batch: string;
  readonly count: number;
  /** Workflow ids of the first ones. */
  readonly shown: readonly string[];
  /** Longer than this is late: five times what others took. */
  readonly afterMs: number;
}

const [times, fewest] = [5, 5];
const shortestMs = 60_000;
/** Where too few rows have ended to tell how long one takes. */
const usualMs = 30 * 60_000;
const [compared, shownRows, maxBatches] = [20, 5, 20];
const atService = `${searchAttributes.status.name} IN ("Queuing", "Preparing", "Running", "Watching")`;

/**
 * Rows that hang: at the service for far longer than others of their batch, which no deadline ends for hours. For a
 * watch by timer, that is counted from when its workflow continued as new. Throws errors of gRPC.
 *
 * @param aheadMs - by how much this machine's clock is ahead of Temporal's.
 */
export async function findLateRows(client: Client, taskQueue: string, aheadMs: number): Promise<readonly LateRows[]> {
  const found: LateRows[] = [];
  const running = `${runningOn(taskQueue)} AND WorkflowType = "batch"`;
  let looked = 0;
  for await (const { workflowId } of listWorkflows(client, running, maxBatches)) {
    const batch = batchIdOf(workflowId);
    const late = batch && (await lateRowsOf(client, batch, Date.now() - aheadMs));
    if (late && late.count > 0) found.push(late);
    if ((looked += 1) >= maxBatches) break;
  }
  return found;
}

async function lateRowsOf(client: Client, batch: string, nowMs: number): Promise<LateRows> {
  const rows = `WorkflowType = "task" AND ${rowsOfBatch(batch)}`;
  const tookMs: number[] = [];
  for await (const { startedAt, closedAt } of listWorkflows(
    client,
    `${rows} AND ExecutionStatus = "Completed"`,
    compared,
  )) {
    if (closedAt !== null) tookMs.push(closedAt.getTime() - startedAt.getTime());
    if (tookMs.length >= compared) break;
  }
  const middleMs = tookMs.sort((a, b) => a - b)[Math.floor(tookMs.length / 2)];
  const isKnown = middleMs !== undefined && tookMs.length >= fewest;
  const afterMs = isKnown ? Math.max(shortestMs, times * middleMs) : usualMs;
  const begun = new Date(nowMs - afterMs).toISOString();
  const late = `${rows} AND ${atService} AND ExecutionStatus = "Running" AND StartTime < "${begun}"`;
  const { count } = await client.workflow.count(late);
  const shown: string[] = [];
  if (count === 0) return { batch, count, shown, afterMs };
  for await (const { workflowId } of listWorkflows(client, late, shownRows)) {
    if (shown.push(workflowId) >= shownRows) break;
  }
  return { batch, count, shown, afterMs };
}
