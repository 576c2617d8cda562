import { Format, MultiBar, type SingleBar } from 'cli-progress';
import { cutText, printableLine } from '../core/text';
import { type Output, terminalColumns } from './command-context';

export type ShownLine = (nowMs: number) => string;

const framesPerSecond = 5;
const narrowestColumns = 20;

/** Redrawn in place; only changed lines are written. */
export class TerminalLines {
  readonly #bars: MultiBar;
  readonly #stream: Output;
  readonly #lines: SingleBar[] = [];

  constructor(stream: Output & NodeJS.WritableStream, now: () => number) {
    this.#stream = stream;
    this.#bars = new MultiBar({
      stream,
      fps: framesPerSecond,
      hideCursor: true,
      clearOnComplete: true,
      format: (_options, _params, payload: { line: ShownLine }) => fit(payload.line(now()), this.width),
    });
  }

  get width(): number {
    return Math.max(narrowestColumns, (terminalColumns(this.#stream) ?? 80) - 1);
  }

  /** Only the last lines are ever removed: bars below a removed one move up without being written again. */
  show(lines: readonly ShownLine[]): void {
    for (const [index, line] of lines.entries()) {
      const payload = { line };
      this.#lines[index] ??= this.#bars.create(1, 0, payload);
      this.#lines[index].update(payload);
    }
    for (const bar of this.#lines.splice(lines.length).reverse()) this.#bars.remove(bar);
  }

  stop(): void {
    this.#bars.stop();
  }
}

/** Between two lines of a log about slow work. */
const lineEveryMs = 10_000;

/** At most a line every ten seconds, the first one after that time. */
export function slowLines(stream: Output): (line: () => string) => void {
  let lastMs = Date.now();
  return (line) => {
    if (Date.now() - lastMs < lineEveryMs) return;
    lastMs = Date.now();
    stream.write(`${line()}\n`);
  };
}

/** `[█████░░░░░]  62 %`; full only once all is done. */
export function formatBar(share: number, width: number): string {
  const bar = Format.BarFormat(Math.floor(share * width) / width, {
    barsize: width,
    barCompleteString: '█'.repeat(width),
    barIncompleteString: '░'.repeat(width),
    barGlue: '',
  });
  return `[${bar}] ${String(Math.floor(share * 100)).padStart(3)} %`;
}

/** An elapsed time of constant form: `0:07`, `12:34`, `1:02:03`. */
export function formatClock(elapsedMs: number): string {
  const seconds = Math.max(0, Math.floor(elapsedMs / 1_000));
  const [hours, minutes, rest] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (value: number): string => String(value).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

export function shorten(id: string, length = 8): string {
  return id.length > length + 1 ? `${id.slice(0, length)}…` : id;
}

/** As wide as their widest cell, two spaces apart. */
export function tableLines(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    rows.reduce((widest, row) => Math.max(widest, row[column]?.length ?? 0), 0),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** Broken at spaces; the last line is cut. */
export function wrap(text: string, width: number, maxLines: number): readonly string[] {
  const lines: string[] = [];
  let rest = printableLine(text).trim();
  while (rest.length > width && lines.length < maxLines - 1) {
    const space = rest.lastIndexOf(' ', width);
    const end = space > 0 ? space : Math.max(1, cutText(rest, width).length);
    lines.push(rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  return [...lines, fit(rest, width)];
}

/** One line of at most `width` characters, with control characters escaped. */
export function fit(text: string, width: number): string {
  const line = printableLine(text);
  return line.length > width ? `${cutText(line, Math.max(0, width - 1))}…` : line;
}
