import type { Dispatcher } from 'undici';
import { isEnvelope } from '../core/create-outcome';
import { parseJson } from '../core/json';
import { knownSecrets } from '../core/redact';
import { safeText } from '../core/text';
import { openAgent, userAgent } from '../storage/connections';
import { type Answer, endpoints, type EndpointName } from './endpoints';
import {
  ApiKeyUnavailableError,
  ServiceClosedError,
  ServiceResponseInvalidError,
  ServiceTimeoutError,
  ServiceUnreachableError,
} from './errors';
import {
  exchange,
  type ExchangeLimits,
  type FaultKind,
  exchangeOnce,
  type Exchanged,
  type HttpReply,
  type HttpRequest,
} from './exchange';

const maxConnections = 64;

/** For so long after the service took the key, a 401 or 403 without its envelope does not count against the key. */
const keyTakenForMs = 60_000;

export interface TransportOptions {
  readonly baseUrl: URL;
  readonly apiKey: string | (() => string | Promise<string>);
  readonly dispatcher: Dispatcher | undefined;
  readonly connectTimeoutMs: number;
  readonly paths: Readonly<Partial<Record<EndpointName, string>>>;
  readonly onRequest: RequestObserver | undefined;
  readonly traceRequest: TraceRequest | undefined;
}

/** A request that is over, without its query, headers and bodies: it may be logged. */
export interface RequestEnd {
  readonly method: string;
  readonly path: string;
  /** The task that it is about. */
  readonly requestId?: string;
  /** Null when no head of a reply arrived. */
  readonly status: number | null;
  readonly durationMs: number;
  /** The service refuses the API key: 401 or 403 in its envelope, or while it takes the key for nothing else. */
  readonly keyRefused?: true;
  /** Why the reply is not complete. */
  readonly fault?: FaultKind;
}

/** A request before it is sent, without its query, headers and body. */
export interface RequestStart {
  readonly name: EndpointName;
  readonly method: string;
  /** The path of the endpoint, the same for every task. */
  readonly path: string;
  /** `host:port`. */
  readonly host: string;
}

/** One request in a trace. */
export interface RequestTrace {
  /** Further headers, which carry the trace context. */
  readonly headers: Readonly<Record<string, string>>;
  end(end: RequestEnd): void;
}

/** Begins the trace of a request. What it throws is ignored. */
export type TraceRequest = (start: RequestStart) => RequestTrace;

/** Called when a request is over. What it throws is ignored: a create may have been paid for. */
export type RequestObserver = (end: RequestEnd) => void;

export interface Call {
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** Turns calls into authorized HTTP requests, and network faults into ServiceErrors. Sends nothing twice. */
export class ServiceTransport {
  readonly #options: TransportOptions;
  readonly #dispatcher: Dispatcher;
  #isClosed = false;
  #keyTakenMs = -Infinity;

  constructor(options: TransportOptions) {
    this.#options = options;
    const { dispatcher, connectTimeoutMs: connectMs } = options;
    this.#dispatcher = dispatcher ?? openAgent({ connections: maxConnections, connectMs });
  }

  get base(): URL {
    return this.#options.baseUrl;
  }

  /** Sends a call over the shared connections; returns any complete reply. Throws ServiceError, or the abort reason. */
  async ask(name: EndpointName, call: Call, limits: ExchangeLimits): Promise<Answer> {
    limits.signal?.throwIfAborted();
    const exchanged = await this.#send(name, call, (request) => exchange(this.#dispatcher, request, limits));
    return this.toAnswer(name, exchanged, limits);
  }

  async askOnce(
    name: EndpointName,
    call: Call & { readonly body: Buffer },
    limits: ExchangeLimits,
  ): Promise<Exchanged> {
    return await this.#send(name, call, (request) => exchangeOnce(request, limits, this.#options.connectTimeoutMs));
  }

  /** Throws when no reply came, or a part of its body is missing. */
  toAnswer(name: EndpointName, exchanged: Exchanged, { signal, timeoutMs }: ExchangeLimits): Answer {
    const { reply, fault, requestLeft: requestSent } = exchanged;
    if (reply !== undefined && fault === undefined) {
      return { endpoint: endpoints[name], reply, refusesKey: this.#refusesKey(reply) };
    }
    const { kind, cause, message: words = '' } = fault ?? {};
    if (kind === 'aborted') throw signal?.reason;
    const isDoubtful = name === 'create' && requestSent !== false;
    const doubt = isDoubtful
      ? '; the task may exist and be charged: look for it at the service before another create'
      : '';
    const message = `${endpoints[name].title}: the service at ${this.base.host} gave no complete reply: ${words}${doubt}`;
    if (kind === 'timeout') throw new ServiceTimeoutError(message, { cause, requestSent, timeoutMs });
    if (kind === 'unreachable') throw new ServiceUnreachableError(message, { cause, requestSent });
    throw new ServiceResponseInvalidError(message, { httpStatus: reply?.httpStatus ?? null });
  }

  /** A 403 without an envelope, while the key is taken elsewhere, is of a gateway. */
  #refusesKey({ httpStatus, text }: HttpReply): boolean {
    if (httpStatus !== 403) return httpStatus === 401;
    return isEnvelope(parseJson(text)) || performance.now() - this.#keyTakenMs > keyTakenForMs;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#options.dispatcher === undefined) await this.#dispatcher.close();
  }

  async #send(name: EndpointName, call: Call, send: (request: HttpRequest) => Promise<Exchanged>): Promise<Exchanged> {
    if (this.#isClosed) throw new ServiceClosedError();
    const request = this.#request(name, call, await this.#apiKey());
    const { onRequest, traceRequest } = this.#options;
    const { method, url } = request;
    const start = { name, method, path: endpoints[name].path, host: this.base.host };
    const trace = quietly(() => traceRequest?.(start));
    const startedMs = performance.now();
    const exchanged = await send({ ...request, headers: { ...trace?.headers, ...request.headers } });
    const { reply, fault } = exchanged;
    const isTaken = reply !== undefined && reply.httpStatus >= 200 && reply.httpStatus < 300;
    if (isTaken && reply.text.trimStart().startsWith('{')) this.#keyTakenMs = performance.now();
    const requestId = url.searchParams.get('requestId');
    const end: RequestEnd = {
      method,
      path: safeText(url.pathname),
      requestId: requestId === null ? undefined : safeText(requestId),
      status: reply?.httpStatus ?? null,
      durationMs: Math.round(performance.now() - startedMs),
      keyRefused: reply !== undefined && this.#refusesKey(reply) ? true : undefined,
      fault: fault?.kind,
    };
    quietly(() => trace?.end(end));
    quietly(() => onRequest?.(end));
    return exchanged;
  }

  #request(name: EndpointName, call: Call, apiKey: string): HttpRequest {
    const { method, path } = endpoints[name];
    const url = new URL(this.#options.paths[name] ?? path, this.base);
    for (const [parameter, value] of Object.entries(call.query ?? {})) {
      if (value !== undefined) url.searchParams.set(parameter, String(value));
    }
    return {
      method,
      url,
      headers: {
        authorization: `Bearer ${apiKey}`,
        'user-agent': userAgent,
        accept: 'application/json',
        // Without it any coding is acceptable (RFC 9110, section 12.5.3), and none is decoded here.
        'accept-encoding': 'identity',
        ...(method !== 'GET' && { 'content-type': 'application/json' }),
        ...call.headers,
      },
      body: call.body,
    };
  }

  async #apiKey(): Promise<string> {
    const { apiKey } = this.#options;
    let key: unknown;
    try {
      key = typeof apiKey === 'string' ? apiKey : await apiKey();
    } catch (error) {
      throw new ApiKeyUnavailableError(safeText(error instanceof Error ? error.message : 'its source failed'));
    }
    if (typeof key !== 'string') throw new ApiKeyUnavailableError('its source returned no text');
    if (key === '') throw new ApiKeyUnavailableError('it is empty');
    if (!/^[\x21-\x7e]+$/.test(key))
      throw new ApiKeyUnavailableError('it has spaces, line breaks or characters that are not ASCII');
    knownSecrets.add(key);
    return key;
  }
}

function quietly<Result>(observe: () => Result): Result | undefined {
  try {
    return observe();
  } catch {
    return undefined;
  }
}
