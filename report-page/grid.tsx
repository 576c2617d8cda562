import { observeWindowOffset, observeWindowRect, Virtualizer, windowScroll } from '@tanstack/virtual-core';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks';
import type { ReportFile, ReportRow } from '../src/archive/report/report-data';
import { durationMs, kindOf, savedAs, stateNames } from './data';
import { formatBytes, formatCost, formatDuration } from './format';
import { pickId, type PickKind, pickByKey, PickButtons, type Picks } from './picks';

const cardHeight = 356;
const minCardWidth = 170;
const gap = 12;

interface GridProps {
  readonly rows: readonly ReportRow[];
  /** Rows of one group begin a line of their own. @default none */
  readonly groupOf?: ((row: ReportRow) => number) | undefined;
  readonly hasCosts: boolean;
  readonly picks: Picks;
  readonly pick: (row: ReportRow, pick: PickKind) => void;
  readonly open: (row: ReportRow) => void;
}

interface GridLine {
  readonly start: number;
  readonly rows: readonly ReportRow[];
  readonly isNewGroup: boolean;
}

function linesOf(rows: readonly ReportRow[], groupOf: GridProps['groupOf'], columns: number): readonly GridLine[] {
  const lines: GridLine[] = [];
  for (let start = 0; start < rows.length;) {
    const group = rows.slice(start, start + columns);
    const first = group[0];
    const end = groupOf === undefined ? -1 : group.findIndex((row) => first && groupOf(row) !== groupOf(first));
    const line = end < 0 ? group : group.slice(0, end);
    const before = rows[start - 1];
    const isNewGroup = Boolean(groupOf && before && first && groupOf(before) !== groupOf(first));
    lines.push({ start, rows: line, isNewGroup });
    start += line.length;
  }
  return lines;
}

/** The rows as cards. Only those in sight, and a few more, are in the page's tree, however many there are. */
export function Grid({ rows, groupOf, hasCosts, picks, pick, open }: GridProps): JSX.Element {
  const list = useRef<HTMLDivElement>(null);
  const [columns, setColumns] = useState(4);
  const [current, setCurrent] = useState(0);
  const lines = useMemo(() => linesOf(rows, groupOf, columns), [rows, groupOf, columns]);
  const [, render] = useReducer<number, undefined>((count) => count + 1, 0);
  const [virtualizer] = useState(
    () =>
      new Virtualizer<Window, HTMLDivElement>({
        count: 0,
        getScrollElement: () => window,
        estimateSize: () => cardHeight + gap,
        observeElementRect: observeWindowRect,
        observeElementOffset: observeWindowOffset,
        scrollToFn: windowScroll,
        overscan: 2,
        onChange: () => {
          render(undefined);
        },
      }),
  );
  virtualizer.setOptions({
    ...virtualizer.options,
    count: lines.length,
    scrollMargin: list.current?.offsetTop ?? 0,
  });
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => {
    virtualizer._willUpdate();
  });
  useLayoutEffect(() => {
    const measure = (): void => {
      const width = list.current?.clientWidth ?? 0;
      setColumns(Math.max(1, Math.floor((width + gap) / (minCardWidth + gap))));
      render(undefined);
    };
    const observer = new ResizeObserver(measure);
    if (list.current !== null) observer.observe(list.current);
    // What is above the list opens and closes.
    observer.observe(document.body);
    return () => {
      observer.disconnect();
    };
  }, []);
  useEffect(() => {
    setCurrent(0);
  }, [rows]);

  const focus = (index: number): void => {
    const wanted = Math.max(0, Math.min(rows.length - 1, index));
    setCurrent(wanted);
    virtualizer.scrollToIndex(
      lines.findLastIndex(({ start }) => start <= wanted),
      { align: 'auto' },
    );
    // The card may come into the tree only after the scroll.
    const deadline = performance.now() + 1_000;
    const tryFocus = (): void => {
      const card = list.current?.querySelector<HTMLElement>(`[data-index="${wanted}"]`);
      if (card != null) card.focus({ preventScroll: true });
      else if (performance.now() < deadline) requestAnimationFrame(tryFocus);
    };
    requestAnimationFrame(tryFocus);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const page = Math.max(1, Math.floor(window.innerHeight / (cardHeight + gap))) * columns;
    const steps: Readonly<Record<string, number>> = {
      ArrowRight: current + 1,
      ArrowLeft: current - 1,
      ArrowDown: current + columns,
      ArrowUp: current - columns,
      PageDown: current + page,
      PageUp: current - page,
      Home: 0,
      End: rows.length - 1,
    };
    const next = steps[event.key];
    const row = rows[current];
    const chosen = pickByKey(event);
    if (chosen !== undefined && row !== undefined) pick(row, chosen);
    if (next === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    focus(next);
  };

  return (
    <div
      ref={list}
      class="grid"
      role="list"
      aria-label="Rows"
      style={{ height: `${virtualizer.getTotalSize()}px` }}
      onKeyDown={onKeyDown}
    >
      {virtualizer.getVirtualItems().map(({ index: number, start }) => {
        const line = lines[number];
        if (line === undefined) return null;
        return (
          <div
            key={number}
            class={`grid-line ${line.isNewGroup ? 'new-group' : ''}`}
            role="presentation"
            style={{
              transform: `translateY(${start - virtualizer.options.scrollMargin}px)`,
              gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))`,
            }}
          >
            {line.rows.map((row, column) => {
              const index = line.start + column;
              return (
                <Card
                  key={row.workflowId}
                  {...{ row, index, hasCosts, pick, open }}
                  picked={picks.get(pickId(row))}
                  count={rows.length}
                  isCurrent={index === current}
                  choose={setCurrent}
                />
              );
            })}
          </div>
        );
      })}
    </div>
  );
}

interface CardProps {
  readonly row: ReportRow;
  readonly hasCosts: boolean;
  readonly picked: PickKind | undefined;
  readonly pick: (row: ReportRow, pick: PickKind) => void;
  readonly open: (row: ReportRow) => void;
  readonly index: number;
  readonly count: number;
  readonly isCurrent: boolean;
  readonly choose: (index: number) => void;
}

/** A card whose picture is not at the end of its link, as in a page that was mailed, says so. */
function Card({ row, index, count, hasCosts, picked, isCurrent, choose, pick, open }: CardProps): JSX.Element {
  const [isMissing, setMissing] = useState(false);
  const tabIndex = isCurrent ? 0 : -1;
  const [first] = row.files;
  return (
    <div
      role="listitem"
      aria-setsize={count}
      aria-posinset={index + 1}
      class={`place ${picked ?? ''}`}
      onFocusIn={() => {
        choose(index);
      }}
    >
      <button
        type="button"
        class={`card ${row.state}`}
        data-index={index}
        tabIndex={tabIndex}
        onClick={() => {
          open(row);
        }}
      >
        <Preview
          {...{ row, isMissing }}
          onMissing={() => {
            setMissing(true);
          }}
        />
        <CardText row={row} hasCosts={hasCosts} />
      </button>
      <PickButtons {...{ row, picked, tabIndex }} choose={pick} />
      {isMissing && first !== undefined && <FileLink file={first} tabIndex={tabIndex} />}
    </div>
  );
}

const shownCells = 2;

/** What a person knows the row by comes first, the technical facts last. */
function CardText({ row, hasCosts }: { readonly row: ReportRow; readonly hasCosts: boolean }): JSX.Element {
  const cells = row.cells.filter(([, value]) => value !== row.key).slice(0, shownCells);
  return (
    <>
      <span class="card-key">{row.key}</span>
      {cells.map(([column, value], index) => (
        <span key={index} class="card-cell" title={column}>
          {value}
        </span>
      ))}
      <span class="card-facts">
        <StateMark state={row.state} />
        <span>{formatDuration(durationMs(row))}</span>
        {hasCosts && row.requestId !== null && <span>{formatCost(row.cost)}</span>}
      </span>
    </>
  );
}

/** All rows on paper; a picture that is not there leaves its place empty. */
export function ContactSheet({ rows }: { readonly rows: readonly ReportRow[] }): JSX.Element {
  return (
    <>
      {rows.map((row) => (
        <div key={row.workflowId} class={`sheet-card ${row.state}`}>
          <Preview row={row} isMissing={false} />
          <CardText row={row} hasCosts={false} />
        </div>
      ))}
    </>
  );
}

/** Beside the button, not in it: one cannot be pressed within the other. */
function FileLink({ file, tabIndex }: { readonly file: ReportFile; readonly tabIndex: number }): JSX.Element | null {
  return file.href === null ? null : (
    <a
      class="card-file"
      href={file.href}
      download={savedAs(file)}
      tabIndex={tabIndex}
      aria-label={`Open the file ${file.name}`}
    >
      Open the file
    </a>
  );
}

/** A state by name and sign, not by colour alone. */
export function StateMark({ state }: Pick<ReportRow, 'state'>): JSX.Element {
  const signs = { Success: '✓', Failed: '✕', Canceled: '■', NotStarted: '○' } as const;
  return (
    <span class={`state ${state}`}>
      <span aria-hidden="true">{signs[state]}</span> {stateNames[state]}
    </span>
  );
}

interface PreviewProps {
  readonly row: ReportRow;
  readonly isMissing: boolean;
  readonly onMissing?: () => void;
}

function Preview({ row, isMissing, onMissing }: PreviewProps): JSX.Element {
  const { files, fileCount, failure } = row;
  const first = files[0];
  const more = fileCount > 1 && <span class="count">{fileCount} files</span>;
  if (first === undefined) {
    return (
      <span class="preview words failure">
        <span>{failure === null ? 'No files' : failure.message}</span>
      </span>
    );
  }
  const kind = kindOf(first);
  if (kind === 'picture' && first.href !== null && !isMissing) {
    return (
      <span class="preview">
        <img src={first.href} alt="" loading="lazy" decoding="async" onError={onMissing} />
        {more}
      </span>
    );
  }
  const sign = { picture: '▣', video: '▶', audio: '♪', file: '▤' }[kind];
  return (
    <span class="preview words">
      <span class="sign" aria-hidden="true">
        {sign}
      </span>
      {first.name}
      {kind === 'picture' && <span class="why">{formatBytes(first.bytes)}, not beside this page</span>}
      {more}
    </span>
  );
}
