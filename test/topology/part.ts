import type { ProcessEnd } from '../../tools/supervise';

/** A process that runs. */
export interface RunningPart {
  readonly pid: number;
  readonly ended: Promise<ProcessEnd>;
  stop(): Promise<void>;
}

/** How a part is started and stopped. */
export interface PartOptions {
  readonly name: string;
  /** Starts it as it was, where it was, and waits until it can be used. */
  readonly start: () => Promise<RunningPart>;
  /** What asks it to end as an operator does. @default SIGTERM */
  readonly stopSignal?: NodeJS.Signals;
  /** Whether it has to end with code 0 then. */
  readonly endsWell?: boolean;
}

/** A process of the topology, which can be ended and started again. */
export class Part {
  readonly name: string;
  readonly #options: PartOptions;
  readonly #wrongEnds: string[];
  #running: RunningPart | undefined;
  #isWanted = false;

  /** @param wrongEnds - gets how it ended when it was not asked to, or ended badly. */
  constructor(options: PartOptions, wrongEnds: string[]) {
    this.name = options.name;
    this.#options = options;
    this.#wrongEnds = wrongEnds;
  }

  async start(): Promise<void> {
    const running = await this.#options.start();
    this.#running = running;
    this.#isWanted = true;
    void running.ended.then((end) => {
      if (this.#isWanted && this.#running === running)
        this.#wrongEnds.push(`${this.name} ended by itself: ${text(end)}`);
    });
  }

  /** As an operator does it; resolves when the process has ended by itself. */
  async stop(): Promise<void> {
    const end = await this.#end(this.#options.stopSignal ?? 'SIGTERM');
    if (this.#options.endsWell === true && end.code !== 0)
      this.#wrongEnds.push(`${this.name} stopped with ${text(end)}`);
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Whatever state it is in. */
  async close(): Promise<void> {
    this.#isWanted = false;
    if (this.#running !== undefined && this.#options.stopSignal !== undefined)
      await this.#end(this.#options.stopSignal);
    await this.#running?.stop();
  }

  async #end(signal: NodeJS.Signals): Promise<ProcessEnd> {
    const running = this.#running;
    if (running === undefined) throw new Error(`${this.name} does not run.`);
    this.#isWanted = false;
    try {
      process.kill(running.pid, signal);
    } catch {
      // It has ended.
    }
    return await running.ended;
  }
}

function text({ code, signal }: ProcessEnd): string {
  return signal ?? `code ${String(code)}`;
}
