import { type ClientRequest, type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestByTls } from 'node:https';
import { type Duplex, Readable } from 'node:stream';
import { anyAddress, type FindAddresses } from '../connection-rule';
import { socketOpener, type Timeouts } from '../connections';

interface SdkRequest {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | readonly string[] | null>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

interface SdkReply {
  readonly response: {
    readonly statusCode: number;
    readonly reason: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: IncomingMessage;
  };
}

/** A storage that does not know "Expect: 100-continue" gets the body after this time. */
const continueMs = 6_000;

/** Sends each request on a connection of its own, to addresses that are allowed. */
export class S3HttpHandler {
  readonly metadata = { handlerProtocol: 'http/1.1' };
  readonly #idleMs: number;
  readonly #open: ReturnType<typeof socketOpener>;

  constructor({ connectMs, idleMs }: Timeouts, addresses: FindAddresses = anyAddress) {
    this.#idleMs = idleMs;
    this.#open = socketOpener({ connectMs, addresses });
  }

  async handle(sent: SdkRequest, { abortSignal }: { readonly abortSignal?: unknown } = {}): Promise<SdkReply> {
    const { protocol, method, headers } = sent;
    const hostname = sent.hostname.replace(/^\[|\]$/g, '');
    const port = String(sent.port ?? '');
    const request = (protocol === 'https:' ? requestByTls : requestPlain)({
      method,
      headers,
      host: hostname,
      path: pathWithQuery(sent),
      signal: abortSignal instanceof AbortSignal ? abortSignal : undefined,
      createConnection: (_options, connected) => {
        this.#open({ protocol, hostname, host: hostname, port }, (...[error, socket]) => {
          // Despite its types, Node takes no socket beside an error.
          connected(error, socket as Duplex);
        });
        return undefined;
      },
    });
    request.setTimeout(this.#idleMs, () => {
      request.destroy(Object.assign(new Error(`nothing came for ${this.#idleMs} ms`), { code: 'ETIMEDOUT' }));
    });
    const answered = new Promise<SdkReply>((resolve, reject) => {
      request.on('error', reject).once('response', (body) => {
        const { statusCode = 0, statusMessage: reason = '' } = body;
        const given = Object.entries(body.headers).map(([name, value]) => [name, [value].flat().join(', ')] as const);
        resolve({ response: { statusCode, reason, headers: Object.fromEntries(given), body } });
      });
    });
    answered.catch(() => undefined);
    // A refusal during a body is often lost in a reset of the connection.
    const isAwaited = [headers['Expect'], headers['expect']].includes('100-continue');
    if (!isAwaited || (await mayContinue(request))) {
      const { body } = sent;
      if (body instanceof Readable) body.pipe(request);
      else if (typeof body === 'string' || body instanceof Uint8Array) request.end(body);
      else request.end();
    }
    return await answered;
  }
}

async function mayContinue(request: ClientRequest): Promise<boolean> {
  return await new Promise((resolve) => {
    const timer = setTimeout(resolve, continueMs, true);
    const decide = (may: boolean) => (): void => {
      clearTimeout(timer);
      resolve(may);
    };
    request.once('continue', decide(true)).once('response', decide(false)).once('close', decide(false));
  });
}

function pathWithQuery({ path, query = {} }: SdkRequest): string {
  const pairs = Object.keys(query)
    .sort()
    .flatMap((name) =>
      [query[name] ?? null].flat().map((value) => `${escaped(name)}${value === null ? '' : `=${escaped(value)}`}`),
    );
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
}

function escaped(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}
