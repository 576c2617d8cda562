import type { BatchView } from '../../client/batch-handle';
import type { BatchProgress } from '../../contract/batch-messages';
import { stalledForMs } from '../../domain/batch-pace';
import { formatBytes } from '../../domain/text';
import { formatClock } from '../format';

/** A batch of which there is something to show. */
export interface ShownBatch extends Pick<BatchView, 'retrying' | 'needPerson' | 'uploading'> {
  readonly progress: BatchProgress;
}

const barWidth = 24;

/** `1,234`. */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}

/** Rows that have ended, however. */
export function endedRows({ success, failed, canceled }: BatchProgress): number {
  return success + failed + canceled;
}

/** The overall bar: `[█████░░░░░]  62 %  1,234 of 2,000 rows · 0:42`. */
export function barLine(progress: BatchProgress, elapsedMs: number): string {
  const share = shareOf(progress);
  const done = Math.floor(share * barWidth);
  const bar = `${'█'.repeat(done)}${'░'.repeat(barWidth - done)}`;
  const percent = String(Math.floor(share * 100)).padStart(3);
  return `[${bar}] ${percent} %  ${rowsWords(progress)} · ${formatClock(elapsedMs)}`;
}

/** `Running: 100 running, 600 waiting, 12 failed`. */
export function countsLine({ state, running, waiting, failed, canceled }: BatchProgress): string {
  const stopped = canceled === 0 ? '' : `, ${formatCount(canceled)} canceled`;
  const counts = `${formatCount(running)} running, ${formatCount(waiting)} waiting, ${formatCount(failed)} failed`;
  return `${state}: ${counts}${stopped}`;
}

/** `12.3 rows a minute, about 1:05 left (until 14:32)`; no end while no row starts or ends. */
export function paceLine(progress: BatchProgress, nowMs: number): string {
  const { perMinute, expectedEnd } = progress;
  const stalledMs = stalledForMs(progress, nowMs);
  if (stalledMs !== null) return `no worker has moved a row for ${formatClock(stalledMs)}, so no end can be told`;
  if (perMinute === null)
    return endedRows(progress) === 0 ? 'no row has ended yet' : 'no row has ended since the start';
  const pace = `${perMinute >= 10 ? formatCount(Math.round(perMinute)) : perMinute.toFixed(1)} rows a minute`;
  if (expectedEnd === null) return pace;
  const endMs = Date.parse(expectedEnd);
  const until = new Date(endMs).toTimeString().slice(0, 5);
  return `${pace}, about ${formatClock(endMs - nowMs)} left (until ${until})`;
}

/** `5 rows now, 1,234 files (3.4 GB) sent, 766 shared`; undefined where nothing is uploaded. */
export function uploadWords({ progress, uploading }: ShownBatch): string | undefined {
  const { files, bytes, shared } = progress.uploads;
  if (uploading + files + shared === 0) return undefined;
  const now = progress.running === 0 ? '' : `${formatCount(uploading)} ${uploading === 1 ? 'row' : 'rows'} now, `;
  return `${now}${formatCount(files)} files (${formatBytes(bytes)}) sent, ${formatCount(shared)} shared`;
}

/** The same as a line. */
export function uploadLine(batch: ShownBatch): string | undefined {
  const words = uploadWords(batch);
  return words === undefined ? undefined : `uploads: ${words}`;
}

/** What stands in the way; undefined when nothing does. */
export function troubleWords({ progress, retrying, needPerson }: ShownBatch): string | undefined {
  const [retry] = retrying;
  if (retry !== undefined) return `${retry.activity}, attempt ${retry.attempt}: ${retry.lastFailure}`;
  if (progress.problem !== null) return progress.problem;
  const list = `longhaul list --batch ${progress.batchId} --needs-person`;
  if (needPerson === 0) return undefined;
  return `${formatCount(needPerson)} ${needPerson === 1 ? 'row waits' : 'rows wait'} for a person; ${list}`;
}

/** The same as a line. */
export function troubleLine(batch: ShownBatch): string | undefined {
  const words = troubleWords(batch);
  return words === undefined ? undefined : `trouble: ${words}`;
}

/** The last row that failed. */
export function lastFailureLine({ lastFailures: [last] }: BatchProgress): string | undefined {
  return last && `last failure: ${last.key} (line ${last.line}): ${last.message}`;
}

/** All of it in one line, for a log. */
export function progressLine(batch: ShownBatch, elapsedMs: number, nowMs: number): string {
  const { progress } = batch;
  const uploads = uploadLine(batch);
  const percent = `${Math.floor(shareOf(progress) * 100)} %`;
  return [
    `${formatClock(elapsedMs)}  ${countsLine(progress)}`,
    `${rowsWords(progress)} (${percent})`,
    paceLine(progress, nowMs),
    ...(uploads === undefined ? [] : [uploads]),
  ].join(' · ');
}

function rowsWords(progress: BatchProgress): string {
  return `${formatCount(endedRows(progress))} of ${formatCount(progress.rows)} rows`;
}

function shareOf(progress: BatchProgress): number {
  return progress.rows === 0 ? 1 : Math.min(1, endedRows(progress) / progress.rows);
}
