import { setTimeout as delay } from 'node:timers/promises';
import { LonghaulError, UnknownTaskError } from '../../client/errors';
import type { ListedTask } from '../../client/task/list-tasks';
import { findArchivePlace, loadStagingOf } from '../../config/client-config';
import { ConfigError, readText } from '../../config/environment';
import type { BatchInput } from '../../contract/batch/batch-input';
import { rowWorkflowId } from '../../contract/workflow-ids';
import { addCost, type BatchSpending, noSpending } from '../../domain/batch/batch-budget';
import { formatRowPlace, pickPlace, type RowPlace } from '../../domain/batch/row-place';
import { formatBytes, formatCount, formatCountOf, showValue } from '../../domain/text';
import type { RecordedRow } from '../../results/recorded-rows';
import { ResultsError } from '../../results/errors';
import { findRowsRunBefore, type PreparedRow, type RowRunBefore } from '../../rows';
import { ArchiveError } from '../../storage/errors';
import { type CommandContext, withLonghaul } from '../command-context';
import { maxReadBytes, StagedDigests } from './staged-digests';

/** A new row that seems to be one on record under another key: it would be paid beside that. */
export interface OtherKeyRow {
  readonly place: RowPlace;
  readonly key: string;
  /** On record. */
  readonly recorded: string;
  /** As that row gave it, where its task has another key. */
  readonly recordedOriginalKey?: string;
}

/** Such rows: how many, and the first of them. */
interface OtherKeyRows {
  readonly rows: number;
  readonly first: readonly OtherKeyRow[];
}

/** How the good rows of a file stand to what is on record of their batch. */
export interface OnRecord {
  readonly success: number;
  readonly failed: number;
  readonly canceled: number;
  readonly running: number;
  readonly new: number;
  /** Of those on record, so many had other content; null where that cannot be compared. */
  readonly changed: number | null;
  /** The first of them. */
  readonly changedRows: readonly Pick<OtherKeyRow, 'place' | 'key'>[];
  /** Rows whose content was not compared, because their files are large. */
  readonly notCompared: number;
  /** New rows whose keys look like keys on record. */
  readonly alike: OtherKeyRows;
  /** Rows on record that the file no longer has; null where `--first` cut it, or Temporal alone was asked. */
  readonly gone: number | null;
  /** New rows that have the content of those; null where that cannot be compared. */
  readonly runBefore: OtherKeyRows | null;
  /** Why not all is known; null when it is. */
  readonly missing: string | null;
}

/** What was asked: the rows that are known, or why none are. */
type Known =
  | {
      readonly rows: ReadonlyMap<string, RecordedRow>;
      readonly running: ReadonlySet<string>;
      readonly missing: string | null;
    }
  | { readonly unknown: string };

/** Which rows on record a run starts again. */
type RunChoice = Pick<BatchInput, 'allowChanged' | 'retryFailed'>;

/** A check is not held up for longer. */
const withinMs = 15_000;
const maxNamed = 5;

/** Which rows of a file are on record, as far as the archive and Temporal can be asked from here. */
export class RecordLookup {
  readonly #known: Known;
  /** Null where rows are not staged: they are run as they stand. */
  readonly #staged: StagedDigests | null;
  readonly #count = { success: 0, failed: 0, canceled: 0, running: 0, new: 0, changed: 0, notCompared: 0 };
  /** Keys on record that a row has. */
  readonly #seen = new Set<string>();
  readonly #fresh: FreshRow[] = [];
  readonly #changed: Pick<OtherKeyRow, 'place' | 'key'>[] = [];

  readonly #choice: RunChoice;
  #spending: BatchSpending = noSpending;

  private constructor(known: Known, staged: StagedDigests | null, choice: RunChoice) {
    this.#known = known;
    this.#staged = staged;
    this.#choice = choice;
  }

  /** What the rows on record that the file has cost so far; null where that is not known. */
  get spending(): BatchSpending | null {
    return 'unknown' in this.#known || this.#isTemporalAlone ? null : this.#spending;
  }

  /** Whether it is known which rows the run would start. */
  get isKnown(): boolean {
    return !('unknown' in this.#known);
  }

  /** Asks the archive that the command knows, and Temporal; neither has to answer. */
  static async open(context: CommandContext, batchId: string, choice: RunChoice): Promise<RecordLookup> {
    const late = new AbortController();
    const asking = ask(context, batchId);
    asking.catch(() => undefined);
    const inTime = delay(withinMs, undefined, { signal: late.signal });
    const known = await Promise.race([asking, inTime]).finally(() => {
      late.abort();
    });
    const isStaged = readText(context.env, 'LONGHAUL_STAGING') !== undefined;
    const staged = isStaged ? await StagedDigests.open(loadStagingOf({ env: context.env })) : null;
    return new RecordLookup(known ?? { unknown: 'the archive or Temporal did not answer in time' }, staged, choice);
  }

  /**
   * Whether the run would start the row, as far as that is known. A staged row names its files by their content: they are
   * read.
   */
  async add(row: PreparedRow): Promise<boolean> {
    if ('unknown' in this.#known) return true;
    const { rows, running } = this.#known;
    const recorded = rows.get(row.key);
    if (recorded !== undefined) this.#seen.add(row.key);
    for (const cost of recorded?.costs ?? []) this.#spending = addCost(this.#spending, cost);
    const isRunning = running.has(row.key);
    if (isRunning) this.#count.running += 1;
    else if (recorded === undefined) await this.#addNew(row);
    else this.#count[countNames[recorded.status]] += 1;
    if (recorded === undefined) return !isRunning;
    const isChanged = await this.#isChanged(row, recorded);
    return !isRunning && this.#isStarted(recorded, isChanged);
  }

  /** Undefined where its content is not compared. */
  async #isChanged(row: PreparedRow, recorded: RecordedRow): Promise<boolean | undefined> {
    if (this.#isTemporalAlone) return undefined;
    const digest = await this.#digestOf(row);
    const isChanged = digest === undefined ? undefined : recorded.digest !== digest;
    if (recorded.isUnpaid) return isChanged;
    if (isChanged === undefined) this.#count.notCompared += 1;
    else if (isChanged) this.#addChanged(row);
    return isChanged;
  }

  #addChanged(row: PreparedRow): void {
    this.#count.changed += 1;
    if (this.#changed.length < maxNamed) this.#changed.push({ place: pickPlace(row), key: row.originalKey ?? row.key });
  }

  /** A row on record; as the batch chooses its rows. */
  #isStarted({ status, isUnpaid }: RecordedRow, isChanged = false): boolean {
    const { allowChanged = false, retryFailed = false } = this.#choice;
    if (isChanged) return allowChanged || isUnpaid;
    return status !== 'Success' && retryFailed;
  }

  async #addNew(row: PreparedRow): Promise<void> {
    this.#count.new += 1;
    if ('unknown' in this.#known || this.#known.rows.size === 0) return;
    const { key, originalKey, ...place } = row;
    const digest = this.#isTemporalAlone ? undefined : await this.#digestOf(row);
    if (digest === undefined) this.#count.notCompared += 1;
    this.#fresh.push({ key, originalKey, digest: digest ?? '', place: pickPlace(place) });
  }

  /** By Temporal alone nothing is known of their content. */
  get #isTemporalAlone(): boolean {
    return !('unknown' in this.#known) && this.#known.missing === archiveUnset;
  }

  /** As it is run; undefined where it is not known. */
  async #digestOf(row: PreparedRow): Promise<string | undefined> {
    return this.#staged === null ? row.digest : await this.#staged.digestOf(row);
  }

  /** @param isWhole - whether all rows of the file were added. */
  result(isWhole: boolean): OnRecord | { readonly unknown: string } {
    if ('unknown' in this.#known) return this.#known;
    const { rows, missing } = this.#known;
    const { changed, notCompared, ...counts } = this.#count;
    const gone = [...rows].filter(([key]) => !this.#seen.has(key));
    const paid = gone.filter(([, { isUnpaid }]) => !isUnpaid).map(([key, { digest }]) => ({ key, digest }));
    const { alike, runBefore } = findRowsRunBefore(this.#fresh, paid);
    const isKnown = !this.#isTemporalAlone;
    return {
      ...counts,
      changed: isKnown ? changed : null,
      changedRows: this.#changed,
      notCompared: isKnown ? notCompared : 0,
      alike: firstOf(alike, rows),
      gone: isWhole && isKnown ? gone.length : null,
      runBefore: isKnown ? firstOf(runBefore, rows) : null,
      missing,
    };
  }
}

type FreshRow = Pick<PreparedRow, 'key' | 'originalKey' | 'digest'> & Pick<OtherKeyRow, 'place'>;

function firstOf(found: readonly RowRunBefore<FreshRow>[], rows: ReadonlyMap<string, RecordedRow>): OtherKeyRows {
  const first = found.slice(0, maxNamed).map(({ row: { place, key, originalKey }, recorded }) => {
    const recordedOriginalKey = rows.get(recorded)?.originalKey;
    const given = recordedOriginalKey === undefined ? {} : { recordedOriginalKey };
    return { place, key: originalKey ?? key, recorded, ...given };
  });
  return { rows: found.length, first };
}

const countNames = { Success: 'success', Failed: 'failed', Canceled: 'canceled' } as const;
const archiveUnset = 'LONGHAUL_ARCHIVE is not set here, so that Temporal alone was asked';

async function ask(context: CommandContext, batchId: string): Promise<Known> {
  const place = findArchivePlace(context.env);
  if (place === null) return await askTemporalAlone(context, batchId);
  // The AWS SDK takes half a second to load.
  const { openArchive } = await import('../../storage/archive/open-archive.js');
  const { readRecordedRows } = await import('../../results/recorded-rows.js');
  try {
    const rows = await readRecordedRows(openArchive(place), batchId);
    // No batch has started a row before its record was laid out.
    if (rows === null) return { rows: new Map(), running: new Set(), missing: null };
    const tasks = await listRows(context, batchId, true);
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

async function askTemporalAlone(context: CommandContext, batchId: string): Promise<Known> {
  const tasks = await listRows(context, batchId, false);
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
  onlyRunning: boolean,
): Promise<RowTasks | { readonly unknown: string }> {
  const { env } = context;
  if (['TEMPORAL_ADDRESS', 'TEMPORAL_PROFILE', 'TEMPORAL_CONFIG_FILE'].every((name) => env[name] === undefined)) {
    return { unknown: 'TEMPORAL_ADDRESS is not set here' };
  }
  const running = new Set<string>();
  const ended = new Map<string, RecordedRow>();
  const prefix = rowWorkflowId(batchId, 'k').slice(0, -1);
  let isBatchRunning = false;
  try {
    await withLonghaul(context, {}, async (longhaul) => {
      isBatchRunning = !(await longhaul.batch(batchId).isOver().catch(ofUnknown));
      for await (const task of longhaul.list({ batch: batchId, ...(onlyRunning && { running: true }) })) {
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

/** Whether a run without `--allow-changed` refuses the file. */
export function isRefusedByRecord(found: OnRecord | { readonly unknown: string } | null): boolean {
  if (found === null || 'unknown' in found) return false;
  return (found.changed ?? 0) > 0 || found.alike.rows > 0 || (found.runBefore?.rows ?? 0) > 0;
}

/** For people, a line each. */
export function formatOnRecord(found: OnRecord | { readonly unknown: string }, allowChanged: boolean): string[] {
  if ('unknown' in found) return [`not known: ${found.unknown}`];
  const {
    success,
    failed,
    canceled,
    running,
    changed,
    changedRows: named,
    notCompared,
    alike,
    gone,
    runBefore,
    missing,
  } = found;
  const known = success + failed + canceled + running;
  const parts = [
    [success, 'finished'],
    [failed, 'failed'],
    [canceled, 'canceled'],
    [running, 'running'],
  ] as const;
  const counts = parts.filter(([count]) => count > 0).map(([count, name]) => `${formatCount(count)} ${name}`);
  const newRows = `${formatCount(found.new)} ${found.new === 1 ? 'is' : 'are'} new`;
  const consequence = allowChanged
    ? 'paid anew, as --allow-changed says'
    : 'refused without --allow-changed, which pays anew';
  const which = named.map(({ place, key }) => `${formatRowPlace(place)}: ${key}`).join(', ');
  const others = (changed ?? 0) > named.length ? ', …' : '';
  const changedRows = `other content than on record: ${formatCountOf(changed ?? 0, 'row')} (${which}${others}), ${consequence}`;
  const unread = `not compared: ${formatCountOf(notCompared, 'row')}, whose files are more than this check reads (${formatBytes(maxReadBytes)}); the run compares them, too`;
  return [
    `${formatCountOf(known, 'row')}${known === 0 ? '' : `: ${counts.join(', ')}`}; ${newRows}`,
    ...(changed === null || changed === 0 ? [] : [changedRows]),
    ...(gone === null || gone === 0 ? [] : [`no longer in the file: ${formatCountOf(gone, 'row')} on record`]),
    ...(notCompared === 0 ? [] : [unread]),
    ...(missing === null ? [] : [missing]),
    ...otherKeyLines(alike, 'looks like', 'such keys', allowChanged),
    ...(runBefore === null ? [] : otherKeyLines(runBefore, 'has the content of', 'such rows', allowChanged)),
  ];
}

function otherKeyLines({ rows, first }: OtherKeyRows, how: string, more: string, allowChanged: boolean): string[] {
  const consequence = allowChanged
    ? 'paid anew, as --allow-changed says'
    : 'refused without --allow-changed, which pays it anew';
  return [
    ...first.map(
      ({ place, key, recorded, recordedOriginalKey = recorded }) =>
        `the key ${showValue(key)} of ${formatRowPlace(place)} ${how} ${showValue(recordedOriginalKey)} on record: ${consequence}`,
    ),
    ...(rows > first.length ? [`and ${formatCount(rows - first.length)} more ${more}`] : []),
  ];
}
