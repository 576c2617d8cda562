import type { Dispatcher } from 'undici';
import type { EnvelopeCodes } from '../core/service-dialect';
import type { StateWords } from '../core/task-state';
import type { CallbackTarget } from './create-request';
import type { EndpointName } from './endpoints';
import type { RequestObserver, TraceRequest } from './service-transport';

/** How long each kind of request may take, in milliseconds, from connecting to the last byte of its reply. */
export interface ServiceTimeouts {
  /** Making a connection. @default 5000 */
  readonly connectMs: number;
  /** Every request that creates nothing. @default 10000 */
  readonly readMs: number;
  /** An asynchronous or callback create. @default 30000 */
  readonly createMs: number;
  /** A synchronous create; the service recommends at least 60000 (section 8). @default 600000 */
  readonly syncMs: number;
}

/** The defaults of {@link ServiceTimeouts}. */
export const defaultTimeouts: ServiceTimeouts = { connectMs: 5_000, readMs: 10_000, createMs: 30_000, syncMs: 600_000 };

/** What a service client is made of. */
export interface ServiceClientOptions {
  /** All paths are relative to it; no user information, no query. */
  readonly baseUrl: string;
  /** The key of `Authorization: Bearer <key>` (section 5), or where to get it: asked anew for each request. */
  readonly apiKey: string | (() => string | Promise<string>);
  /** Connections for everything but creates, which always have their own. Not closed by `close()`. */
  readonly dispatcher?: Dispatcher;
  readonly timeouts?: Partial<ServiceTimeouts>;
  /** Prefix of the mode headers (section 4.1). @default 'X-Svc-Task-' */
  readonly headerPrefix?: string;
  /** Paths, or whole URLs, of endpoints that are elsewhere than the specification says. */
  readonly paths?: Readonly<Partial<Record<EndpointName, string>>>;
  /** Further secrets that no error may quote, beside the API key and a call's own token. */
  readonly secrets?: readonly string[];
  /**
   * Hosts of the storage that upload tokens may name although they are not public, with ":port" where one is meant; such
   * a host may be plain http. @default none: public hosts, and the service's own machine
   */
  readonly storageHosts?: readonly string[];
  /** Meanings of envelope codes, over the built-in ones. */
  readonly envelopeCodes?: EnvelopeCodes;
  /** Envelope codes of success. @default [20000] */
  readonly successCodes?: readonly number[];
  /** Words of the service for states, over the usual ones; case, spaces, hyphens and underscores do not count. */
  readonly states?: StateWords;
  /** Called when a request is over, such as to log it. What it throws is ignored. */
  readonly onRequest?: RequestObserver;
  /** Follows each request in a trace, and gives it headers. @default none */
  readonly traceRequest?: TraceRequest;
}

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Over the client's own timeout, in milliseconds. */
  readonly timeoutMs?: number;
}

/** Options of a create. */
export interface CreateTaskOptions extends CallOptions {
  /** Further headers that begin with the prefix; the service echoes them in callbacks (section 6). */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Options of an asynchronous create. */
export interface CreateTaskAsyncOptions extends CreateTaskOptions {
  /** Chooses the callback mode, which wins over asynchronous query (section 1). */
  readonly callback?: CallbackTarget;
}
