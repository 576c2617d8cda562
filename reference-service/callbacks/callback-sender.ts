import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Agent, request } from 'undici';
import { findScenario } from '../scenarios/scenario';
import type { CallbackAttempt, CallbackOrder, Task, TaskStatus } from '../tasks/task';

/** How callbacks are sent (specification sections 6 and 8). */
export interface CallbackSettings {
  /** How long one attempt may take. */
  readonly timeoutMs: number;
  /** Pause between two attempts. */
  readonly retryEveryMs: number;
  readonly maxAttempts: number;
  /** Ends that are reported; the others are not. */
  readonly statuses: readonly TaskStatus[];
}

/** What the sender needs of the service. */
export interface CallbackContext {
  readonly logger: Logger;
  /** The body of a task's callback, with fresh links. */
  readonly bodyOf: (task: Task) => Promise<Record<string, unknown>>;
}

/** Connections to one receiver; with more, thousands of tasks that end together would take all sockets. */
const CONNECTIONS_PER_RECEIVER = 100;

/** Tells receivers of the ends of their tasks, again and again until one answers 200. */
export class CallbackSender {
  readonly #settings: CallbackSettings;
  readonly #context: CallbackContext;
  readonly #agent = new Agent({ connections: CONNECTIONS_PER_RECEIVER });
  readonly #stopping = new AbortController();
  readonly #open = new Set<Promise<void>>();

  constructor(settings: CallbackSettings, context: CallbackContext) {
    this.#settings = settings;
    this.#context = context;
    // Each delivery under way listens; thousands at once are no leak that Node should warn of.
    setMaxListeners(0, this.#stopping.signal);
  }

  /** Sends the callback of a task once it has ended; no effect on a task that asks for none. */
  follow(task: Task): void {
    const { callback } = task.request;
    if (callback === undefined) return;
    void task.whenEnded.then(() => {
      if (this.#stopping.signal.aborted || !this.#settings.statuses.includes(task.status)) return;
      const delivery = this.#deliver(task, callback).finally(() => this.#open.delete(delivery));
      this.#open.add(delivery);
    });
  }

  /** Gives up what is not delivered. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#open);
    await this.#agent.destroy();
  }

  async #deliver(task: Task, order: CallbackOrder): Promise<void> {
    const { maxAttempts, retryEveryMs } = this.#settings;
    const repeats = findScenario(task.request.scenarios, 'repeat-callbacks')?.count ?? 0;
    let deliveriesLeft = 1 + repeats;
    for (let attempt = 1; attempt <= maxAttempts && deliveriesLeft > 0; attempt += 1) {
      if (this.#stopping.signal.aborted) return;
      const outcome = isLost(task, attempt) ? 'lost' : await this.#attempt(task, order);
      task.callbackAttempts.push({ atMs: Date.now(), outcome });
      this.#context.logger.info({ requestId: task.requestId, attempt, outcome }, 'callback');
      if (outcome === 200) deliveriesLeft -= 1;
      const isLast = deliveriesLeft === 0 || attempt === maxAttempts;
      if (!isLast) await delay(retryEveryMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
    }
  }

  async #attempt(task: Task, order: CallbackOrder): Promise<CallbackAttempt['outcome']> {
    const timeout = AbortSignal.timeout(this.#settings.timeoutMs);
    try {
      const answer = await request(order.url, {
        method: 'POST',
        // A flat list, because a header may be there more than once.
        headers: [
          ...order.echoedHeaders,
          ...['Content-Type', 'application/json'],
          ...(order.authorization === undefined ? [] : ['Authorization', order.authorization]),
        ],
        body: JSON.stringify(await this.#context.bodyOf(task)),
        dispatcher: this.#agent,
        signal: AbortSignal.any([timeout, this.#stopping.signal]),
      });
      await answer.body.dump();
      return answer.statusCode;
    } catch {
      // Nothing of the error is logged: it could hold the receiver's address with its secrets.
      return timeout.aborted ? 'timeout' : 'unreachable';
    }
  }
}

function isLost(task: Task, attempt: number): boolean {
  const lose = findScenario(task.request.scenarios, 'lose-callbacks');
  return lose !== undefined && attempt <= (lose.count ?? Number.POSITIVE_INFINITY);
}
