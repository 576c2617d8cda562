import { setTimeout as delay } from 'node:timers/promises';
import type { SupervisedProcess } from './supervise';
import { ToolError } from './tool-error';

const probeEveryMs = 25;
const oneProbeMs = 5000;
const lastLines = 15;
/** A part of Temporal's that cannot listen panics, because it serves no listener, before it says why. */
const portTaken = /address already in use|EADDRINUSE|grpc\.\(\*Server\)\.Serve\(\S+, \{0x0, 0x0\}\)/i;

/** A server did not come up. The message ends with the last lines that it wrote. */
export class ServerStartError extends ToolError {
  readonly #output: string;

  constructor(what: string, output: string, options?: ErrorOptions) {
    const tail = output.trimEnd().split('\n').slice(-lastLines).join('\n');
    super(`${what}${tail === '' ? '; it wrote nothing.' : `. Its last lines:\n${tail}`}`, options);
    this.#output = output;
  }

  /** All that is kept of the server's output, for a caller that knows another way to start it. */
  get output(): string {
    return this.#output;
  }
}

/** What makes a server ready. */
export interface ReadyOptions {
  /** The server's name in messages. */
  readonly name: string;
  /** Whether it answers; what it throws counts as "not yet". It is to give up when the signal says so. */
  readonly probe: (signal: AbortSignal) => Promise<boolean>;
  /** @default 60000 */
  readonly withinMs?: number;
}

/**
 * Waits until the server answers. Otherwise stops it and throws a `ServerStartError`. The probe must recognise this very
 * process, for on a port that was taken in the meantime somebody else answers.
 */
export async function untilReady(server: SupervisedProcess, options: ReadyOptions): Promise<void> {
  const { name, probe, withinMs = 60_000 } = options;
  const deadline = Date.now() + withinMs;
  const over = new AbortController();
  // Another process that took its port may let a probe hang; its own end must not be missed over that.
  const ended = server.ended.then(() => {
    over.abort();
    return false;
  });
  let cause: unknown;
  while (server.isRunning()) {
    try {
      const answer = probe(AbortSignal.any([over.signal, AbortSignal.timeout(Math.min(oneProbeMs, withinMs))]));
      if (await Promise.race([answer, ended])) return;
    } catch (error) {
      cause = error;
    }
    if (Date.now() > deadline) {
      await server.stop();
      throw new ServerStartError(`${name} did not answer within ${withinMs / 1000} s`, server.output(), { cause });
    }
    await delay(probeEveryMs);
  }
  const { code, signal } = await server.ended;
  throw new ServerStartError(`${name} ended at its start with ${signal ?? `code ${code ?? '?'}`}`, server.output());
}

/** Starts a server, and again with freshly picked ports when one of them was taken in the meantime. */
export async function onFreshPorts<T>(start: () => Promise<T>, attempts = 5): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start();
    } catch (error) {
      const isCollision = error instanceof ServerStartError && portTaken.test(error.output);
      if (!isCollision || attempt === attempts) throw error;
    }
  }
}

/**
 * The environment of a server: where programs, home and temporary files are, and nothing else. Credentials and settings
 * of the user's shell are not its business and could change what it does.
 */
export function serverEnvironment(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, LANG } = env;
  return { PATH, HOME, TMPDIR, LANG };
}
