import 'uplot/dist/uPlot.min.css';
import './page.css';
import { type JSX, render } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
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
} from './data';
import { Commands, Details } from './details';
import { formatCount } from './format';
import { ContactSheet, Grid } from './grid';
import { Head } from './head';
import { pickId, SavePicks, usePicks } from './picks';
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
  const [isGrouped, setGrouped] = useState(true);
  const [picks, pick] = usePicks(facts.batch);
  const hasVariations = useMemo(() => new Set(rows.map(({ line }) => line)).size < rows.length, [rows]);
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
            {hasVariations && selection.order === 'line' && (
              <button
                type="button"
                aria-pressed={isGrouped}
                onClick={() => {
                  setGrouped(!isGrouped);
                }}
              >
                Variations together
              </button>
            )}
            <SavePicks rows={rows} picks={picks} />
          </p>
          <Grid
            {...{ hasCosts, picks, pick }}
            rows={selected}
            groupOf={hasVariations && isGrouped && selection.order === 'line' ? lineOf : undefined}
            open={setOpened}
          />
          <PrintedSheet rows={selected} />
        </section>
      </main>
      {opened !== null && (
        <Details
          {...{ facts, step, pick }}
          row={opened}
          picked={picks.get(pickId(opened))}
          close={() => {
            setOpened(null);
          }}
        />
      )}
    </>
  );
}

/** Variations of one row stand on the same line of its file. */
function lineOf({ line }: ReportRow): number {
  return line;
}

/** Made when the page is printed: the grid has only the rows in sight. */
function PrintedSheet({ rows }: Pick<PageProps, 'rows'>): JSX.Element {
  const sheet = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const show = (shown: readonly ReportRow[]) => (): void => {
      if (sheet.current !== null) render(<ContactSheet rows={shown} />, sheet.current);
    };
    const [fill, clear] = [show(rows), show([])];
    addEventListener('beforeprint', fill);
    addEventListener('afterprint', clear);
    return () => {
      removeEventListener('beforeprint', fill);
      removeEventListener('afterprint', clear);
    };
  }, [rows]);
  return <div ref={sheet} class="sheet" />;
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
