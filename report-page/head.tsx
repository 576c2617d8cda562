import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { ReportFacts, ReportRow } from '../src/archive/report/report-data';
import { type State, stateNames, states, sumCosts, sumLostCosts, totals } from './data';
import { Commands } from './details';
import { formatCost, formatCount, formatDuration, formatTime } from './format';

/** What a page says that was made before a run of its batch had ended. */
function PartialNote(): JSX.Element {
  return (
    <p>
      No run of this batch has ended. This page has the rows that were on record then, page by page: others may have
      ended, run, or wait. The batch’s status tells how many.
    </p>
  );
}

/** Rows on record that are not among those of the page; nothing without any. */
function GoneRows({ goneRows }: Pick<ReportFacts, 'goneRows'>): JSX.Element | null {
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

interface HeadProps {
  readonly facts: ReportFacts;
  readonly rows: readonly ReportRow[];
}

/** What came of the batch, and the commands to go on. */
export function Head({ facts, rows }: HeadProps): JSX.Element {
  const { batch, ending, source, leftOut, goneRows, isPartial = false, archive, madeAt, commands } = facts;
  const { startedMs, endedMs, files } = useMemo(() => totals(rows), [rows]);
  const { sums, unknown } = useMemo(() => sumCosts(rows), [rows]);
  const nothing = useMemo(() => sumLostCosts(rows), [rows]);
  const elapsedMs = startedMs === null || endedMs === null ? null : endedMs - startedMs;
  const count = (state: State): number => rows.filter((row) => row.state === state).length;
  // Rows that run, or that no page of the record has yet, are not among these.
  const shownStates = states.filter((state) => !isPartial || count(state) > 0);
  return (
    <header class="head">
      <h1>{batch}</h1>
      <p class="quiet">
        Batch {ending}
        {startedMs !== null && `, began ${formatTime(startedMs)}`}
        {source !== null && `, rows of ${source}`}
        {leftOut !== null && leftOut > 0 && `, without ${formatCount(leftOut)} that were left out`}. This page was made{' '}
        {formatTime(Date.parse(madeAt))}.
      </p>
      {isPartial && <PartialNote />}
      <dl class="tiles">
        {shownStates.map((state) => (
          <div class={`tile ${count(state) > 0 ? state : ''}`} key={state}>
            <dt>{stateNames[state]}</dt>
            <dd>{formatCount(count(state))}</dd>
          </div>
        ))}
        {leftOut !== null && leftOut > 0 && (
          <div class="tile LeftOut">
            <dt>Left out of the file</dt>
            <dd>{formatCount(leftOut)}</dd>
          </div>
        )}
        <div class="tile">
          <dt>Files</dt>
          <dd>{formatCount(files)}</dd>
        </div>
        <div class="tile">
          <dt>First start to last end</dt>
          <dd>{formatDuration(elapsedMs)}</dd>
        </div>
        {sums.map((cost) => (
          <div class="tile" key={cost?.[0]}>
            <dt>Cost</dt>
            <dd>{formatCost(cost)}</dd>
          </div>
        ))}
        {nothing.map((cost) => (
          <div class="tile" key={cost?.[0]}>
            <dt>Of which without a result</dt>
            <dd>{formatCost(cost)}</dd>
          </div>
        ))}
      </dl>
      {sums.length > 0 && unknown > 0 && (
        <p class="quiet">{formatCount(unknown)} rows have no known price; they are not in the cost.</p>
      )}
      <GoneRows goneRows={goneRows ?? null} />
      <details>
        <summary>Commands to go on</summary>
        <Commands commands={commands} />
        <p class="quiet">
          The files are in <code>{archive}</code>.
        </p>
      </details>
    </header>
  );
}
