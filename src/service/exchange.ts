import type { Dispatcher } from 'undici';
import { Deadline } from './deadline';
import { ExchangeFault, toExchangeFault } from './exchange-fault';
import { parseRetryAfter } from './retry-after';

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
  const deadline = new Deadline(limits.timeoutMs, limits.signal);
  const toFault = (error: unknown): ExchangeFault => {
    if (error instanceof ExchangeFault) return error;
    if (deadline.isExpired) return new ExchangeFault('timeout', `no reply within ${limits.timeoutMs} ms`);
    if (deadline.signal.aborted) return new ExchangeFault('aborted', 'the caller aborted the request');
    return toExchangeFault(error);
  };
  try {
    deadline.signal.throwIfAborted();
    const { origin, pathname, search } = request.url;
    // Raced, because undici heeds the signal only once the request has a connection.
    const response = await deadline.race(
      dispatcher.request({
        origin,
        path: `${pathname}${search}`,
        method: request.method,
        headers: request.headers,
        body: request.body ?? null,
        signal: deadline.signal,
        // The deadline covers the whole exchange, a body that trickles included.
        headersTimeout: 0,
        bodyTimeout: 0,
      }),
    );
    const retryAfterMs = parseRetryAfter(first(response.headers['retry-after']), Date.now());
    return {
      httpStatus: response.statusCode,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      ...(await readText(response.body, toFault)),
    };
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
  try {
    for await (const chunk of body) {
      if (!Buffer.isBuffer(chunk)) continue;
      sizeBytes += chunk.length;
      if (sizeBytes > maxBodyBytes) throw new ExchangeFault('tooLarge', `the body exceeds ${maxBodyBytes} bytes`);
      chunks.push(chunk);
    }
    return { text: Buffer.concat(chunks).toString('utf8') };
  } catch (error) {
    return { text: Buffer.concat(chunks).toString('utf8'), bodyFault: toFault(error) };
  }
}

function first(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
