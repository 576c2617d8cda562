import { Readable, Writable } from 'node:stream';
import type { CommandContext } from '../../src/commands/command-context';

/** A stream that keeps what is written, as a terminal of that width or as no terminal. */
export class FakeStream extends Writable {
  readonly isTTY?: boolean;
  readonly columns?: number;
  text = '';

  constructor(columns?: number) {
    super({ decodeStrings: false });
    if (columns === undefined) return;
    this.isTTY = true;
    this.columns = columns;
  }

  override _write(chunk: string | Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

/** The ASCII character that begins a control sequence of a terminal. */
export const escape = String.fromCharCode(27);

/** What was drawn between cursor movements and ends of line. */
export function drawn(text: string): string[] {
  const pieces = text
    .split(escape)
    .map((piece, index) => (index === 0 ? piece : piece.replace(/^\[[0-9;?]*[A-Za-z]/, '')));
  return pieces.flatMap((piece) => piece.split('\n')).filter((piece) => piece !== '');
}

/** The lines that a terminal shows after this text, as far as cursors move by lines and to columns. */
export function screenLines(text: string): string[] {
  const lines: string[] = [''];
  let [row, column] = [0, 0];
  for (const [piece, control, count = '', letter] of text.matchAll(controlOrText)) {
    const line = lines[row] ?? '';
    if (piece === '\n') [row, column] = [row + 1, 0];
    else if (letter === 'A') row = Math.max(0, row - Number(count));
    else if (letter === 'G') column = Number(count) - 1;
    else if (letter === 'K') lines[row] = line.slice(0, column);
    else if (letter === 'J') lines.splice(row, Infinity, line.slice(0, column));
    else if (control === undefined) {
      lines[row] = line.slice(0, column).padEnd(column) + piece + line.slice(column + piece.length);
      column += piece.length;
    }
  }
  return lines;
}

const controlOrText = new RegExp(`(${escape}(?:\\[\\??(\\d*)([A-Za-z])|[78]))|\\n|[^\\n${escape}]+`, 'g');

export class FakeContext implements CommandContext {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly stdin = (): NodeJS.ReadableStream => Readable.from([]);
  readonly stdout = new FakeStream();
  readonly stderr: FakeStream;
  readonly display: FakeStream;
  exitCode = 0;
  umask: number | undefined;
  #interrupt: ((signal: NodeJS.Signals) => void) | undefined;

  constructor(env: NodeJS.ProcessEnv = {}, columns?: number, cwd = '/home/ada') {
    this.cwd = cwd;
    this.env = { XDG_CONFIG_HOME: '/nowhere', ...env };
    this.stderr = new FakeStream(columns);
    this.display = this.stderr;
  }

  readonly onInterrupt = (callback: (signal: NodeJS.Signals) => void): (() => void) => {
    this.#interrupt = callback;
    return () => {
      this.#interrupt = undefined;
    };
  };
  readonly setUmask = (umask: number): void => {
    this.umask = umask;
  };
  readonly onFault = (): (() => void) => () => undefined;
  // A fake process ends with its test.
  readonly endWithin = (): void => undefined;
  readonly exitWith = (code: number): void => {
    this.exitCode = code;
  };

  /** Ctrl-C; false when no command listens. */
  pressCtrlC(): boolean {
    const isHeard = this.#interrupt !== undefined;
    this.#interrupt?.('SIGINT');
    return isHeard;
  }
}
