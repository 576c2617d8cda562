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

/** Time limits of requests in milliseconds, from connecting to the last byte of the reply. */
export interface ServiceTimeouts {
  /** Making a connection. @default 5000 */
  readonly connectMs: number;
  /** Requests that create nothing. @default 10000 */
  readonly readMs: number;
  /** An asynchronous or callback create. @default 30000 */
  readonly createMs: number;
  /** A synchronous create; the service recommends at least 60000 (section 8). @default 600000 */
  readonly syncMs: number;
}

export const defaultTimeouts: ServiceTimeouts = { connectMs: 5_000, readMs: 10_000, createMs: 30_000, syncMs: 600_000 };

/** What a service client is made of. */
export interface ServiceClientOptions {
  /** Base of all paths; without user information and query. */
  readonly baseUrl: string;
  /** The key of `Authorization: Bearer <key>` (section 5), or a function called for each request. */
  readonly apiKey: string | (() => string | Promise<string>);
  /** Connections for everything but creates, which have their own. Not closed by `close()`. */
  readonly dispatcher?: Dispatcher;
  readonly timeouts?: Partial<ServiceTimeouts>;
  /** Prefix of the mode headers (section 4.1). @default 'X-Svc-Task-' */
  readonly headerPrefix?: string;
  /** Paths or whole URLs of endpoints that differ from the specification. */
  readonly paths?: Readonly<Partial<Record<EndpointName, string>>>;
  /** Further secrets that no error may quote, beside the API key and a callback's token. */
  readonly secrets?: readonly string[];
  /**
   * Storage hosts, with ":port" if any, that upload tokens may name although they are not public; plain http is
   * allowed for them. @default none: public hosts, and the service's own machine
   */
  readonly storageHosts?: readonly string[];
  /** Meanings of envelope codes; override the built-in ones. */
  readonly envelopeCodes?: EnvelopeCodes;
  /** Envelope codes of success. @default [20000] */
  readonly successCodes?: readonly number[];
  /** The service's words for states, over the usual ones; case, spaces, hyphens and underscores are ignored. */
  readonly states?: StateWords;
  /** Called when a request is over, for example to log it. What it throws is ignored. */
  readonly onRequest?: RequestObserver;
  /** Traces each request, and adds headers to it. @default none */
  readonly traceRequest?: TraceRequest;
}

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call, which rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Overrides the client's timeout, in milliseconds. */
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
  /** Ends the wait, which rejects with the signal's reason. The task goes on. */
  readonly signal?: AbortSignal;
  /** The longest wait in milliseconds, 24 days at most. @default none: until the task has ended */
  readonly timeoutMs?: number;
  /** Bounds of the pause between two queries. @default 1000 to 3000 ms, as section 4.2 recommends */
  readonly poll?: PollBounds;
  /** How long queries may fail in a row, in milliseconds, before the last error is thrown. @default 300000 */
  readonly patienceMs?: number;
  /** How long "no such task" counts as "not visible yet", in milliseconds. @default 60000 */
  readonly notVisibleGraceMs?: number;
  /** Called with each answer, for example to show the queue position. What it throws ends the wait. */
  readonly onPoll?: (task: TaskDetail) => void;
}

export interface ListPage extends InputResourceFilter {
  /** From 1. */
  readonly current?: number;
  readonly pageSize?: number;
}

// Without these checks a misspelt option would be ignored, and a missing id sent as "undefined".

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
const rulesOf = { call, create, createAsync, wait, upload, list } as const;

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

/** Throws {@link ServiceArgumentError} with every problem of the options; quotes no key. */
export function checkedBaseUrl(options: unknown): URL {
  if (!isRecord(options)) throw new ServiceArgumentError('The options are missing; give { baseUrl, apiKey }.');
  const { apiKey, baseUrl, timeouts, secrets } = options;
  const problems = [...optionProblems(options, clientRules)];
  if (isRecord(timeouts)) problems.push(...optionProblems(timeouts, timeoutRules).map((one) => `timeouts: ${one}`));
  if (secrets !== undefined && !texts.is(secrets)) problems.push(`secrets is something else; give ${texts.remedy}.`);
  const url = parseBaseUrl(baseUrl);
  if (url === undefined) {
    // The value may hold a password or a token.
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

export function sourceProblems(source: unknown): readonly string[] {
  if ((typeof source === 'string' && source !== '') || source instanceof Uint8Array || source instanceof Readable)
    return [];
  const isLocal = source instanceof URL && source.protocol === 'file:';
  const sources = 'a path, bytes (a Buffer) or a stream (a Readable)';
  return [`The file is ${showValue(source)}; give ${isLocal ? textRemedy(source, sources) : sources}.`];
}

export function textProblems(name: string, value: unknown): readonly string[] {
  if (typeof value === 'string' && value.trim() !== '') return [];
  return [`${name} is ${showValue(value)}; give ${textRemedy(value, 'a text')}.`];
}

/** Throws one {@link ServiceArgumentError} with all problems, if there are any. */
export function refuse(...problems: readonly string[]): void {
  if (problems.length > 0) throw new ServiceArgumentError(...problems);
}
