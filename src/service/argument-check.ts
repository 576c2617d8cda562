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
} from '../domain/option-rules';
import { isRecord } from '../domain/json';
import { showValue } from '../domain/text';
import type {
  CallOptions,
  CreateTaskAsyncOptions,
  CreateTaskOptions,
  ServiceClientOptions,
  ServiceTimeouts,
} from './client-options';
import { ServiceArgumentError } from './errors';
import type { UploadFileOptions } from './file-upload';
import type { InputResourceFilter } from './input-resource';
import type { WaitForTaskOptions } from './task-wait';

/*
 * What a program gives to the client is checked before anything is sent: an option that is misspelt would be none, and an
 * id that is missing would be asked for as the text "undefined".
 */

const record: OptionRule = { is: isRecord, remedy: 'an object' };
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
  ...{ signal: abortSignal, timeoutMs: milliseconds, poll: bounds },
  ...{ patienceMs: count, notVisibleGraceMs: count, onPoll: method },
};
// The name is checked with the source.
const uploadRules: OptionRules<UploadFileOptions> = { name: checkedElsewhere, signal: abortSignal, onProgress: method };
const timeoutRules: OptionRules<ServiceTimeouts> = {
  ...{ connectMs: milliseconds, readMs: milliseconds, createMs: milliseconds, syncMs: milliseconds },
};
const clientRules: OptionRules<ServiceClientOptions> = {
  // Read with what it means.
  baseUrl: checkedElsewhere,
  // Its value is shown nowhere.
  apiKey: checkedElsewhere,
  dispatcher: objectWith('dispatch', 'a Dispatcher of undici'),
  timeouts: record,
  headerPrefix: plainText,
  ...{ paths: record, secrets: texts, storageHosts: texts, envelopeCodes: record },
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
  ...{ current: wholeFrom1, pageSize: wholeFrom1, ext: plainText, objectKey: plainText },
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

/** Throws {@link ServiceArgumentError} with every problem of the options of a call. */
export function checkCall(kind: keyof typeof rulesOf, options: unknown): void {
  refuse(optionProblems<object>(options, rulesOf[kind]));
}

/** Throws {@link ServiceArgumentError} with every problem of the options of a client; no key is quoted. */
export function checkClientOptions(options: unknown): void {
  if (!isRecord(options)) throw new ServiceArgumentError('The options are missing; give { baseUrl, apiKey }.');
  const { apiKey, timeouts, secrets, ...shown } = options;
  refuse([
    ...optionProblems({ ...shown, apiKey: undefined, timeouts, secrets: undefined }, clientRules),
    ...(isRecord(timeouts) ? optionProblems(timeouts, timeoutRules).map((problem) => `timeouts: ${problem}`) : []),
    ...(secrets === undefined || texts.is(secrets) ? [] : [`secrets is something else; give ${texts.remedy}.`]),
    ...(isKey(apiKey) ? [] : [`apiKey is ${kindOf(apiKey)}; give the key, or a function that returns it.`]),
  ]);
}

function isKey(value: unknown): boolean {
  return typeof value === 'function' || (typeof value === 'string' && value.trim() !== '');
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return 'missing';
  return typeof value === 'string' ? 'empty' : `of the type ${typeof value}`;
}

/** Throws {@link ServiceArgumentError} for what is no content and no path of a file. */
export function checkSource(source: unknown): void {
  if ((typeof source === 'string' && source !== '') || source instanceof Uint8Array || source instanceof Readable)
    return;
  const shown = source === undefined ? 'missing' : showValue(source);
  throw new ServiceArgumentError(`The file is ${shown}; give a path, bytes (a Buffer) or a stream (a Readable).`);
}

/** Throws {@link ServiceArgumentError} for what is no uploaded object. */
export function checkUpload(upload: unknown): void {
  if (!isRecord(upload)) throw new ServiceArgumentError('The uploaded object is missing; give { name, objectKey }.');
  checkText('name', upload['name']);
  checkText('objectKey', upload['objectKey']);
}

/** Throws {@link ServiceArgumentError} for a name or an id that is no text, or an empty one. */
export function checkText(name: string, value: unknown): void {
  if (typeof value === 'string' && value.trim() !== '') return;
  throw new ServiceArgumentError(`${name} is ${value === undefined ? 'missing' : showValue(value)}; give a text.`);
}

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new ServiceArgumentError(problems.join(' '));
}
