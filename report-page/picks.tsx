import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ReportRow } from '../src/archive/report/report-data';

export type PickKind = 'keep' | 'reject';
/** By {@link pickId}. */
export type Picks = ReadonlyMap<string, PickKind>;

/** Another task of the row has other pictures. */
export function pickId({ requestId, workflowId }: ReportRow): string {
  return requestId ?? workflowId;
}

const pickOfKey: Readonly<Record<string, PickKind>> = { k: 'keep', r: 'reject' };

/** The picks of this page, kept by the browser where it can. A second pick of the same kind takes the first away. */
export function usePicks(batch: string): readonly [Picks, (row: ReportRow, pick: PickKind) => void] {
  const place = `longhaul picks of ${batch}`;
  const [picks, setPicks] = useState(() => readPicks(place));
  const choose = (row: ReportRow, pick: PickKind): void => {
    const id = pickId(row);
    const next = new Map(picks);
    if (!next.delete(id) || picks.get(id) !== pick) next.set(id, pick);
    setPicks(next);
    try {
      localStorage.setItem(place, JSON.stringify([...next]));
    } catch {
      // A page from a folder may not be allowed to; then the picks last as long as the page.
    }
  };
  return [picks, choose];
}

function readPicks(place: string): Picks {
  try {
    const stored = JSON.parse(localStorage.getItem(place) ?? '[]') as (readonly [string, string])[];
    return new Map(stored.flatMap(([id, pick]) => (pick === 'keep' || pick === 'reject' ? [[id, pick] as const] : [])));
  } catch {
    return new Map();
  }
}

/** What a key on the keyboard picks. */
export function pickByKey(event: KeyboardEvent): PickKind | undefined {
  return event.altKey || event.ctrlKey || event.metaKey ? undefined : pickOfKey[event.key.toLowerCase()];
}

interface PickButtonsProps {
  readonly row: ReportRow;
  readonly picked: PickKind | undefined;
  readonly choose: (row: ReportRow, pick: PickKind) => void;
  readonly tabIndex?: number;
}

export function PickButtons({ row, picked, choose, tabIndex }: PickButtonsProps): JSX.Element {
  const button = (pick: PickKind, text: string): JSX.Element => (
    <button
      type="button"
      class={pick}
      tabIndex={tabIndex}
      aria-pressed={picked === pick}
      aria-label={`${text} ${row.key}`}
      onClick={() => {
        choose(row, pick);
      }}
    >
      {text}
    </button>
  );
  return (
    <span class="picks">
      {button('keep', 'Keep')}
      {button('reject', 'Reject')}
    </span>
  );
}

/** How many rows are picked, and the button that saves them. */
export function SavePicks({
  rows,
  picks,
}: {
  readonly rows: readonly ReportRow[];
  readonly picks: Picks;
}): JSX.Element {
  const picked = rows.filter((row) => picks.has(pickId(row)));
  const kept = picked.filter((row) => picks.get(pickId(row)) === 'keep').length;
  return (
    <>
      {picked.length > 0 && (
        <span>
          {kept} kept, {picked.length - kept} rejected
        </span>
      )}
      <button
        type="button"
        disabled={picked.length === 0}
        onClick={() => {
          save('picks.csv', picksTable(picked, picks));
        }}
      >
        Save picks.csv
      </button>
    </>
  );
}

/** A line for each output of a picked row, as results.csv has it; one without an output is of all that no line names. */
function picksTable(rows: readonly ReportRow[], picks: Picks): string {
  const lines = rows.flatMap((row) => {
    const { key, files, fileCount } = row;
    const paths = files.map(({ path }) => path);
    if (paths.length < Math.max(1, fileCount)) paths.push('');
    return paths.map((path) => [key, path, picks.get(pickId(row)) ?? ''].map(cell).join(','));
  });
  return `\uFEFF${['key,output,pick', ...lines].join('\n')}\n`;
}

/** Quoted; an apostrophe keeps a spreadsheet from taking it for a formula, as in results.csv. */
function cell(text: string): string {
  const isFormula = /^'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/.test(text) && !/^[+-]?\d+(?:[.,]\d+)?$/.test(text);
  return `"${isFormula ? "'" : ''}${text.replaceAll('"', '""')}"`;
}

function save(name: string, text: string): void {
  const href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = href;
  link.download = name;
  link.click();
  // The browser reads it after the click.
  setTimeout(() => {
    URL.revokeObjectURL(href);
  }, 60_000);
}
