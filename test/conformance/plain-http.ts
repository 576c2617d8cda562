import { Agent, request } from 'undici';
import { localhostLookup } from './storage-put';

/** The endpoints as section 4 writes them. */
export const ENDPOINTS = {
  create: { method: 'POST', path: '/w/v1/webapp/task/openapi/create', section: '4.1' },
  detail: { method: 'GET', path: '/w/v1/webapp/task/openapi/detail', section: '4.2' },
  outputs: { method: 'GET', path: '/w/v1/webapp/task/openapi/outputs', section: '4.3' },
  cancel: { method: 'PUT', path: '/w/v1/webapp/task/openapi/cancel', section: '4.4' },
  interrupt: { method: 'PUT', path: '/w/v1/webapp/task/openapi/interrupt', section: '4.5' },
  token: { method: 'GET', path: '/x/v1/upload/token', section: '4.6' },
  commit: { method: 'POST', path: '/x/v1/input_resource/commit', section: '4.7' },
  list: { method: 'GET', path: '/x/v1/input_resource', section: '4.8' },
  metadata: { method: 'GET', path: '/x/v1/user/metadata', section: '4.9' },
} as const;

export type EndpointName = keyof typeof ENDPOINTS;

export interface Ask {
  readonly query?: Readonly<Record<string, string | number>>;
  readonly body?: unknown;
  /** A header with several values is sent once for each. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Another value of `Authorization`; null leaves it out. */
  readonly authorization?: string | null;
  readonly path?: string;
}

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  /** The body as JSON; undefined when it is none. */
  readonly json: unknown;
  readonly tookMs: number;
}

export interface Download {
  readonly status: number;
  readonly contentType: string;
  readonly bytes: Buffer;
}

/** Plain HTTP with a service, as the specification describes it; knows nothing of the project's own client. */
export class PlainHttp {
  readonly #baseUrl: string;
  readonly #apiKey: string;
  readonly #longestMs: number;
  // A synchronous create holds its connection as long as the task takes.
  readonly #agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, connect: { lookup: localhostLookup } });

  constructor(target: { readonly baseUrl: string; readonly apiKey: string; readonly longestMs: number }) {
    this.#baseUrl = target.baseUrl.replace(/\/+$/, '');
    this.#apiKey = target.apiKey;
    this.#longestMs = target.longestMs;
  }

  /** Asks an endpoint once. Rejects only when no whole answer comes. */
  async ask(name: EndpointName, { query = {}, body, headers, authorization, path }: Ask = {}): Promise<Answer> {
    const { method, path: usualPath } = ENDPOINTS[name];
    const url = new URL(`${this.#baseUrl}${path ?? usualPath}`);
    for (const [parameter, value] of Object.entries(query)) url.searchParams.set(parameter, String(value));
    const startedAtMs = performance.now();
    const answer = await request(url, {
      method,
      dispatcher: this.#agent,
      signal: AbortSignal.timeout(this.#longestMs),
      headers: {
        ...(authorization !== null && { Authorization: authorization ?? `Bearer ${this.#apiKey}` }),
        ...(method !== 'GET' && { 'Content-Type': 'application/json' }),
        ...Object.fromEntries(
          Object.entries(headers ?? {}).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
        ),
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await answer.body.text();
    return {
      status: answer.statusCode,
      contentType: String(answer.headers['content-type'] ?? ''),
      text,
      json: parseJson(text),
      tookMs: performance.now() - startedAtMs,
    };
  }

  /** Fetches what is behind a link, as anybody could who has it: without the key. */
  async download(link: string): Promise<Download> {
    const answer = await request(link, { dispatcher: this.#agent, signal: AbortSignal.timeout(this.#longestMs) });
    const contentType = String(answer.headers['content-type'] ?? '');
    return { status: answer.statusCode, contentType, bytes: Buffer.from(await answer.body.arrayBuffer()) };
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
