import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startHttpServer, type TestHttpServer } from './start-http-server';
import type { Evidence } from './evidence';

/** A span as it came over the wire, with the resource that sent it. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly string[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly failure: string | undefined;
  readonly resource: Readonly<Record<string, unknown>>;
}

export type SinkMood = 'takes' | 'refuses' | 'hangs';

interface WireAttribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}
interface WireSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly WireAttribute[];
  readonly events: readonly { readonly name: string }[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code: number; readonly message?: string };
}
interface WireBody {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly WireAttribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
}

/** A collector for OTLP over HTTP with JSON, on a free loopback port. */
export class TraceSink {
  mood: SinkMood = 'takes';
  readonly #server: TestHttpServer;
  readonly #taken: string[] = [];

  private constructor(server: TestHttpServer, taken: string[]) {
    this.#server = server;
    this.#taken = taken;
  }

  static async start(): Promise<TraceSink> {
    const taken: string[] = [];
    const server = await startHttpServer(({ url, body }, response) => {
      if (sink.mood === 'hangs') return;
      const isTaken = sink.mood === 'takes' && url === '/v1/traces';
      if (isTaken) taken.push(body);
      response.writeHead(isTaken ? 200 : 400, { 'content-type': 'application/json' }).end('{}');
    });
    const sink: TraceSink = new TraceSink(server, taken);
    return sink;
  }

  /** For `LONGHAUL_TRACES_OTLP_URL`. */
  get url(): string {
    return this.#server.url;
  }

  get requestCount(): number {
    return this.#server.requests.length;
  }

  /** All that was sent to it, but for the headers: they have the collector's own key. */
  get evidence(): Evidence[] {
    return this.#server.requests.map(({ body, url }) => ({ where: 'a trace', text: `${url} ${body}` }));
  }

  get spans(): ReceivedSpan[] {
    return this.#taken.flatMap((body) =>
      (JSON.parse(body) as WireBody).resourceSpans.flatMap(({ resource, scopeSpans }) =>
        scopeSpans.flatMap(({ spans }) => spans.map((span) => toSpan(span, valuesOf(resource.attributes)))),
      ),
    );
  }

  trace(traceId: string): ReceivedSpan[] {
    return this.spans.filter((span) => span.traceId === traceId).sort((one, other) => one.startMs - other.startMs);
  }

  close(): Promise<void> {
    return this.#server.close();
  }
}

function toSpan(span: WireSpan, resource: ReceivedSpan['resource']): ReceivedSpan {
  const { traceId, spanId, parentSpanId, name, kind, events, links, status } = span;
  return {
    ...{ traceId, spanId, name, kind, resource },
    parentSpanId: parentSpanId === '' ? undefined : parentSpanId,
    startMs: Number(BigInt(span.startTimeUnixNano) / 1_000_000n),
    endMs: Number(BigInt(span.endTimeUnixNano) / 1_000_000n),
    attributes: valuesOf(span.attributes),
    events: events.map((event) => event.name),
    links: links.map((link) => ({ traceId: link.traceId, spanId: link.spanId })),
    failure: status.code === 2 ? (status.message ?? '') : undefined,
  };
}

function valuesOf(attributes: readonly WireAttribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

export interface SeenRequest {
  readonly path: string;
  readonly traceparent: string | undefined;
}

/** The requests to a server of this process, until `stop`. */
export function watchRequests(serverUrl: string): { readonly seen: readonly SeenRequest[]; readonly stop: () => void } {
  const seen: SeenRequest[] = [];
  const port = Number(new URL(serverUrl).port);
  const onStart = (message: unknown): void => {
    const { request } = message as { readonly request: IncomingMessage };
    if ((request.socket.address() as AddressInfo).port !== port) return;
    const { traceparent } = request.headers;
    seen.push({
      path: request.url?.split('?')[0] ?? '',
      traceparent: typeof traceparent === 'string' ? traceparent : undefined,
    });
  };
  subscribe('http.server.request.start', onStart);
  return {
    seen,
    stop: () => {
      unsubscribe('http.server.request.start', onStart);
    },
  };
}
