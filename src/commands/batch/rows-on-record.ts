import { LonghaulError, UnknownTaskError } from '../../client/errors';
import type { ListedTask } from '../../client/task/list-tasks';
import { findArchivePlace } from '../../config/client-config';
import { ConfigError } from '../../config/environment';
import { rowWorkflowId } from '../../contract/workflow-ids';
import type { RecordedRow } from '../../results/recorded-rows';
import { ResultsError } from '../../results/errors';
import { ArchiveError } from '../../storage/errors';
import { type CommandContext, withLonghaul } from '../command-context';

/** What was asked: the rows that are known, or why none are. */
export type RowsOnRecord =
  | {
      readonly rows: ReadonlyMap<string, RecordedRow>;
      readonly running: ReadonlySet<string>;
      readonly missing: string | null;
    }
  | { readonly unknown: string };

/** Why not all is known where no archive is configured. */
export const archiveUnset = 'LONGHAUL_ARCHIVE is not set here, so that Temporal alone was asked';

/** Asks the archive that the command knows, and Temporal; neither has to answer. Throws the signal's reason. */
export async function readRowsOnRecord(
  context: CommandContext,
  batchId: string,
  signal: AbortSignal,
): Promise<RowsOnRecord> {
  const place = findArchivePlace(context.env);
  if (place === null) return await askTemporalAlone(context, batchId, signal);
  // The AWS SDK takes half a second to load.
  const { openArchive } = await import('../../storage/archive/open-archive.js');
  const { readRecordedRows } = await import('../../results/recorded-rows.js');
  try {
    const rows = await readRecordedRows(openArchive(place), batchId, signal);
    // No batch has started a row before its record was laid out.
    if (rows === null) return { rows: new Map(), running: new Set(), missing: null };
    const tasks = await listRows(context, batchId, { onlyRunning: true, signal });
    if ('unknown' in tasks)
      return { rows, running: new Set(), missing: `rows that run are not known: ${tasks.unknown}` };
    return { rows, running: tasks.running, missing: tasks.isBatchRunning ? whileItRuns(batchId) : null };
  } catch (error) {
    if (error instanceof ArchiveError || error instanceof ResultsError) {
      return { unknown: `the archive cannot be read here (${error.message})` };
    }
    throw error;
  }
}

async function askTemporalAlone(context: CommandContext, batchId: string, signal: AbortSignal): Promise<RowsOnRecord> {
  const tasks = await listRows(context, batchId, { onlyRunning: false, signal });
  if ('unknown' in tasks) return { unknown: `LONGHAUL_ARCHIVE is not set here, and ${tasks.unknown}` };
  return { rows: tasks.ended, running: tasks.running, missing: archiveUnset };
}

interface RowTasks {
  /** Whether the batch itself runs. */
  readonly isBatchRunning: boolean;
  readonly running: ReadonlySet<string>;
  readonly ended: ReadonlyMap<string, RecordedRow>;
}

/** The tasks of a batch's rows that Temporal has, the latest of each row. */
async function listRows(
  context: CommandContext,
  batchId: string,
  { onlyRunning, signal }: { readonly onlyRunning: boolean; readonly signal: AbortSignal },
): Promise<RowTasks | { readonly unknown: string }> {
  const { env } = context;
  if (['TEMPORAL_ADDRESS', 'TEMPORAL_PROFILE', 'TEMPORAL_CONFIG_FILE'].every((name) => env[name] === undefined)) {
    return { unknown: 'TEMPORAL_ADDRESS is not set here' };
  }
  const running = new Set<string>();
  const ended = new Map<string, RecordedRow>();
  const prefix = rowWorkflowId(batchId, 'k').slice(0, -1);
  let isBatchRunning = false;
  // What is late says nothing any more.
  signal.throwIfAborted();
  try {
    await withLonghaul(context, {}, async (longhaul) => {
      isBatchRunning = !(await longhaul.batch(batchId).isOver().catch(ofUnknown));
      for await (const task of longhaul.list({ batch: batchId, ...(onlyRunning && { running: true }) })) {
        signal.throwIfAborted();
        const key = task.workflowId.slice(prefix.length);
        if (!task.workflowId.startsWith(prefix) || running.has(key) || ended.has(key)) continue;
        if (!task.isOver) running.add(key);
        else ended.set(key, { status: recordedStatus(task), digest: '', isUnpaid: false, costs: [] });
      }
    });
    return { isBatchRunning, running, ended };
  } catch (error) {
    if (error instanceof LonghaulError || error instanceof ConfigError) return { unknown: whatHappened(error) };
    throw error;
  }
}

/** A batch that was never started does not run. */
function ofUnknown(error: unknown): true {
  if (error instanceof UnknownTaskError) return true;
  throw error;
}

function whileItRuns(batchId: string): string {
  return `the batch runs, so rows that have just ended may be called new here, and a run with other rows is refused until it is over: longhaul batch status ${batchId}`;
}

/** Without what to do about it: a check goes on. */
function whatHappened({ message }: Error): string {
  return message.split(/: |\. |\n/, 1)[0] ?? message;
}

/**
 * How a task ended, as far as a list tells. One that the service's own cancel or interrupt ended is completed, too.
 *
 * @internal exported for tests
 */
export function recordedStatus({ execution, status }: Pick<ListedTask, 'execution' | 'status'>): RecordedRow['status'] {
  if (execution === 'CANCELLED' || (execution === 'COMPLETED' && status === 'Canceled')) return 'Canceled';
  return execution === 'COMPLETED' ? 'Success' : 'Failed';
}
