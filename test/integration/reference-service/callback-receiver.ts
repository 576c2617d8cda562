import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

/** One callback as it arrived. */
export interface ReceivedCallback {
  readonly atMs: number;
  readonly method: string;
  /** Names and values in turn, in the spelling of the wire. */
  readonly rawHeaders: readonly string[];
  readonly authorization: string | undefined;
  readonly contentType: string | undefined;
  readonly body: Record<string, unknown>;
}

/** Answers a callback; the number counts them from 1. */
type AnswerCallback = (response: ServerResponse, number: number) => void;

const bodySchema = z.record(z.string(), z.unknown());

/** A real receiver of callbacks. */
export class CallbackReceiver {
  readonly received: ReceivedCallback[] = [];
  readonly #server: Server;

  constructor(answer: AnswerCallback = (response) => response.end()) {
    this.#server = createServer((request, response) => {
      void this.#record(request).then(() => {
        answer(response, this.received.length);
      });
    });
  }

  /** Starts listening and returns the address to call back. */
  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the receiver has no port');
    return `http://127.0.0.1:${address.port}/callback`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #record(request: IncomingMessage): Promise<void> {
    const atMs = Date.now();
    const body = bodySchema.parse(JSON.parse(await text(request)));
    this.received.push({
      atMs,
      method: request.method ?? '',
      rawHeaders: request.rawHeaders,
      authorization: request.headers.authorization,
      contentType: request.headers['content-type'],
      body,
    });
  }
}
