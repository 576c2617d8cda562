import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { EventEmitter } from 'node:events';
import { Client, type Dispatcher } from 'undici';
import { safeText, errorCode, errorMessage } from '../core/text';
import { connectionFault, connector } from '../storage/connections';

/** Largest body that is read, in bytes; the service's replies are a few kilobytes. */
const maxBodyBytes = 8 * 1024 * 1024;

/** One HTTP request of the service, ready to be sent. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** The time an exchange may take from connecting to the last byte, and the caller's signal. */
export interface ExchangeLimits {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** A reply whose head arrived. */
export interface HttpReply {
  readonly httpStatus: number;
  /** The reply's `Retry-After`, in milliseconds. */
  readonly retryAfterMs?: number;
  /** The body, or what arrived of it. */
  readonly text: string;
  /** Why the body is incomplete; absent when all of it arrived. */
  readonly bodyFault?: ExchangeFault;
}

/**
 * Sends one request once, follows no redirect and reads the reply.
 *
 * @throws ExchangeFault when no head of a reply arrived.
 */
export async function exchange(
  dispatcher: Dispatcher,
  request: HttpRequest,
  limits: ExchangeLimits,
): Promise<HttpReply> {
  const deadline = new Deadline(limits);
  const toFault = (error: unknown): ExchangeFault => {
    return error instanceof ExchangeFault ? error : (deadline.fault ?? toExchangeFault(error));
  };
  try {
    if (deadline.fault !== undefined) throw deadline.fault;
    const { origin, pathname, search } = request.url;
    // Raced, because undici observes the deadline only once the request has a connection.
    const response = await deadline.race(
      dispatcher.request({
        origin,
        path: `${pathname}${search}`,
        method: request.method,
        headers: request.headers,
        body: request.body ?? null,
        signal: deadline.emitter,
        // The deadline covers the whole exchange, a body that trickles included.
        headersTimeout: 0,
        bodyTimeout: 0,
      }),
    );
    const retryAfterMs = parseRetryAfter(first(response.headers['retry-after']), first(response.headers['date']));
    return { httpStatus: response.statusCode, retryAfterMs, ...(await readText(response.body, toFault)) };
  } catch (error) {
    throw toFault(error);
  } finally {
    deadline.clear();
  }
}

async function readText(
  body: Dispatcher.ResponseData['body'],
  toFault: (error: unknown) => ExchangeFault,
): Promise<{ text: string; bodyFault?: ExchangeFault }> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  let bodyFault: ExchangeFault | undefined;
  try {
    for await (const chunk of body) {
      if (!Buffer.isBuffer(chunk)) continue;
      sizeBytes += chunk.length;
      if (sizeBytes > maxBodyBytes) throw new ExchangeFault('tooLarge', `the body exceeds ${maxBodyBytes} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    bodyFault = toFault(error);
  }
  // Without the byte order mark that some servers write, and with which no JSON begins.
  return { text: new TextDecoder().decode(Buffer.concat(chunks)), bodyFault };
}

function first(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

/** Why an exchange did not bring a complete reply. */
export type FaultKind = 'unreachable' | 'timeout' | 'aborted' | 'notHttp' | 'tooLarge';

/** What ended an exchange before the reply was complete. Its message may be shown. */
export class ExchangeFault extends Error {
  readonly kind: FaultKind;

  constructor(kind: FaultKind, words: string, options?: ErrorOptions) {
    super(words, options);
    this.name = 'ExchangeFault';
    this.kind = kind;
  }
}

const words: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name could not be resolved',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was reset',
  UND_ERR_SOCKET: 'the connection was closed before the reply was complete',
  ETIMEDOUT: 'no connection could be made in time',
  UND_ERR_CONNECT_TIMEOUT: 'no connection could be made in time',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the reply are too large',
};
const tlsCode = /^(EPROTO$|ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH)/;
const protocolCode = /^(HPE_|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)/;

/** A network error of undici or Node as a fault, with its message made safe and none of its other properties. @internal */
export function toExchangeFault(error: unknown): ExchangeFault {
  const name = error instanceof Error ? error.name : 'Error';
  // undici's parser sets no code for errors without a name in llhttp.
  const code = errorCode(error) || (name === 'HTTPParserError' ? 'HPE_INVALID' : '');
  const isProtocol = protocolCode.test(code);
  const usual = words[code] ?? (isProtocol ? 'the reply is not HTTP' : 'the connection failed');
  const what = tlsCode.test(code) ? 'the TLS connection failed' : usual;
  const shown = connectionFault(error) || code;
  const cause = Object.assign(new Error(safeText(errorMessage(error))), { name }, code === '' ? {} : { code });
  return new ExchangeFault(isProtocol ? 'notHttp' : 'unreachable', `${what}${shown === '' ? '' : ` (${shown})`}`, {
    cause,
  });
}

const sendHeadersChannel = 'undici:client:sendHeaders';

/** The result of an exchange on a connection of its own. */
export type SingleExchange =
  | { readonly reply: HttpReply }
  | {
      readonly fault: ExchangeFault;
      /** Whether the headers were handed to the connection. False proves that no byte of the request was sent. */
      readonly requestLeft: boolean;
    };

/** Sends a request that must never be sent twice, on a connection of its own: no stale pooled connection makes a reset ambiguous. */
export async function exchangeOnce(
  request: HttpRequest & { readonly body: Buffer },
  limits: ExchangeLimits & { readonly connectTimeoutMs: number },
): Promise<SingleExchange> {
  let requestLeft = false;
  // undici publishes this just before it writes the headers; its body identifies the request.
  const onSendHeaders = (message: unknown): void => {
    if (getRequestBody(message) === request.body) requestLeft = true;
  };
  const connect = connector({ connectMs: limits.connectTimeoutMs });
  const client = new Client(request.url.origin, {
    pipelining: 0,
    connect: (options, callback) => {
      if (requestLeft) callback(new Error('the request was already sent'), null);
      else connect(options, callback);
    },
  });
  subscribe(sendHeadersChannel, onSendHeaders);
  try {
    return { reply: await exchange(client, request, limits) };
  } catch (error) {
    if (!(error instanceof ExchangeFault)) throw error;
    // Destroyed first, so that nothing can be sent any more.
    await client.destroy();
    return { fault: error, requestLeft };
  } finally {
    unsubscribe(sendHeadersChannel, onSendHeaders);
    // Not awaited, so that a request id is in the caller's hands as early as possible; destroying never rejects.
    void client.destroy();
  }
}

function getRequestBody(message: unknown): unknown {
  if (typeof message !== 'object' || message === null || !('request' in message)) return undefined;
  const { request } = message;
  return typeof request === 'object' && request !== null && 'body' in request ? request.body : undefined;
}

/** One time limit and one caller’s signal. After `clear`, nothing stays attached to that signal, unlike with `AbortSignal.any`. */
class Deadline {
  /** Emits `abort`. undici takes it as it takes an AbortSignal, which costs eight times as much for each request. */
  readonly emitter = new EventEmitter();
  readonly #caller: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout;
  #fault: ExchangeFault | undefined;

  constructor({ timeoutMs, signal }: ExchangeLimits) {
    this.#caller = signal;
    this.#timer = setTimeout(() => {
      this.#end(new ExchangeFault('timeout', `no reply within ${timeoutMs} ms`));
    }, timeoutMs);
    if (signal?.aborted === true) this.#onCallerAbort();
    else signal?.addEventListener('abort', this.#onCallerAbort, { once: true });
  }

  /** What ended the exchange, the time or the caller; undefined where neither has. */
  get fault(): ExchangeFault | undefined {
    return this.#fault;
  }

  /** Resolves or rejects as `work` does, or rejects with the fault as soon as there is one. */
  async race<T>(work: Promise<T>): Promise<T> {
    return await new Promise((resolve, reject) => {
      this.emitter.once('abort', reject);
      work.then(resolve, reject);
    });
  }

  /** Ends the time limit and removes the listener from the caller's signal. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener('abort', this.#onCallerAbort);
  }

  readonly #onCallerAbort = (): void => {
    this.#end(new ExchangeFault('aborted', 'the caller aborted the request'));
  };

  #end(fault: ExchangeFault): void {
    this.clear();
    this.#fault = fault;
    this.emitter.emit('abort', fault);
  }
}

/** Longest wait that is followed: a wrong clock or a typing error must not hold a task for a year. */
const maxRetryAfterMs = 60 * 60 * 1000;

/** No date is longer. */
const maxLength = 64;

const seconds = /^\d{1,10}$/;
/** IMF-fixdate and the two obsolete forms all begin with a weekday; `Date.parse` alone would take much more. */
const httpDate = /^(mon|tue|wed|thu|fri|sat|sun)/i;

/** A `Retry-After` header, seconds or a date counted from the reply’s own `Date`, as milliseconds from now, at most one hour. */
export function parseRetryAfter(value: string | undefined, date: string | undefined): number | undefined {
  const text = value?.slice(0, maxLength).trim() ?? '';
  if (seconds.test(text)) return Math.min(Number(text) * 1000, maxRetryAfterMs);
  if (!httpDate.test(text)) return undefined;
  const waitMs = Date.parse(text) - Date.parse(date ?? '');
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), maxRetryAfterMs);
}
