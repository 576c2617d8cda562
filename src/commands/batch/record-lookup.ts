import { LonghaulError, UnknownTaskError } from '../../client/errors';
import { findArchivePlace, loadStagingOf } from '../../config/client-config';
import { ConfigError, readText } from '../../config/environment';
import type { RowChoice } from '../../contract/batch/batch-input';
import type { RowRecord } from '../../contract/batch/batch-rows';
import { inputDigest } from '../../contract/task-input';
import { rowWorkflowId } from '../../contract/workflow-ids';
import { addCost, type BatchSpending, noSpending } from '../../money/batch-budget';
import { shownKey } from '../../core/batch/row-place';
import type { Money } from '../../money/money';
import { formatCount, formatCountOf, showValue } from '../../core/text';
import { ResultsError } from '../../archive/errors';
import { isToStart, type PreparedRow, RecordComparison, type RefusedRows, refusalWords, stageInputs } from '../../rows';
import { ArchiveError } from '../../storage/errors';
import { type CommandContext, withLonghaul } from '../command-context';
import { inTime } from './file-estimate';

/** The longest that a check is held up. */
const answerWithinMs = 15_000;
const maxNamed = 5;

type Known =
  | {
      readonly rows: ReadonlyMap<string, RowRecord>;
      readonly readCosts: (record: RowRecord) => readonly (Money | undefined)[];
      readonly running: ReadonlySet<string>;
      readonly missing: string | null;
    }
  | { readonly unknown: string };

/** How the good rows of a file compare with what is on record of their batch. */
export interface OnRecord {
  readonly success: number;
  readonly failed: number;
  readonly canceled: number;
  /** Of those that are not on record. */
  readonly running: number;
  readonly new: number;
  /** Of those on record, with other content. */
  readonly changed: number;
  /** Refused before anything was paid, with other content now: the run starts them. */
  readonly corrected: number;
  /** On record, and no longer in the file; null where `--first` cut it. */
  readonly gone: number | null;
  /** The first of `gone`, as those rows gave them. */
  readonly goneKeys: readonly string[];
  /** What the run refuses; null when it starts the file. */
  readonly refused: RefusedRows | null;
  /** Why not all is known; null when it is. */
  readonly missing: string | null;
}

/** Which rows are on record, as far as the archive and Temporal can be asked, and which of them a run starts. */
export class RecordLookup {
  readonly #known: Known;
  readonly #choice: RowChoice;
  /** As in the run: a staged row names its files by their content. */
  readonly #digestOf: DigestReader;
  readonly #comparison = new RecordComparison();
  /** Keys on record that no row has had so far. */
  readonly #gone: Set<string>;
  #running = 0;
  #spending: BatchSpending = noSpending;

  private constructor(known: Known, choice: RowChoice, digestOf: DigestReader) {
    this.#known = known;
    this.#choice = choice;
    this.#digestOf = digestOf;
    this.#gone = new Set('unknown' in known ? [] : known.rows.keys());
  }

  /** Asks the archive and Temporal; neither has to answer, and a late one is given up. */
  static async open(
    context: CommandContext,
    input: RowChoice & { readonly id: string },
    withinMs = answerWithinMs,
  ): Promise<RecordLookup> {
    const known = await inTime(withinMs, (signal) => readKnown(context, input.id, signal));
    const digestOf = await digestReader(context.env);
    return new RecordLookup(known ?? { unknown: 'the archive or Temporal did not answer in time' }, input, digestOf);
  }

  /** What the rows on record that the file has cost so far; null where that is not known. */
  get spending(): BatchSpending | null {
    return 'unknown' in this.#known ? null : this.#spending;
  }

  get isKnown(): boolean {
    return !('unknown' in this.#known);
  }

  /** Whether the run would start the row; true where that is not known. */
  async add(row: PreparedRow): Promise<boolean> {
    if ('unknown' in this.#known) return true;
    const recorded = this.#known.rows.get(row.key);
    const isRunning = this.#known.running.has(row.key);
    this.#gone.delete(row.key);
    if (isRunning && recorded === undefined) {
      this.#running += 1;
      return false;
    }
    const own = recorded === undefined ? row : { ...row, digest: await this.#digestOf(row) };
    this.#comparison.add(own, recorded);
    const costs = recorded === undefined ? [] : this.#known.readCosts(recorded);
    for (const cost of costs) this.#spending = addCost(this.#spending, cost);
    return !isRunning && isToStart(own, recorded ?? null, { mode: 'new', choice: this.#choice });
  }

  /** @param isWhole - whether all rows of the file were added. */
  result(isWhole: boolean): OnRecord | { readonly unknown: string } {
    if ('unknown' in this.#known) return this.#known;
    const { rows, missing } = this.#known;
    const { success, failed, canceled, new: fresh, changed, corrected } = this.#comparison.counts;
    const gone = isWhole ? [...this.#gone].flatMap((key) => rows.get(key) ?? []) : [];
    return {
      success,
      failed,
      canceled,
      running: this.#running,
      new: fresh,
      changed,
      corrected,
      gone: isWhole ? gone.length : null,
      goneKeys: gone.slice(0, maxNamed).map(shownKey),
      refused: this.#comparison.refusal(gone, this.#choice) ?? null,
      missing,
    };
  }
}

type DigestReader = (row: PreparedRow) => Promise<string>;

/** As the run has it: with a staging, files are hashed; nothing is sent. */
async function digestReader(env: NodeJS.ProcessEnv): Promise<DigestReader> {
  if (readText(env, 'LONGHAUL_STAGING') === undefined) return (row) => Promise.resolve(row.digest);
  const place = loadStagingOf({ env });
  const { stagedUri } = await import('../../storage/staging.js');
  const { hashFile } = await import('../../storage/hash.js');
  const uris = new Map<string, Promise<string>>();
  const keepInput = async (path: string): Promise<string> => {
    // One that vanishes meanwhile is a bad row of the run.
    const hash = () =>
      hashFile(path)
        .then(({ sha256 }) => stagedUri(place, sha256, path))
        .catch(() => path);
    const uri = uris.get(path) ?? hash();
    uris.set(path, uri);
    return await uri;
  };
  return async ({ input }) => {
    const [inputs = {}] = await stageInputs({ keepInput }, [input.inputs]);
    return inputDigest({ ...input, inputs });
  };
}

/** Whether it is said where Temporal is. */
export function hasTemporal(env: NodeJS.ProcessEnv): boolean {
  return ['TEMPORAL_ADDRESS', 'TEMPORAL_PROFILE', 'TEMPORAL_CONFIG_FILE'].some((name) => env[name] !== undefined);
}

async function readKnown(context: CommandContext, batchId: string, signal: AbortSignal): Promise<Known> {
  const place = findArchivePlace(context.env);
  if (place === null) return { unknown: 'LONGHAUL_ARCHIVE is not set here' };
  const { openArchive } = await import('../../storage/archive/open-archive.js');
  const { readCosts, readRecordedRows } = await import('../../archive/archive-reader.js');
  const running = new Set<string>();
  let rows: ReadonlyMap<string, RowRecord> | null;
  try {
    rows = await readRecordedRows(openArchive(place), batchId, signal);
  } catch (error) {
    if (!(error instanceof ArchiveError || error instanceof ResultsError)) throw error;
    return { unknown: `the archive cannot be read here (${error.message})` };
  }
  // A batch starts rows only once its record is laid out.
  if (rows === null) return { rows: new Map(), readCosts, running, missing: null };
  if (!hasTemporal(context.env))
    return { rows, readCosts, running, missing: 'rows that run are not known: TEMPORAL_ADDRESS is not set here' };
  signal.throwIfAborted();
  try {
    const isOver = await withLonghaul(context, {}, async (longhaul) => {
      const prefix = rowWorkflowId(batchId, '');
      for await (const { workflowId } of longhaul.list({ batch: batchId, running: true })) {
        signal.throwIfAborted();
        if (workflowId.startsWith(prefix)) running.add(workflowId.slice(prefix.length));
      }
      const batch = longhaul.batch(batchId);
      return await batch.isOver().catch((error: unknown) => {
        // A batch that was never started does not run.
        if (error instanceof UnknownTaskError) return true;
        throw error;
      });
    });
    const whileItRuns = `the batch runs, so rows that have just ended may be called new here, and a run with other rows is refused until it is over: longhaul batch status ${batchId}`;
    return { rows, readCosts, running, missing: isOver ? null : whileItRuns };
  } catch (error) {
    if (!(error instanceof LonghaulError || error instanceof ConfigError)) throw error;
    const missing = `rows that run are not known: ${error.message.split(/: |\. |\n/, 1)[0]}`;
    return { rows, readCosts, running, missing };
  }
}

export function formatOnRecord(found: OnRecord | { readonly unknown: string }): string[] {
  if ('unknown' in found) return [`not known: ${found.unknown}`];
  const { success, failed, canceled, running, changed, corrected, gone, goneKeys, refused, missing } = found;
  const known = success + failed + canceled + running;
  const counts = Object.entries({ finished: success, failed, canceled, running })
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${formatCount(count)} ${name}`);
  const newRows = `${formatCount(found.new)} ${found.new === 1 ? 'is' : 'are'} new`;
  const lines = [`${formatCountOf(known, 'row')}${known === 0 ? '' : `: ${counts.join(', ')}`}; ${newRows}`];
  if (refused !== null) lines.push(...refusalWords(refused).split('\n'));
  if (changed > 0 && (refused?.changed ?? 0) === 0) {
    lines.push(`other content than on record: ${formatCountOf(changed, 'row')}, paid anew, as --allow-changed says`);
  }
  if (corrected > 0) {
    lines.push(`corrected since they were refused unpaid: ${formatCountOf(corrected, 'row')}, started by the run`);
  }
  if (gone !== null && gone > 0) {
    const which = `${goneKeys.map((key) => showValue(key)).join(', ')}${gone > goneKeys.length ? ', …' : ''}`;
    lines.push(`no longer in the file: ${formatCountOf(gone, 'row')} on record (${which})`);
  }
  if (missing !== null) lines.push(missing);
  return lines;
}
