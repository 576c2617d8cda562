import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Agent, request, type Dispatcher } from 'undici';
import { fieldsOf, type Fields } from './answers';
import { ENDPOINTS, type EndpointName } from './plain-http';

/** Names in lower case; a header that came more than once has all its values. */
export type PassingHeaders = Record<string, string | string[]>;

/** A request on its way to the service; changing it changes what the service is asked. */
export interface PassingRequest {
  readonly endpoint: EndpointName | undefined;
  /** Changes of its `pathname` and `searchParams` count. */
  readonly url: URL;
  readonly headers: PassingHeaders;
}

/** An answer on its way back. */
export interface PassingAnswer {
  readonly endpoint: EndpointName | undefined;
  readonly url: URL;
  readonly status: number;
  readonly body: Fields;
}

/** A callback on its way to its receiver; changing it changes what arrives. */
export interface PassingCallback {
  method: string;
  readonly headers: PassingHeaders;
  body: Fields;
  times: number;
  /** What the service is answered at once, whatever the receiver says. */
  answer?: number;
}

/** One way of breaking the service's contract; each part changes what it is given or leaves it as it is. */
export interface Break {
  readonly request?: (request: PassingRequest) => void;
  /** Another status or body, or nothing. */
  readonly answer?: (answer: PassingAnswer) => { readonly status?: number; readonly body?: Fields } | undefined;
  readonly callback?: (callback: PassingCallback) => void;
}

const NOT_FORWARDED = ['host', 'connection', 'keep-alive', 'transfer-encoding', 'content-length', 'expect'];
const CALLBACK_HEADER = 'x-svc-task-webhook-url';

/** Stands between a service and those who look at it, callbacks included, and breaks what passes. */
export class BreakingProxy {
  readonly #serviceUrl: string;
  readonly #breaks: readonly Break[];
  readonly #agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  readonly #server = createServer((incoming, response) => {
    this.#pass(incoming, response).catch(() => incoming.socket.destroy());
  });

  constructor(serviceUrl: string, breaks: readonly Break[]) {
    this.#serviceUrl = serviceUrl;
    this.#breaks = breaks;
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this.#url;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    await this.#agent.destroy();
  }

  get #url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
    return `http://127.0.0.1:${address.port}`;
  }

  async #pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const to = new URL(incoming.url ?? '/', this.#url).searchParams.get('callback-to');
    await (to === null ? this.#passRequest(incoming, response) : this.#passCallback(incoming, response, to));
  }

  async #passRequest(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '/', this.#serviceUrl);
    const endpoint = endpointAt(incoming.method, url.pathname);
    const headers = forwarded(incoming);
    for (const each of this.#breaks) each.request?.({ endpoint, url, headers });
    const receiver = headers[CALLBACK_HEADER];
    if (typeof receiver === 'string')
      headers[CALLBACK_HEADER] = `${this.#url}/?callback-to=${encodeURIComponent(receiver)}`;
    const sent = { method: incoming.method ?? 'GET', headers, body: await buffer(incoming) };
    const answer = await this.#send(url, sent, response);
    const content = await answer.body.text();
    let status = answer.statusCode;
    let body: Fields | undefined;
    for (const each of this.#breaks) {
      const change = each.answer?.({ endpoint, url, status, body: body ?? parse(content) });
      status = change?.status ?? status;
      body = change?.body ?? body;
    }
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(body === undefined ? content : JSON.stringify(body));
  }

  async #passCallback(incoming: IncomingMessage, response: ServerResponse, to: string): Promise<void> {
    const content = await buffer(incoming);
    const headers: PassingHeaders = { ...forwarded(incoming), [CALLBACK_HEADER]: to };
    const callback: PassingCallback = { method: 'POST', headers, body: parse(content.toString()), times: 1 };
    for (const each of this.#breaks) each.callback?.(callback);
    if (callback.answer !== undefined) response.writeHead(callback.answer).end();
    const sent = { method: callback.method, headers, body: Buffer.from(JSON.stringify(callback.body)) };
    // Without an answer of its own the proxy passes everything on, a receiver that keeps silent or hangs up included.
    const until = callback.answer === undefined ? [response] : [];
    let status = 200;
    const deliver = async (): Promise<void> => {
      const answer = await this.#send(new URL(to), sent, ...until);
      await answer.body.dump();
      status = answer.statusCode;
    };
    await Promise.all(Array.from({ length: callback.times }, deliver));
    if (callback.answer === undefined) response.writeHead(status).end();
  }

  async #send(
    url: URL,
    sent: { readonly method: string; readonly headers: PassingHeaders; readonly body: Buffer },
    response?: ServerResponse,
  ): Promise<Dispatcher.ResponseData> {
    const hangUp = new AbortController();
    response?.once('close', () => {
      hangUp.abort();
    });
    const body = sent.body.length === 0 ? null : sent.body;
    return request(url, { ...sent, body, dispatcher: this.#agent, signal: hangUp.signal });
  }
}

function endpointAt(method: string | undefined, path: string): EndpointName | undefined {
  const found = Object.entries(ENDPOINTS).find(([, each]) => each.method === method && each.path === path);
  return found === undefined ? undefined : (found[0] as EndpointName);
}

function forwarded({ headersDistinct }: IncomingMessage): PassingHeaders {
  return Object.fromEntries(
    Object.entries(headersDistinct).flatMap(([name, values = []]) =>
      NOT_FORWARDED.includes(name) ? [] : [[name, values.length === 1 ? (values[0] ?? '') : values] as const],
    ),
  );
}

function parse(content: string): Fields {
  try {
    return fieldsOf(JSON.parse(content));
  } catch {
    return {};
  }
}
