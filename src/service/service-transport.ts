import { Agent, type Dispatcher } from 'undici';
import { knownSecrets } from '../domain/redact';
import { safeText } from '../domain/text';
import { endpoints, parseBaseUrl, type EndpointName } from './endpoints';
import type { Answer } from './envelope';
import {
  ApiKeyUnavailableError,
  ServiceArgumentError,
  ServiceResponseInvalidError,
  ServiceTimeoutError,
  ServiceUnreachableError,
} from './errors';
import {
  exchange,
  ExchangeFault,
  type ExchangeLimits,
  exchangeOnce,
  type HttpReply,
  type HttpRequest,
  type SingleExchange,
} from './exchange';

/** Open connections for reads at a time; more requests wait for one of them. */
const maxConnections = 64;

/** Options of the transport; see {@link ServiceClientOptions}. */
export interface TransportOptions {
  readonly baseUrl: string;
  readonly apiKey: string | (() => string | Promise<string>);
  readonly dispatcher: Dispatcher | undefined;
  readonly connectTimeoutMs: number;
  readonly paths: Readonly<Partial<Record<EndpointName, string>>>;
}

/** One request in the terms of the service. */
export interface Call {
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** Turns calls into authorized HTTP requests and network faults into the error tree. It never sends anything twice. */
export class ServiceTransport {
  readonly #options: TransportOptions;
  readonly #base: URL;
  readonly #dispatcher: Dispatcher;

  constructor(options: TransportOptions) {
    const base = parseBaseUrl(options.baseUrl);
    if (base === undefined) {
      throw new ServiceArgumentError('baseUrl must be an http or https URL without user information and query');
    }
    this.#options = options;
    this.#base = base;
    this.#dispatcher =
      options.dispatcher ??
      new Agent({ connections: maxConnections, pipelining: 1, connect: { timeout: options.connectTimeoutMs } });
  }

  /** `host:port` of the service. */
  get host(): string {
    return this.#base.host;
  }

  /**
   * Sends a call over the shared connections and waits for its complete reply, whatever the status.
   *
   * @throws ServiceUnreachableError, ServiceTimeoutError, ServiceResponseInvalidError, ApiKeyUnavailableError, or the
   * caller's abort reason.
   */
  async ask(name: EndpointName, call: Call, limits: ExchangeLimits): Promise<Answer> {
    limits.signal?.throwIfAborted();
    const request = await this.#request(name, call);
    try {
      return this.completeAnswer(name, await exchange(this.#dispatcher, request, limits), limits);
    } catch (error) {
      throw error instanceof ExchangeFault ? this.toError(name, error, limits) : error;
    }
  }

  /** Sends a call once on a connection of its own; network faults are part of the result. */
  async askOnce(
    name: EndpointName,
    call: Call & { readonly body: Buffer },
    limits: ExchangeLimits,
  ): Promise<SingleExchange> {
    const request = { ...(await this.#request(name, call)), body: call.body };
    const { connectTimeoutMs } = this.#options;
    return await exchangeOnce(request, { ...limits, connectTimeoutMs });
  }

  /** A reply as an answer; throws when a part of its body is missing. */
  completeAnswer(name: EndpointName, reply: HttpReply, limits: ExchangeLimits): Answer {
    if (reply.bodyFault !== undefined) throw this.toError(name, reply.bodyFault, limits, { reply });
    return { endpoint: endpoints[name], reply };
  }

  /** Maps a fault to the error for the caller. */
  toError(
    name: EndpointName,
    fault: ExchangeFault,
    limits: ExchangeLimits,
    known: { readonly reply?: HttpReply; readonly requestSent?: boolean } = {},
  ): unknown {
    const message = `${endpoints[name].title}: the service at ${this.host} gave no complete reply: ${fault.message}`;
    const { requestSent } = known;
    const options = { cause: fault.cause, ...(requestSent !== undefined && { requestSent }) };
    switch (fault.kind) {
      case 'aborted':
        return limits.signal?.reason;
      case 'timeout':
        return new ServiceTimeoutError(message, { ...options, timeoutMs: limits.timeoutMs });
      case 'unreachable':
        return new ServiceUnreachableError(message, options);
      case 'notHttp':
      case 'tooLarge':
        return new ServiceResponseInvalidError(message, { httpStatus: known.reply?.httpStatus ?? null });
    }
  }

  /** Closes the connections that it opened itself, after the requests in flight. */
  async close(): Promise<void> {
    if (this.#options.dispatcher === undefined) await this.#dispatcher.close();
  }

  async #request(name: EndpointName, call: Call): Promise<HttpRequest> {
    const apiKey = await this.#apiKey();
    const { method, path } = endpoints[name];
    const url = new URL(this.#options.paths[name] ?? path, this.#base);
    for (const [parameter, value] of Object.entries(call.query ?? {})) {
      if (value !== undefined) url.searchParams.set(parameter, String(value));
    }
    return {
      method,
      url,
      headers: {
        authorization: `Bearer ${apiKey}`,
        accept: 'application/json',
        ...(method !== 'GET' && { 'content-type': 'application/json' }),
        ...call.headers,
      },
      ...(call.body !== undefined && { body: call.body }),
    };
  }

  async #apiKey(): Promise<string> {
    const { apiKey } = this.#options;
    let key: string;
    try {
      key = typeof apiKey === 'string' ? apiKey : await apiKey();
    } catch (error) {
      throw new ApiKeyUnavailableError(safeText(error instanceof Error ? error.message : 'its source failed'));
    }
    if (!/^[\x21-\x7e]+$/.test(key)) throw new ApiKeyUnavailableError('it is empty or has spaces or line breaks');
    knownSecrets.add(key);
    return key;
  }
}
