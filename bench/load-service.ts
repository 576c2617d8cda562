import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { Latencies } from './latencies';

/** How hard to press. */
export interface LoadOptions {
  readonly url: string;
  readonly apiKey: string;
  /** Tasks that are created and not ended, at any time. */
  readonly tasks: number;
  /** Detail requests a second. */
  readonly detailsPerSecond: number;
  readonly seconds: number;
  /** How long a task runs, at least and at most. */
  readonly taskSeconds: readonly [number, number];
}

/** What came of it. */
export interface LoadResult {
  readonly details: Latencies;
  readonly creates: Latencies;
  readonly outputs: Latencies;
  /** Detail requests a second, from the first one sent to the last one answered. */
  readonly detailsPerSecond: number;
  readonly fewestInFlight: number;
  readonly mostInFlight: number;
  readonly tasksEnded: number;
  /** Each kind of error with how often it came. */
  readonly errors: ReadonlyMap<string, number>;
}

const TASK_PATH = '/w/v1/webapp/task/openapi';
const INSTANT_SWATCH = 5;
const CREATES_AT_ONCE = 32;
const TICK_MS = 10;
const REQUEST_TIMEOUT_MS = 30_000;

/**
 * Keeps a number of tasks in flight and asks for their details at a fixed rate, whether or not the service keeps up:
 * latencies count from the moment at which a request was due, so that a service that stands still cannot hide it.
 */
export class Load {
  readonly #options: LoadOptions;
  readonly #agent = new Agent({ connections: 128, pipelining: 1 });
  readonly #inFlight = new Set<string>();
  readonly #open = new Set<Promise<void>>();
  readonly #details = new Latencies();
  readonly #creates = new Latencies();
  readonly #outputs = new Latencies();
  readonly #errors = new Map<string, number>();
  #tasksEnded = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  /** Creates the tasks, before anything is measured but the creates themselves. */
  async prepare(): Promise<void> {
    let left = this.#options.tasks;
    const createSome = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        await this.#create();
      }
    };
    await Promise.all(Array.from({ length: CREATES_AT_ONCE }, createSome));
  }

  /** Presses, and waits for every answer. */
  async run(): Promise<LoadResult> {
    const { detailsPerSecond, seconds } = this.#options;
    const startedAtMs = performance.now();
    const total = detailsPerSecond * seconds;
    let fewestInFlight = this.#inFlight.size;
    let mostInFlight = this.#inFlight.size;
    let queue = [...this.#inFlight];
    for (let sent = 0; sent < total;) {
      const due = Math.min(total, Math.floor(((performance.now() - startedAtMs) / 1000) * detailsPerSecond));
      for (; sent < due; sent += 1) {
        if (queue.length === 0) queue = [...this.#inFlight];
        const requestId = queue.pop();
        if (requestId !== undefined)
          this.#track(this.#query(requestId, startedAtMs + (sent / detailsPerSecond) * 1000));
      }
      fewestInFlight = Math.min(fewestInFlight, this.#inFlight.size);
      mostInFlight = Math.max(mostInFlight, this.#inFlight.size);
      await delay(TICK_MS);
    }
    while (this.#open.size > 0) await Promise.all(this.#open);
    const tookSeconds = (performance.now() - startedAtMs) / 1000;
    return {
      details: this.#details,
      creates: this.#creates,
      outputs: this.#outputs,
      detailsPerSecond: this.#details.count / tookSeconds,
      fewestInFlight,
      mostInFlight,
      tasksEnded: this.#tasksEnded,
      errors: this.#errors,
    };
  }

  /** Closes the connections. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  #track(work: Promise<void>): void {
    this.#open.add(work);
    void work.finally(() => this.#open.delete(work));
  }

  async #query(requestId: string, dueAtMs: number): Promise<void> {
    const detail = await this.#ask('GET', `/detail?requestId=${requestId}`, dueAtMs, this.#details);
    const status = textAt(detail, 'data', 'status');
    if (status === 'Failed' || status === 'Canceled') this.#fail(`a task ended ${status}`);
    // Several queries may be under way when a task ends; the first to tell replaces it.
    if (!['Success', 'Failed', 'Canceled'].includes(status) || !this.#inFlight.delete(requestId)) return;
    this.#tasksEnded += 1;
    await this.#create();
    await this.#ask('GET', `/outputs?requestId=${requestId}`, performance.now(), this.#outputs);
  }

  async #create(): Promise<void> {
    const [least, most] = this.#options.taskSeconds;
    const seconds = Math.round((least + Math.random() * (most - least)) * 10) / 10;
    const body = { web_app_id: INSTANT_SWATCH, input_values: { '2:Wait.seconds': seconds } };
    const created = await this.#ask('POST', '/create', performance.now(), this.#creates, body);
    const requestId = textAt(created, 'requestId');
    if (requestId !== '') this.#inFlight.add(requestId);
  }

  async #ask(
    method: 'GET' | 'POST',
    path: string,
    dueAtMs: number,
    latencies: Latencies,
    body?: object,
  ): Promise<unknown> {
    const { url, apiKey } = this.#options;
    try {
      const answer = await request(`${url}${TASK_PATH}${path}`, {
        method,
        dispatcher: this.#agent,
        headers: {
          Authorization: `Bearer ${apiKey}`,
          'Content-Type': 'application/json',
          'X-Svc-Task-Async': 'enable',
        },
        body: body === undefined ? null : JSON.stringify(body),
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
      const json: unknown = await answer.body.json();
      latencies.add(performance.now() - dueAtMs);
      if (answer.statusCode >= 300) this.#fail(`${method} ${path.replace(/\?.*/, '')}: HTTP ${answer.statusCode}`);
      return json;
    } catch (error) {
      this.#fail(`${method} ${path.replace(/\?.*/, '')}: ${error instanceof Error ? error.message : 'unknown'}`);
      return undefined;
    }
  }

  #fail(error: string): void {
    this.#errors.set(error, (this.#errors.get(error) ?? 0) + 1);
  }
}

function textAt(value: unknown, ...path: readonly string[]): string {
  let here = value;
  for (const name of path) {
    here =
      typeof here === 'object' && here !== null ? new Map<string, unknown>(Object.entries(here)).get(name) : undefined;
  }
  return typeof here === 'string' ? here : '';
}
