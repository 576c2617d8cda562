import { Readable } from 'node:stream';
import {
  abortSignal,
  checkedElsewhere,
  count,
  objectWith,
  optionProblems,
  type OptionRule,
  type OptionRules,
  plainText,
  milliseconds,
} from '../core/option-rules';
import { isFields, isRecord } from '../core/json';
import { showValue, textRemedy } from '../core/text';
import type {
  CallOptions,
  CreateTaskAsyncOptions,
  CreateTaskOptions,
  ServiceClientOptions,
  ServiceTimeouts,
} from './client-options';
import { parseBaseUrl } from './endpoints';
import { ServiceArgumentError } from './errors';
import type { UploadFileOptions } from './file-upload';
import type { InputResourceFilter } from './input-resource';
import type { WaitForTaskOptions } from './task-wait';

// Without these checks an option that is misspelt would be none, and a missing id the text "undefined".

const record: OptionRule = { is: isFields, remedy: 'an object' };
const method: OptionRule = { is: (value) => typeof value === 'function', remedy: 'a function' };
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

const callRules: OptionRules<CallOptions> = { signal: abortSignal, timeoutMs: milliseconds };
const createRules: OptionRules<CreateTaskOptions> = { ...callRules, headers: record };
const asyncRules: OptionRules<CreateTaskAsyncOptions> = { ...createRules, callback: record };
const waitRules: OptionRules<WaitForTaskOptions> = {
  ...callRules,
  poll: bounds,
  patienceMs: count,
  notVisibleGraceMs: count,
  onPoll: method,
};
// The name is checked with the source.
const uploadRules: OptionRules<UploadFileOptions> = { name: checkedElsewhere, signal: abortSignal, onProgress: method };
const timeoutRules: OptionRules<ServiceTimeouts> = {
  connectMs: milliseconds,
  readMs: milliseconds,
  createMs: milliseconds,
  syncMs: milliseconds,
};
const clientRules: OptionRules<ServiceClientOptions> = {
  // Read with what it means.
  baseUrl: checkedElsewhere,
  // Its value is shown nowhere.
  apiKey: checkedElsewhere,
  dispatcher: objectWith('dispatch', 'a Dispatcher of undici'),
  timeouts: record,
  headerPrefix: plainText,
  paths: record,
  secrets: texts,
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

const wholeFrom1: OptionRule = {
  is: (value) => Number.isSafeInteger(value) && Number(value) >= 1,
  remedy: 'a whole number from 1',
};
const listRules: OptionRules<InputResourceFilter & { readonly current?: number; readonly pageSize?: number }> = {
  current: wholeFrom1,
  pageSize: wholeFrom1,
  ext: plainText,
  objectKey: plainText,
};

/** The options of each kind of call. */
const rulesOf = {
  call: callRules,
  create: createRules,
  createAsync: asyncRules,
  wait: waitRules,
  upload: uploadRules,
  list: listRules,
} as const;

/** Every problem of the options of a call. */
export function callProblems(kind: keyof typeof rulesOf, options: unknown): readonly string[] {
  return optionProblems<object>(options, rulesOf[kind]);
}

/**
 * The base URL of a client. Throws {@link ServiceArgumentError} with every problem of the client's options; no key is
 * quoted.
 */
export function checkedBaseUrl(options: unknown): URL {
  if (!isRecord(options)) throw new ServiceArgumentError('The options are missing; give { baseUrl, apiKey }.');
  const { apiKey, baseUrl, timeouts, secrets, ...shown } = options;
  const url = typeof baseUrl === 'string' ? parseBaseUrl(baseUrl) : undefined;
  const isKey = typeof apiKey === 'function' || (typeof apiKey === 'string' && apiKey.trim() !== '');
  const problems = [
    ...optionProblems({ ...shown, apiKey: undefined, baseUrl: undefined, timeouts, secrets: undefined }, clientRules),
    ...(isRecord(timeouts) ? optionProblems(timeouts, timeoutRules).map((problem) => `timeouts: ${problem}`) : []),
    ...(secrets === undefined || texts.is(secrets) ? [] : [`secrets is something else; give ${texts.remedy}.`]),
    ...(url === undefined
      ? [`baseUrl is ${shownUrl(baseUrl)}; give an http or https URL without user information and query.`]
      : []),
    ...(isKey ? [] : [`apiKey is ${kindOf(apiKey)}; give the key, or a function that returns it.`]),
  ];
  if (url === undefined || problems.length > 0) throw new ServiceArgumentError(...problems);
  return url;
}

/** A URL may hold a password or a token. */
function shownUrl(url: unknown): string {
  if (typeof url !== 'string') return url === undefined ? 'missing' : `of the type ${typeof url}`;
  return /[@?#]/.test(url) ? 'one with user information, a query or a fragment' : showValue(url);
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return 'missing';
  return typeof value === 'string' ? 'empty' : `of the type ${typeof value}`;
}

/** The problem of what is no content and no path of a file. */
export function sourceProblems(source: unknown): readonly string[] {
  if ((typeof source === 'string' && source !== '') || source instanceof Uint8Array || source instanceof Readable)
    return [];
  const isLocal = source instanceof URL && source.protocol === 'file:';
  const sources = 'a path, bytes (a Buffer) or a stream (a Readable)';
  return [`The file is ${showValue(source)}; give ${isLocal ? textRemedy(source, sources) : sources}.`];
}

/** The problems of what is no uploaded object. */
export function uploadedProblems(upload: unknown): readonly string[] {
  if (!isRecord(upload)) return ['The uploaded object is missing; give { name, objectKey }.'];
  return [...textProblems('name', upload['name']), ...textProblems('objectKey', upload['objectKey'])];
}

/** The problem of a name or an id that is no text, or an empty one. */
export function textProblems(name: string, value: unknown): readonly string[] {
  if (typeof value === 'string' && value.trim() !== '') return [];
  return [`${name} is ${showValue(value)}; give ${textRemedy(value, 'a text')}.`];
}

/** Throws {@link ServiceArgumentError} when there is a problem, with all of them. */
export function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new ServiceArgumentError(...problems);
}
