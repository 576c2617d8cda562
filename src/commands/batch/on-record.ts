import { formatRowPlace, type RowPlace } from '../../domain/batch/row-place';
import { formatBytes, formatCount, formatCountOf, showValue } from '../../domain/text';
import { maxReadBytes } from './staged-digests';

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
export interface OtherKeyRows {
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
  /** Rows that were refused before anything was paid and have other content now, so that the run starts them; null where that cannot be compared. */
  readonly corrected: number | null;
  /** The first of them. */
  readonly correctedRows: readonly Pick<OtherKeyRow, 'place' | 'key'>[];
  /** Rows whose content was not compared, because their files are large. */
  readonly notCompared: number;
  /** New rows whose keys look like keys on record. */
  readonly alike: OtherKeyRows;
  /** Rows on record that the file no longer has; null where `--first` cut it, or Temporal alone was asked. */
  readonly gone: number | null;
  /** The keys of the first of them, as those rows gave them. */
  readonly goneKeys: readonly string[];
  /** New rows that have the content of those; null where that cannot be compared. */
  readonly runBefore: OtherKeyRows | null;
  /** Why not all is known; null when it is. */
  readonly missing: string | null;
}

/** Whether a run without `--allow-changed` refuses the file. */
export function isRefusedByRecord(found: OnRecord | { readonly unknown: string } | null): boolean {
  if (found === null || 'unknown' in found) return false;
  return (found.changed ?? 0) > 0 || found.alike.rows > 0 || (found.runBefore?.rows ?? 0) > 0;
}

/** For people, a line each. */
export function formatOnRecord(found: OnRecord | { readonly unknown: string }, allowChanged: boolean): string[] {
  if ('unknown' in found) return [`not known: ${found.unknown}`];
  const { success, failed, canceled, running, changed, corrected, notCompared, alike, runBefore, missing } = found;
  const { gone, goneKeys } = found;
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
  const changedRows = `other content than on record: ${whichRows(changed ?? 0, found.changedRows)}, ${consequence}`;
  const correctedRows = `corrected since they were refused unpaid: ${whichRows(corrected ?? 0, found.correctedRows)}, started by the run`;
  const unread = `not compared: ${formatCountOf(notCompared, 'row')}, whose files are more than this check reads (${formatBytes(maxReadBytes)}); the run compares them, too`;
  return [
    `${formatCountOf(known, 'row')}${known === 0 ? '' : `: ${counts.join(', ')}`}; ${newRows}`,
    ...(changed === null || changed === 0 ? [] : [changedRows]),
    ...(corrected === null || corrected === 0 ? [] : [correctedRows]),
    ...(gone === null || gone === 0 ? [] : [goneWords(gone, goneKeys)]),
    ...(notCompared === 0 ? [] : [unread]),
    ...(missing === null ? [] : [missing]),
    ...otherKeyLines(alike, 'looks like', 'such keys', allowChanged),
    ...(runBefore === null ? [] : otherKeyLines(runBefore, 'has the content of', 'such rows', allowChanged)),
  ];
}

function goneWords(gone: number, keys: readonly string[]): string {
  const which = keys.map((key) => showValue(key)).join(', ');
  return `no longer in the file: ${formatCountOf(gone, 'row')} on record (${which}${gone > keys.length ? ', …' : ''})`;
}

function whichRows(rows: number, first: OnRecord['changedRows']): string {
  const which = first.map(({ place, key }) => `${formatRowPlace(place)}: ${key}`).join(', ');
  return `${formatCountOf(rows, 'row')} (${which}${rows > first.length ? ', …' : ''})`;
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
