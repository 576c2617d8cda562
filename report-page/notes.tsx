import type { JSX } from 'preact';
import type { ReportFacts } from '../src/archive/report/report-data';
import { formatCost, formatCount } from './format';

/** What a page says that was made before a run of its batch had ended. */
export function PartialNote(): JSX.Element {
  return (
    <p>
      No run of this batch has ended. This page has the rows that were on record then, page by page: others may have
      ended, run, or wait. The batch’s status tells how many.
    </p>
  );
}

/** Rows on record that are not among those of the page; nothing without any. */
export function GoneRows({ goneRows }: Pick<ReportFacts, 'goneRows'>): JSX.Element | null {
  if (goneRows == null) return null;
  const { rows, sums } = goneRows;
  const cost = sums.map(({ currency, micros }) => formatCost([currency, micros])).join(' and ');
  return (
    <p class="quiet">
      {formatCount(rows)} more {rows === 1 ? 'row is' : 'rows are'} on record and not among these
      {cost !== '' && `; their cost, ${cost}, is not in the cost`}.
    </p>
  );
}
