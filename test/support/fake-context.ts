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

/** A process by hand. */
export class FakeContext implements CommandContext {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd = '/home/ada';
  stdin: NodeJS.ReadableStream = Readable.from([]);
  readonly stdout = new FakeStream();
  readonly stderr: FakeStream;
  readonly display: FakeStream;
  exitCode = 0;
  umask: number | undefined;
  #interrupt: ((signal: NodeJS.Signals) => void) | undefined;

  constructor(env: NodeJS.ProcessEnv = {}, columns?: number) {
    this.env = { XDG_CONFIG_HOME: '/nowhere', ...env };
    this.stderr = new FakeStream(columns);
    this.display = this.stderr;
  }

  onInterrupt(callback: (signal: NodeJS.Signals) => void): () => void {
    this.#interrupt = callback;
    return () => {
      this.#interrupt = undefined;
    };
  }

  setUmask(umask: number): void {
    this.umask = umask;
  }

  onFault(): () => void {
    return () => undefined;
  }

  endWithin(): void {
    // A fake process ends with its test.
  }

  exitWith(code: number): void {
    this.exitCode = code;
  }

  /** Ctrl-C; false when no command listens. */
  pressCtrlC(): boolean {
    const isHeard = this.#interrupt !== undefined;
    this.#interrupt?.('SIGINT');
    return isHeard;
  }
}
