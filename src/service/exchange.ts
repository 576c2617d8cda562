import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { EventEmitter } from 'node:events';
import { Client, type Dispatcher } from 'undici';
import { isRecord } from '../core/json';
import { safeText, errorCode, errorMessage } from '../core/text';
import { connectionFault, connector } from '../storage/connections';

/** In bytes; the service's replies are a few kilobytes. */
const maxBodyBytes = 8 * 1024 * 1024;

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

export interface ExchangeLimits {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

export interface HttpReply {
  readonly httpStatus: number;
  /** From `Retry-After`, in milliseconds. */
  readonly retryAfterMs?: number;
  /** The body, or what arrived of it. */
  readonly text: string;
}

export interface Exchanged {
  /** Absent when no head of a reply arrived. */
  readonly reply?: HttpReply;
  readonly fault?: ExchangeFault;
  /** Whether the headers were handed to the connection. False: no byte was sent; absent: not known. */
  readonly requestLeft?: boolean;
}

/** Sends one request once and reads the reply; follows no redirect. Leaves no listener on the caller's signal. */
export async function exchange(
  dispatcher: Dispatcher,
  request: HttpRequest,
  { timeoutMs, signal }: ExchangeLimits,
): Promise<Exchanged> {
  // undici takes an emitter like an AbortSignal, which costs eight times as much per request.
  const emitter = new EventEmitter();
  let ended: ExchangeFault | undefined;
  const end = (kind: FaultKind, words: string): void => {
    if (ended !== undefined) return;
    ended = new ExchangeFault(kind, words);
    emitter.emit('abort', ended);
  };
  const onAbort = (): void => {
    end('aborted', 'the caller aborted the request');
  };
  const timer = setTimeout(end, timeoutMs, 'timeout', `no reply within ${timeoutMs} ms`);
  signal?.addEventListener('abort', onAbort, { once: true });
  let reply: HttpReply | undefined;
  try {
    if (signal?.aborted === true) onAbort();
    if (ended !== undefined) return { fault: ended };
    const { origin, pathname, search } = request.url;
    const response = await new Promise<Dispatcher.ResponseData>((resolve, reject) => {
      // undici observes the emitter only once the request has a connection.
      emitter.once('abort', reject);
      const sent = dispatcher.request({
        origin,
        path: `${pathname}${search}`,
        method: request.method,
        headers: request.headers,
        body: request.body ?? null,
        signal: emitter,
        // The time limit covers the whole exchange, a slow body included.
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      sent.then(resolve, reject);
    });
    const retryAfterMs = parseRetryAfter(first(response.headers['retry-after']), first(response.headers['date']));
    const chunks: Buffer[] = [];
    try {
      await collect(response.body, chunks);
    } finally {
      const text = new TextDecoder().decode(Buffer.concat(chunks));
      reply = { httpStatus: response.statusCode, retryAfterMs, text };
    }
    return { reply };
  } catch (error) {
    return { reply, fault: error instanceof ExchangeFault ? error : (ended ?? toExchangeFault(error)) };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

async function collect(body: Dispatcher.ResponseData['body'], chunks: Buffer[]): Promise<void> {
  let sizeBytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > maxBodyBytes) throw new ExchangeFault('tooLarge', `the body exceeds ${maxBodyBytes} bytes`);
    chunks.push(chunk);
  }
}

function first(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

export type FaultKind = 'unreachable' | 'timeout' | 'aborted' | 'notHttp' | 'tooLarge';

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

/** A network error of undici or Node as a fault with a safe message. @internal */
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

/** Sends what must not be sent twice on a connection of its own: a reset of a stale pooled one would be ambiguous. */
export async function exchangeOnce(
  request: HttpRequest,
  limits: ExchangeLimits,
  connectMs: number,
): Promise<Exchanged> {
  let requestLeft = false;
  // undici publishes this just before it writes the headers; the body identifies the request.
  const onSendHeaders = (message: unknown): void => {
    const sent = isRecord(message) ? message['request'] : undefined;
    if (isRecord(sent) && sent['body'] === request.body) requestLeft = true;
  };
  const connect = connector({ connectMs });
  const client = new Client(request.url.origin, {
    pipelining: 0,
    connect: (options, callback) => {
      if (requestLeft) callback(new Error('the request was already sent'), null);
      else connect(options, callback);
    },
  });
  subscribe(sendHeadersChannel, onSendHeaders);
  try {
    const exchanged = await exchange(client, request, limits);
    // Destroyed before `requestLeft` is read, so that nothing can be sent any more.
    if (exchanged.reply === undefined) await client.destroy();
    return { ...exchanged, requestLeft };
  } finally {
    unsubscribe(sendHeadersChannel, onSendHeaders);
    // Not awaited, so that the caller has the request id early; destroying never rejects.
    void client.destroy();
  }
}

/** A wrong clock or a typing error must not hold a task for a year. */
const maxRetryAfterMs = 60 * 60 * 1000;

/** Milliseconds from now, at most one hour; a date counts from the reply's own `Date`. */
export function parseRetryAfter(value: string | undefined, date: string | undefined): number | undefined {
  const text = value?.slice(0, 64).trim() ?? '';
  if (/^\d{1,10}$/.test(text)) return Math.min(Number(text) * 1000, maxRetryAfterMs);
  // All three date formats begin with a weekday; `Date.parse` alone accepts much more.
  if (!/^(mon|tue|wed|thu|fri|sat|sun)/i.test(text)) return undefined;
  const waitMs = Date.parse(text) - Date.parse(date ?? '');
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), maxRetryAfterMs);
}
