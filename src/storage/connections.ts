import { connect as connectTcp, type Socket } from 'node:net';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { errorCode } from '../core/text';
import { longhaulVersion } from '../core/version';
import { anyAddress, type FindAddresses } from './connection-rule';

/** Servers refuse requests without one. */
export const userAgent = `longhaul/${longhaulVersion}`;

/** In milliseconds. */
export interface Timeouts {
  /** For finding an address that answers, and as long again for TLS. */
  readonly connectMs: number;
  /** Without a byte in either direction. */
  readonly idleMs: number;
}

export interface ConnectOptions extends Pick<Timeouts, 'connectMs'> {
  /** @default wherever the host is */
  readonly addresses?: FindAddresses;
}

class ConnectError extends Error {
  readonly code: string;

  constructor(faults: ReadonlyMap<string, string>) {
    super([...faults].map(([address, code]) => `${code} at ${address}`).join(', ') || 'ETIMEDOUT');
    this.name = 'ConnectError';
    const codes = [...faults.values()];
    this.code = codes.find((code) => !/UNREACH|NOTAVAIL/.test(code)) ?? codes[0] ?? 'ETIMEDOUT';
  }
}

/** A network error's code, with the addresses that were tried; empty where it has none. */
export function connectionFault(error: unknown): string {
  return error instanceof ConnectError ? error.message : errorCode(error);
}

const socketOptions = {
  noDelay: true,
  keepAlive: true,
  keepAliveInitialDelay: 60_000,
  // Of the stream: more for each read of a large file.
  highWaterMark: 64 * 1024,
};

/** After this the next address is tried, too (RFC 8305, section 5). */
const nextAddressMs = 250;

/** The address that answers first. Node's own selection gives some up too early. */
async function openTcp(hostname: string, port: number, options: ConnectOptions): Promise<Socket> {
  const { connectMs, addresses = anyAddress } = options;
  return await new Promise((resolve, reject) => {
    const faults = new Map<string, string>();
    const open = new Set<Socket>();
    let waiting: string[] = [];
    let next: NodeJS.Timeout | undefined;
    let isOver = false;
    const end = (settle: () => void, winner?: Socket): void => {
      isOver = true;
      clearTimeout(deadline);
      clearTimeout(next);
      open.forEach((socket) => socket !== winner && socket.destroy());
      settle();
    };
    const fail = (error: Error): void => {
      end(() => {
        reject(error);
      });
    };
    const deadline = setTimeout(() => {
      fail(new ConnectError(faults));
    }, connectMs);
    const tryNext = (): void => {
      clearTimeout(next);
      const host = waiting.shift();
      if (host === undefined) {
        if (open.size === 0) fail(new ConnectError(faults));
        return;
      }
      const socket = connectTcp({ ...socketOptions, host, port });
      open.add(socket);
      faults.set(host, 'ETIMEDOUT');
      const onError = (error: Error): void => {
        open.delete(socket);
        faults.set(host, errorCode(error));
        tryNext();
      };
      socket.once('error', onError).once('connect', () => {
        socket.off('error', onError);
        end(() => {
          resolve(socket);
        }, socket);
      });
      next = setTimeout(tryNext, nextAddressMs);
    };
    addresses(hostname, String(port)).then((found) => {
      waiting = alternating(found);
      if (!isOver) tryNext();
    }, fail);
  });
}

/** IPv4 and IPv6 in turn: a network without one of them costs little time. */
function alternating(addresses: readonly string[]): string[] {
  const isSix = (address: string): boolean => address.includes(':');
  const first = addresses.filter((one) => isSix(one) === isSix(addresses[0] ?? ''));
  const others = addresses.filter((one) => !first.includes(one));
  return first.flatMap((one, index) => [one, ...others.slice(index, index + 1)]).concat(others.slice(first.length));
}

/** For Node's HTTP client. */
export function socketOpener(options: ConnectOptions): buildConnector.connector {
  const openTls = buildConnector({ timeout: options.connectMs, allowH2: false });
  return (to, callback) => {
    const isTls = to.protocol === 'https:';
    const port = to.port === '' ? (isTls ? 443 : 80) : Number(to.port);
    openTcp(to.hostname, port, options).then(
      (httpSocket) => {
        if (isTls) openTls({ ...to, httpSocket }, callback);
        else callback(null, httpSocket);
      },
      (error: unknown) => {
        callback(error as Error, null);
      },
    );
  };
}

/** For undici. */
export function connector(options: ConnectOptions): buildConnector.connector {
  const open = socketOpener(options);
  return (to, callback) => {
    open(to, (...[error, socket]) => {
      if (error === null) callback(null, withoutInterimReplies(socket));
      else callback(error, null);
    });
  };
}

const maxInterimBytes = 16 * 1024;

/** Drops interim replies (1xx): undici ends the connection on one that it did not ask for. */
function withoutInterimReplies<Connected extends Socket>(socket: Connected): Connected {
  const read = socket.read.bind(socket);
  let held = Buffer.alloc(0);
  let isHead = false;
  let requestBytes = 0;
  socket.read = (size?: number): unknown => {
    const chunk: unknown = read(size);
    // A reply begins after a request was written.
    if (socket.bytesWritten !== requestBytes) {
      requestBytes = socket.bytesWritten;
      isHead = true;
    }
    if (!isHead || !Buffer.isBuffer(chunk)) return chunk;
    held = Buffer.concat([held, chunk]);
    for (;;) {
      const text = held.toString('latin1', 0, maxInterimBytes);
      const head = /^HTTP\/1\.1 1(?!01)\d\d[^]*?\r?\n\r?\n/.exec(text)?.[0];
      if (head === undefined) {
        const isIncomplete = 'HTTP/1.1 1'.startsWith(text.slice(0, 10)) && !text.startsWith('HTTP/1.1 101');
        if (isIncomplete && held.length < maxInterimBytes) return null;
        break;
      }
      held = held.subarray(head.length);
    }
    const rest = held;
    held = Buffer.alloc(0);
    isHead = false;
    return rest;
  };
  return socket;
}

export interface AgentOptions extends ConnectOptions {
  /** Without a byte. @default 5 minutes */
  readonly idleMs?: number;
  /** To one host. @default as many as are needed */
  readonly connections?: number;
}

/** To be closed by the caller. Follows no redirect. */
export function openAgent({ idleMs = 300_000, connections, ...options }: AgentOptions): Dispatcher {
  const agent = new Agent({
    connect: connector(options),
    connections: connections ?? null,
    headersTimeout: idleMs,
    bodyTimeout: idleMs,
  });
  return agent.compose((dispatch) => (request, handler) => {
    const headers = { 'user-agent': userAgent, ...(request.headers as Readonly<Record<string, string>> | undefined) };
    return dispatch({ ...request, headers }, handler);
  });
}
