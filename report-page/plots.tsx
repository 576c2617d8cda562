import type { JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import type { ReportRow } from '../src/archive/report/report-data';
import { durationMs, percentile } from './data';
import { formatCost, formatCount, formatDuration } from './format';

interface Plot {
  readonly title: string;
  /** What the drawing shows, in words. */
  readonly summary: string;
  readonly data: uPlot.AlignedData;
  readonly drawn: 'points' | 'bars' | 'line';
  readonly format: (value: number) => string;
}

const plotHeight = 160;

/** How the batch went over time: throughput, duration, queue time and cost. */
export function Plots({ rows }: { readonly rows: readonly ReportRow[] }): JSX.Element | null {
  const plots = useMemo(() => makePlots(rows), [rows]);
  if (plots.length === 0) return null;
  return (
    <div class="plots">
      {plots.map((plot) => (
        <Drawing key={plot.title} plot={plot} />
      ))}
    </div>
  );
}

function makePlots(rows: readonly ReportRow[]): readonly Plot[] {
  const ended = rows.filter(({ endedMs }) => endedMs !== null).sort((one, other) => end(one) - end(other));
  if (ended.length < 2) return [];
  return [
    throughput(ended),
    scatter('Duration', ended, durationMs),
    scatter('Time in the queue of the service', ended, ({ queuedMs }) => queuedMs),
    ...costs(ended),
  ].filter(({ data }) => data[0].length > 1);
}

function throughput(ended: readonly ReportRow[]): Plot {
  const first = end(ended[0]);
  const span = Math.max(1, end(ended.at(-1)) - first);
  const width = [1, 5, 10, 30, 60, 300, 600, 1_800, 3_600].find((seconds) => span / (seconds * 1_000) <= 80) ?? 7_200;
  const bars = Array.from<number>({ length: Math.floor(span / (width * 1_000)) + 1 }).fill(0);
  for (const row of ended) {
    const index = Math.floor((end(row) - first) / (width * 1_000));
    bars[index] = (bars[index] ?? 0) + 1;
  }
  const perMinute = (count: number): string => {
    const rate = (count * 60) / width;
    return rate > 0 && rate < 10 ? rate.toFixed(1) : formatCount(Math.round(rate));
  };
  return {
    title: 'Rows ended a minute',
    summary: `On average ${perMinute(ended.length / bars.length)}, at most ${perMinute(Math.max(...bars))}`,
    // A bar begins at its moment: without one more, the last bar would be drawn beyond the edge.
    data: [
      [...bars, 0].map((_, index) => first / 1_000 + index * width),
      [...bars.map((count) => (count * 60) / width), null],
    ],
    drawn: 'bars',
    format: (value) => formatCount(Math.round(value * 10) / 10),
  };
}

function scatter(title: string, ended: readonly ReportRow[], value: (row: ReportRow) => number | null): Plot {
  const known = ended.flatMap((row) => {
    const ms = value(row);
    return ms === null ? [] : [[end(row) / 1_000, ms] as const];
  });
  const values = known.map(([, ms]) => ms);
  const [median, late] = [50, 90].map((percent) => formatDuration(percentile(values, percent)));
  return {
    title,
    summary: `Median ${median ?? ''}, 90 % within ${late ?? ''}`,
    data: [known.map(([at]) => at), values],
    drawn: 'points',
    format: formatDuration,
  };
}

/** Summed up over time, a plot for each currency. */
function costs(ended: readonly ReportRow[]): readonly Plot[] {
  const byCurrency = new Map<string, [at: number[], sums: number[]]>();
  for (const row of ended) {
    if (row.cost === null) continue;
    const [currency, micros] = row.cost;
    const [at, sums] = byCurrency.get(currency) ?? [[], []];
    at.push(end(row) / 1_000);
    sums.push((sums.at(-1) ?? 0) + micros);
    byCurrency.set(currency, [at, sums]);
  }
  return [...byCurrency].map(([currency, [at, sums]]) => ({
    title: `Cost so far, ${currency}`,
    summary: `${formatCost([currency, sums.at(-1) ?? 0])} for ${formatCount(at.length)} rows`,
    data: [at, sums],
    drawn: 'line' as const,
    format: (micros: number) => (micros / 1e6).toFixed(2),
  }));
}

function end(row: ReportRow | undefined): number {
  return row?.endedMs ?? 0;
}

function Drawing({ plot }: { readonly plot: Plot }): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    let drawing: uPlot | undefined;
    const draw = (): void => {
      drawing?.destroy();
      drawing = new uPlot(optionsOf(plot, element.clientWidth), plot.data, element);
    };
    draw();
    const observer = new ResizeObserver(() => drawing?.setSize({ width: element.clientWidth, height: plotHeight }));
    observer.observe(element);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', draw);
    return () => {
      observer.disconnect();
      dark.removeEventListener('change', draw);
      drawing?.destroy();
    };
  }, [plot]);
  return (
    <figure>
      <figcaption>
        <strong>{plot.title}</strong>
        <span>{plot.summary}</span>
      </figcaption>
      <div ref={place} class="plot" role="img" aria-label={`${plot.title}: ${plot.summary}`} />
    </figure>
  );
}

function optionsOf({ drawn, format }: Plot, width: number): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const quiet = { stroke: colour('--quiet'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false } };
  const paths = drawn === 'bars' ? uPlot.paths.bars?.({ size: [0.8, 40], align: 1 }) : undefined;
  return {
    width,
    height: plotHeight,
    legend: { show: false },
    cursor: { show: false },
    padding: [8, 20, 0, 0],
    scales: { y: { range: (_, __, max) => [0, max > 0 ? max * 1.05 : 1] } },
    axes: [
      { ...quiet, size: 34, space: labelSpace, incrs: [...labelSteps], values: (_, seconds) => timeLabels(seconds) },
      { ...quiet, size: 74, values: (_, values) => values.map((value) => format(value)) },
    ],
    series: [
      {},
      {
        stroke: colour('--accent'),
        ...(drawn === 'points' && { paths: () => null, points: { show: true, size: 4, fill: colour('--accent') } }),
        ...(drawn !== 'points' && { points: { show: false }, width: 2 }),
        ...(paths !== undefined && { paths, fill: colour('--accent'), width: 0 }),
      },
    ],
  };
}

/** A label such as `12:34:56.7` and the space beside it, in pixels. */
const labelSpace = 86;
/** Seconds between two labels. None is so short that two have the same text. */
const labelSteps: readonly number[] = [
  ...[0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30],
  ...[1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720].map((minutes) => minutes * 60),
  ...[1, 2, 7, 14, 30, 90, 365].map((days) => days * 86_400),
];

/** Hours and minutes, with seconds where a minute has several labels, and tenths where a second has; the day where it changes. */
function timeLabels(seconds: readonly number[]): string[] {
  const [first = 0, second = first + 60] = seconds;
  const step = second - first;
  const timeStyle = step < 60 ? 'medium' : 'short';
  let day = '';
  return seconds.map((at) => {
    const date = new Date(at * 1_000);
    const tenths = step < 1 ? `.${Math.floor(date.getMilliseconds() / 100)}` : '';
    const clock = `${date.toLocaleTimeString('en-GB', { timeStyle })}${tenths}`;
    const before = day;
    day = date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
    return before === day ? clock : `${clock}\n${day}`;
  });
}
