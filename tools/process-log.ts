import { closeSync, fstatSync, mkdirSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const tailBytes = 256 * 1024;

/**
 * Where a process writes its output. It is a file and not a pipe so that the process is never held up by a busy reader
 * and can still write its last words when the reader is dead.
 */
export class ProcessLog {
  /** Descriptor to hand to the process. */
  readonly fd: number;
  readonly #start: number;
  #lastWords: string | undefined;

  /** Appends to the file; without one, writes to a nameless file that the system removes with its last user. */
  constructor(file?: string) {
    this.fd = file === undefined ? openNamelessFile() : openForAppending(file);
    this.#start = fstatSync(this.fd).size;
  }

  /** The last 256 KiB written since this log was opened, also after `close`. */
  tail(): string {
    if (this.#lastWords !== undefined) return this.#lastWords;
    const end = fstatSync(this.fd).size;
    const start = Math.max(this.#start, end - tailBytes);
    const buffer = Buffer.alloc(end - start);
    return buffer.toString('utf8', 0, readSync(this.fd, buffer, 0, buffer.length, start));
  }

  /** Keeps the tail and closes the file. */
  close(): void {
    if (this.#lastWords !== undefined) return;
    this.#lastWords = this.tail();
    closeSync(this.fd);
  }
}

function openForAppending(file: string): number {
  mkdirSync(dirname(file), { recursive: true });
  return openSync(file, 'a+', 0o600);
}

function openNamelessFile(): number {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-log-'));
  try {
    return openSync(join(folder, 'output'), 'a+', 0o600);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
