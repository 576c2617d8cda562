import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { fieldsOf, type Fields } from './answers';

/** How a callback is answered: a status, not at all, or by cutting the connection. */
export type CallbackReply = number | 'nothing' | 'cut';

export interface ReceivedCallback {
  readonly atMs: number;
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  /** The same with every value of a header that came more than once. */
  readonly headersDistinct: IncomingMessage['headersDistinct'];
  readonly text: string;
  readonly body: Fields;
  /** For one that was answered with nothing: when the service gave it up. */
  gaveUpAtMs?: number;
}

export interface Inbox {
  readonly url: string;
  readonly received: readonly ReceivedCallback[];
  /** Waits until so many have arrived, or the time is over. */
  waitFor(count: number, withinMs: number): Promise<void>;
  /** Waits until none has arrived for so long, or the time is over. */
  waitForSilence(quietMs: number, withinMs: number): Promise<void>;
}

const LOOK_EVERY_MS = 20;

interface OpenInbox {
  readonly replies: readonly CallbackReply[];
  readonly received: ReceivedCallback[];
}

/** A receiver of callbacks: a real HTTP server on the loopback address, with an inbox for each task. */
export class CallbackSink {
  readonly #inboxes = new Map<string, OpenInbox>();
  readonly #server = createServer((request, response) => void this.#receive(request, response));
  readonly #publicUrl: string | undefined;
  #origin = '';

  constructor(publicUrl?: string) {
    this.#publicUrl = publicUrl?.replace(/\/+$/, '');
  }

  async start(port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject).listen(port, '127.0.0.1', resolve);
    });
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the callback receiver has no port');
    this.#origin = `http://127.0.0.1:${address.port}`;
  }

  /** A new inbox; its callbacks are answered with `replies` in turn, the last of them for ever. */
  open(...replies: readonly CallbackReply[]): Inbox {
    const path = `/callbacks/${randomUUID()}`;
    const received: ReceivedCallback[] = [];
    this.#inboxes.set(path, { replies, received });
    const until = async (isOver: () => boolean, withinMs: number): Promise<void> => {
      const deadline = Date.now() + withinMs;
      while (!isOver() && Date.now() < deadline) await delay(LOOK_EVERY_MS);
    };
    return {
      url: `${this.#publicUrl ?? this.#origin}${path}`,
      received,
      waitFor: (count, withinMs) => until(() => received.length >= count, withinMs),
      waitForSilence: (quietMs, withinMs) => {
        const startMs = Date.now();
        return until(() => Date.now() - (received.at(-1)?.atMs ?? startMs) > quietMs, withinMs);
      },
    };
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const atMs = Date.now();
    const content = await text(request).catch(() => '');
    const [, path] = /(\/callbacks\/[^/?]+)/.exec(request.url ?? '') ?? [];
    const inbox = this.#inboxes.get(path ?? '');
    if (inbox === undefined) {
      response.writeHead(404).end();
      return;
    }
    const callback: ReceivedCallback = {
      atMs,
      method: request.method ?? '',
      headers: request.headers,
      headersDistinct: request.headersDistinct,
      text: content,
      body: parseBody(content),
    };
    inbox.received.push(callback);
    const reply = inbox.replies[inbox.received.length - 1] ?? inbox.replies.at(-1) ?? 200;
    if (reply === 'nothing') {
      response.once('close', () => {
        callback.gaveUpAtMs = Date.now();
      });
    } else if (reply === 'cut') request.socket.destroy();
    else response.writeHead(reply).end();
  }
}

function parseBody(content: string): Fields {
  try {
    return fieldsOf(JSON.parse(content));
  } catch {
    return {};
  }
}
