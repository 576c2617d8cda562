import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { isFields, isRecord } from '../core/json';
import {
  abortSignal,
  checkedElsewhere,
  count,
  milliseconds,
  objectWith,
  optionProblems,
  type OptionRule,
  type OptionRules,
  plainText,
} from '../core/option-rules';
import type { PollBounds } from '../core/poll-cadence';
import type { EnvelopeCodes } from '../core/service-dialect';
import type { StateWords } from '../core/task-state';
import { showValue, textRemedy } from '../core/text';
import type { CallbackTarget } from './create-request';
import type { EndpointName } from './endpoints';
import { ServiceArgumentError } from './errors';
import type { UploadFileOptions } from './file-upload';
import type { InputResourceFilter } from './inputs';
import type { RequestObserver, TraceRequest } from './service-transport';
import type { TaskDetail } from './tasks';

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

/** How a task is waited for. */
export interface WaitForTaskOptions {
  /** Ends the wait, which then rejects with the signal's reason. The task goes on. */
  readonly signal?: AbortSignal;
  /** The longest wait in milliseconds, 24 days at most. @default none: until the task has ended */
  readonly timeoutMs?: number;
  /** Bounds of the pause between two queries. @default 1000 to 3000 ms, as section 4.2 recommends */
  readonly poll?: PollBounds;
  /** For how long, in milliseconds, queries may fail in a row before the last error is thrown. @default 300000 */
  readonly patienceMs?: number;
  /** For how long, in milliseconds, "no such task" counts as "not visible yet". @default 60000 */
  readonly notVisibleGraceMs?: number;
  /** Called with each answer, such as to show the place in the queue. What it throws ends the wait. */
  readonly onPoll?: (task: TaskDetail) => void;
}

/** Which page of committed input files to list. */
export interface ListPage extends InputResourceFilter {
  /** From 1. */
  readonly current?: number;
  readonly pageSize?: number;
}

// Without these checks an option that is misspelt would be none, and a missing id the text "undefined".

const record: OptionRule = { is: isFields, remedy: 'an object' };
const method: OptionRule = { is: (value) => typeof value === 'function', remedy: 'a function' };
const wholeFrom1: OptionRule = {
  is: (value) => Number.isSafeInteger(value) && Number(value) >= 1,
  remedy: 'a whole number from 1',
};
const texts: OptionRule = {
  is: (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
  remedy: 'a list of texts',
};
const bounds: OptionRule = {
  is: (value) =>
    isRecord(value) &&
    milliseconds.is(value['minMs']) &&
    milliseconds.is(value['maxMs']) &&
    Number(value['minMs']) <= Number(value['maxMs']),
  remedy: `{ minMs, maxMs }, the smaller first, each ${milliseconds.remedy}`,
};

const call: OptionRules<CallOptions> = { signal: abortSignal, timeoutMs: milliseconds };
const create: OptionRules<CreateTaskOptions> = { ...call, headers: record };
const createAsync: OptionRules<CreateTaskAsyncOptions> = { ...create, callback: record };
const wait: OptionRules<WaitForTaskOptions> = {
  ...call,
  poll: bounds,
  patienceMs: count,
  notVisibleGraceMs: count,
  onPoll: method,
};
const upload: OptionRules<UploadFileOptions> = { name: checkedElsewhere, signal: abortSignal, onProgress: method };
const list: OptionRules<ListPage> = { current: wholeFrom1, pageSize: wholeFrom1, ext: plainText, objectKey: plainText };
/** The options of each kind of call. */
const rulesOf = { call, create, createAsync, wait, upload, list } as const;

/** Every problem of the options of a call. */
export function callProblems(kind: keyof typeof rulesOf, options: unknown): readonly string[] {
  return optionProblems<object>(options, rulesOf[kind]);
}

const timeoutRules: OptionRules<ServiceTimeouts> = {
  connectMs: milliseconds,
  readMs: milliseconds,
  createMs: milliseconds,
  syncMs: milliseconds,
};
const clientRules: OptionRules<ServiceClientOptions> = {
  // Their values are shown nowhere, or in part.
  baseUrl: checkedElsewhere,
  apiKey: checkedElsewhere,
  secrets: checkedElsewhere,
  dispatcher: objectWith('dispatch', 'a Dispatcher of undici'),
  timeouts: record,
  headerPrefix: plainText,
  paths: record,
  storageHosts: texts,
  envelopeCodes: record,
  states: record,
  successCodes: {
    is: (value) => Array.isArray(value) && value.every((one) => Number.isSafeInteger(one)),
    remedy: 'a list of whole numbers, such as [20000]',
  },
  onRequest: method,
  traceRequest: method,
};

/** The base URL of a client. Throws {@link ServiceArgumentError} with every problem of its options; no key is quoted. */
export function checkedBaseUrl(options: unknown): URL {
  if (!isRecord(options)) throw new ServiceArgumentError('The options are missing; give { baseUrl, apiKey }.');
  const { apiKey, baseUrl, timeouts, secrets } = options;
  const problems = [...optionProblems(options, clientRules)];
  if (isRecord(timeouts)) problems.push(...optionProblems(timeouts, timeoutRules).map((one) => `timeouts: ${one}`));
  if (secrets !== undefined && !texts.is(secrets)) problems.push(`secrets is something else; give ${texts.remedy}.`);
  const url = parseBaseUrl(baseUrl);
  if (url === undefined) {
    // It may hold a password or a token.
    const isSecret = typeof baseUrl === 'string' && /[@?#]/.test(baseUrl);
    const shown = isSecret ? 'one with user information, a query or a fragment' : showValue(baseUrl);
    problems.push(`baseUrl is ${shown}; give an http or https URL without user information and query.`);
  }
  if (typeof apiKey !== 'function' && (typeof apiKey !== 'string' || apiKey.trim() === '')) {
    const shown = typeof apiKey === 'string' ? 'empty' : `of the type ${typeof apiKey}`;
    problems.push(`apiKey is ${apiKey == null ? 'missing' : shown}; give the key, or a function that returns it.`);
  }
  if (url === undefined || problems.length > 0) throw new ServiceArgumentError(...problems);
  return url;
}

/** http or https, without user information, query or fragment; ends in a slash. */
function parseBaseUrl(baseUrl: unknown): URL | undefined {
  if (typeof baseUrl !== 'string' || !URL.canParse(baseUrl)) return undefined;
  const url = new URL(baseUrl);
  const isPlain = [url.username, url.password, url.search, url.hash].every((part) => part === '');
  if (!/^https?:$/.test(url.protocol) || !isPlain) return undefined;
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return url;
}

/** The problem of what is no content and no path of a file. */
export function sourceProblems(source: unknown): readonly string[] {
  if ((typeof source === 'string' && source !== '') || source instanceof Uint8Array || source instanceof Readable)
    return [];
  const isLocal = source instanceof URL && source.protocol === 'file:';
  const sources = 'a path, bytes (a Buffer) or a stream (a Readable)';
  return [`The file is ${showValue(source)}; give ${isLocal ? textRemedy(source, sources) : sources}.`];
}

/** The problem of a name or an id that is no text, or an empty one. */
export function textProblems(name: string, value: unknown): readonly string[] {
  if (typeof value === 'string' && value.trim() !== '') return [];
  return [`${name} is ${showValue(value)}; give ${textRemedy(value, 'a text')}.`];
}

/** Throws {@link ServiceArgumentError} when there is a problem, with all of them. */
export function refuse(...problems: readonly string[]): void {
  if (problems.length > 0) throw new ServiceArgumentError(...problems);
}
