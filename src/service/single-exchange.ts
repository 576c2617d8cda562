import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { buildConnector, Client } from 'undici';
import { exchange, type ExchangeLimits, type HttpReply, type HttpRequest } from './exchange';
import { ExchangeFault } from './exchange-fault';

const sendHeadersChannel = 'undici:client:sendHeaders';

/** What one exchange on a connection of its own came to. */
export type SingleExchange =
  | { readonly reply: HttpReply }
  | {
      readonly fault: ExchangeFault;
      /** Whether the headers were handed to the connection. False is proof that no byte of the request left. */
      readonly requestLeft: boolean;
    };

/**
 * Sends a request that must never be sent twice, on a connection that nothing else uses: no stale pooled connection
 * can make a reset ambiguous, and once the headers went out no second connection can be opened for it.
 */
export async function exchangeOnce(
  request: HttpRequest & { readonly body: Buffer },
  limits: ExchangeLimits & { readonly connectTimeoutMs: number },
): Promise<SingleExchange> {
  let requestLeft = false;
  // undici publishes this just before it writes the headers; the body's identity tells this request from all others.
  const onSendHeaders = (message: unknown): void => {
    if (bodyOfMessage(message) === request.body) requestLeft = true;
  };
  const connect = buildConnector({ timeout: limits.connectTimeoutMs, allowH2: false });
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
    // Destroyed first: what has not left by now can never leave.
    await client.destroy();
    return { fault: error, requestLeft };
  } finally {
    unsubscribe(sendHeadersChannel, onSendHeaders);
    // Not awaited, so that a request id is in the caller's hands as early as possible; destroying never rejects.
    void client.destroy();
  }
}

function bodyOfMessage(message: unknown): unknown {
  if (typeof message !== 'object' || message === null || !('request' in message)) return undefined;
  const { request } = message;
  return typeof request === 'object' && request !== null && 'body' in request ? request.body : undefined;
}
