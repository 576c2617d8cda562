import 'uplot/dist/uPlot.min.css';
import './page.css';
import { type JSX, render } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { ReportFacts, ReportRow } from '../src/archive/report/report-data';
import {
  type FailureGroup,
  groupFailures,
  type Order,
  readData,
  type Selection,
  selectRows,
  type State,
  stateNames,
  states,
  sumCosts,
  sumLostCosts,
  totals,
} from './data';
import { Commands, Details } from './details';
import { formatCost, formatCount, formatDuration, formatTime } from './format';
import { Grid } from './grid';
import { GoneRows, PartialNote } from './notes';
import { Plots } from './plots';

const orders: Readonly<Record<Order, string>> = {
  line: 'as in the row file',
  key: 'by key',
  slowest: 'slowest first',
  dearest: 'dearest first',
  latest: 'last ended first',
};
const everything: Selection = { text: '', state: 'all', failure: null, order: 'line' };
/** So many kinds of failure are shown before the rest is asked for. */
const shownFailures = 8;

interface PageProps {
  readonly facts: ReportFacts;
  readonly rows: readonly ReportRow[];
}

function Page({ facts, rows }: PageProps): JSX.Element {
  const [selection, setSelection] = useState(everything);
  const [opened, setOpened] = useState<ReportRow | null>(null);
  const selected = useMemo(() => selectRows(rows, selection), [rows, selection]);
  const failures = useMemo(() => groupFailures(rows), [rows]);
  const hasCosts = useMemo(() => rows.some(({ cost }) => cost !== null), [rows]);
  const change = (part: Partial<Selection>): void => {
    setSelection({ ...selection, ...part });
  };
  const step = (by: 1 | -1): void => {
    const index = opened === null ? -1 : selected.indexOf(opened);
    const next = selected[index + by];
    if (index >= 0 && next !== undefined) setOpened(next);
  };
  return (
    <>
      <Head facts={facts} rows={rows} />
      <main>
        <Failures
          {...{ facts, failures }}
          chosen={selection.failure}
          choose={(failure) => {
            change({ failure, state: failure === null ? selection.state : 'all' });
          }}
        />
        <details open class="section">
          <summary>
            <h2>Over time</h2>
          </summary>
          <Plots rows={rows} />
        </details>
        <section class="section">
          <h2>Rows</h2>
          <Filters {...{ rows, selection, change, hasCosts }} />
          <p class="shown" role="status">
            {selected.length === rows.length
              ? `${formatCount(rows.length)} rows`
              : `${formatCount(selected.length)} of ${formatCount(rows.length)} rows`}
            {selected.length < rows.length && (
              <button
                type="button"
                onClick={() => {
                  setSelection({ ...everything, order: selection.order });
                }}
              >
                Show all
              </button>
            )}
          </p>
          <Grid rows={selected} hasCosts={hasCosts} open={setOpened} />
        </section>
      </main>
      {opened !== null && (
        <Details
          {...{ facts, step }}
          row={opened}
          close={() => {
            setOpened(null);
          }}
        />
      )}
    </>
  );
}

function Head({ facts, rows }: PageProps): JSX.Element {
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
          <div class={`tile ${state}`} key={state}>
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

interface FailuresProps {
  readonly facts: ReportFacts;
  readonly failures: readonly FailureGroup[];
  readonly chosen: string | null;
  readonly choose: (failure: string | null) => void;
}

function Failures({ facts, failures, chosen, choose }: FailuresProps): JSX.Element | null {
  const [isWhole, setWhole] = useState(false);
  if (failures.length === 0) return null;
  const shown = isWhole ? failures : failures.slice(0, shownFailures);
  return (
    <section class="section">
      <h2>Failures</h2>
      <table class="failures">
        <thead>
          <tr>
            <th scope="col">Rows</th>
            <th scope="col">Failure</th>
            <th scope="col">To repair</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ key, type, message, count }) => (
            <tr key={key}>
              <td>
                <button
                  type="button"
                  aria-pressed={key === chosen}
                  aria-label={`Show the ${count} rows with ${type}`}
                  onClick={() => {
                    choose(key === chosen ? null : key);
                  }}
                >
                  {formatCount(count)}
                </button>
              </td>
              <td>
                <code>{type}</code> <span class="words">{message}</span>
              </td>
              <td>{facts.repairs[type] !== undefined && <Commands commands={facts.repairs[type]} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {failures.length > shown.length && (
        <button
          type="button"
          onClick={() => {
            setWhole(true);
          }}
        >
          Show {failures.length - shown.length} more kinds of failure
        </button>
      )}
    </section>
  );
}

interface FiltersProps {
  readonly rows: readonly ReportRow[];
  readonly selection: Selection;
  readonly change: (part: Partial<Selection>) => void;
  readonly hasCosts: boolean;
}

function Filters({ rows, selection, change, hasCosts }: FiltersProps): JSX.Element {
  const present = states.filter((state) => rows.some((row) => row.state === state));
  return (
    <form
      class="filters"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
      }}
    >
      <label>
        Search
        <input
          type="search"
          value={selection.text}
          placeholder="key, cell of the row file, request id, failure, file"
          onInput={({ currentTarget }) => {
            change({ text: currentTarget.value });
          }}
        />
      </label>
      <label>
        State
        <select
          value={selection.state}
          onChange={({ currentTarget }) => {
            change({ state: currentTarget.value as State | 'all', failure: null });
          }}
        >
          <option value="all">All</option>
          {present.map((state) => (
            <option key={state} value={state}>
              {stateNames[state]}
            </option>
          ))}
        </select>
      </label>
      <label>
        Order
        <select
          value={selection.order}
          onChange={({ currentTarget }) => {
            change({ order: currentTarget.value as Order });
          }}
        >
          {(Object.keys(orders) as Order[])
            .filter((order) => order !== 'dearest' || hasCosts)
            .map((order) => (
              <option key={order} value={order}>
                {orders[order]}
              </option>
            ))}
        </select>
      </label>
    </form>
  );
}

const { facts, rows } = readData();
const place = document.getElementById('page');
if (place !== null) render(<Page facts={facts} rows={rows} />, place);
