import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { replyJson, startHttpServer, type TestHttpServer } from './start-http-server';

/** An item of the outputs endpoint, as the wire has it. */
export type WireItem = Record<string, unknown>;

/** What the outputs endpoint answers. */
export interface WireOutputs {
  readonly request_id?: string;
  readonly status?: string;
  readonly outputs?: readonly WireItem[] | null;
}

/** A service of tasks that are over, whose outputs endpoint and result files answer as a test says, over real HTTP. */
export class ResultsService {
  /** The answer to the `n`th question for the outputs, from 1, and to one for a task; a number is an HTTP status. */
  outputs: (question: number, requestId: string) => WireOutputs | number = () => ({ outputs: [] });
  /** What the detail endpoint answers beside a status. */
  detail: Record<string, unknown> = {};
  /** Answers a request for a file; by default its name is its content. */
  file: (name: string, response: ServerResponse, query: string) => void = (name, response) => {
    response.end(contentOf(name));
  };
  /** How often the outputs were asked for. */
  questions = 0;
  /** Paths of requests to other endpoints. */
  readonly otherRequests: string[] = [];
  /** The files that were asked for, in order. */
  readonly fetched: string[] = [];
  /** Files on their way now, and the most that ever were. */
  inFlight = 0;
  mostInFlight = 0;
  #server: TestHttpServer | undefined;

  get url(): string {
    return this.#server?.url ?? '';
  }

  async start(): Promise<this> {
    this.#server = await startHttpServer(({ url }, response) => {
      const { pathname, search, searchParams } = new URL(url, 'http://service');
      if (pathname.startsWith('/files/')) {
        const name = decodeURIComponent(pathname.slice('/files/'.length).replace(/\.png$/, ''));
        this.fetched.push(name);
        this.inFlight += 1;
        this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
        response.once('close', () => (this.inFlight -= 1));
        this.file(name, response, search);
        return;
      }
      if (pathname.endsWith('/detail')) {
        const data = { status: 'Success', cost_times: {}, ...this.detail };
        replyJson(response, 200, { code: 20000, message: 'Ok', status: true, data });
        return;
      }
      if (!pathname.endsWith('/outputs')) {
        this.otherRequests.push(pathname);
        replyJson(response, 500, {});
        return;
      }
      this.questions += 1;
      const answer = this.outputs(this.questions, searchParams.get('requestId') ?? '');
      if (typeof answer === 'number') {
        replyJson(response, answer, { code: answer, message: 'refused', status: false, data: null });
        return;
      }
      const data = { request_id: searchParams.get('requestId'), status: 'Success', ...answer };
      replyJson(response, 200, { code: 20000, message: 'Ok', status: true, data });
    });
    return this;
  }

  /** An output that can be fetched; the query stands for a signature, a new one for each link. */
  item(name: string, more: WireItem = {}): WireItem {
    const link = `${this.url}/files/${encodeURIComponent(name)}.png?signature=${this.questions}`;
    return { object_url: link, output_ext: '.png', cost_time: 1, audit_status: 2, error_type: 'NOT_ERROR', ...more };
  }

  async stop(): Promise<void> {
    await this.#server?.close();
  }
}

/** What a file of that name holds unless a test says otherwise: it begins as a picture does. */
export function contentOf(name: string): string {
  return `GIF89a: content of ${name}`;
}

/** SHA-256 (hex) of {@link contentOf}. */
export function hashOf(name: string): string {
  return createHash('sha256').update(contentOf(name)).digest('hex');
}
