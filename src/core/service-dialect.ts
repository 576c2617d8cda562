import { comparableWord, type ServiceStatus, serviceStatuses, type StateWords } from './task-state';

/** The prefix of the service's own headers (specification, sections 1, 4.1 and 6). */
export const defaultHeaderPrefix = 'X-Svc-Task-';

/** What a refusal of the service can mean; which codes mean what is not specified (section 7). */
export const refusalMeanings = [
  'API_ERROR',
  'UNAUTHORIZED',
  'INVALID_REQUEST',
  'INSUFFICIENT_BALANCE',
  'ACCOUNT_SUSPENDED',
  'PERMISSION_DENIED',
  'TASK_NOT_FOUND',
  'APP_NOT_FOUND',
  'NOT_FOUND',
  'OUTPUT_GONE',
  'QUEUE_FULL',
  'RATE_LIMITED',
  'SERVICE_UNAVAILABLE',
] as const;

export type RefusalMeaning = (typeof refusalMeanings)[number];

/** Whose it is to change something before a refused request is taken: `way` is the address, or a gateway on the way. */
export type RefusalScope = 'request' | 'app' | 'account' | 'key' | 'way';

export const refusalScopes: Readonly<Record<RefusalMeaning, RefusalScope>> = {
  API_ERROR: 'request',
  UNAUTHORIZED: 'key',
  INVALID_REQUEST: 'request',
  INSUFFICIENT_BALANCE: 'account',
  ACCOUNT_SUSPENDED: 'account',
  PERMISSION_DENIED: 'account',
  TASK_NOT_FOUND: 'request',
  APP_NOT_FOUND: 'app',
  NOT_FOUND: 'request',
  OUTPUT_GONE: 'request',
  QUEUE_FULL: 'account',
  RATE_LIMITED: 'account',
  SERVICE_UNAVAILABLE: 'way',
};

export type EnvelopeCodes = Readonly<Record<number, RefusalMeaning>>;

/** Seen in clients of similar services: the specification shows only 20000 (section 7). Options override each. */
export const defaultEnvelopeCodes: EnvelopeCodes = {
  20015: 'INVALID_REQUEST',
  20049: 'INSUFFICIENT_BALANCE',
  20050: 'INSUFFICIENT_BALANCE',
  20051: 'INSUFFICIENT_BALANCE',
  20052: 'UNAUTHORIZED',
  20093: 'UNAUTHORIZED',
  20094: 'UNAUTHORIZED',
  20224: 'APP_NOT_FOUND',
  30009: 'TASK_NOT_FOUND',
  30039: 'QUEUE_FULL',
  30040: 'QUEUE_FULL',
  30046: 'OUTPUT_GONE',
  50600: 'RATE_LIMITED',
  50601: 'RATE_LIMITED',
  50602: 'RATE_LIMITED',
  50603: 'RATE_LIMITED',
  50604: 'RATE_LIMITED',
};

export const defaultSuccessCodes: readonly number[] = [20000];

export interface EnvelopeRules {
  readonly successCodes: readonly number[];
  readonly codes: EnvelopeCodes;
}

export function isForNow(meaning: RefusalMeaning): boolean {
  return meaning === 'QUEUE_FULL' || meaning === 'RATE_LIMITED';
}

/** What a refusal means: the HTTP status decides, the codes refine it. Neither is specified (section 7). */
export function refusalMeaning(
  httpStatus: number,
  code: number | undefined,
  codes: EnvelopeCodes,
  isAboutTask = false,
): RefusalMeaning {
  const known = code === undefined ? undefined : codes[code];
  switch (httpStatus) {
    case 401:
    case 403:
      // Who refuses the key or the account does not look further, so a "try later" is not believed.
      return known === undefined || isForNow(known) ? 'UNAUTHORIZED' : known;
    case 402:
      return known ?? 'INSUFFICIENT_BALANCE';
    case 404:
      // A 404 without an envelope comes from a proxy in front of the service, and says nothing about the task.
      return known ?? (isAboutTask && code !== undefined ? 'TASK_NOT_FOUND' : 'NOT_FOUND');
    case 408:
      return known ?? 'SERVICE_UNAVAILABLE';
    case 410:
      return 'OUTPUT_GONE';
    case 429:
      return known === 'QUEUE_FULL' ? known : 'RATE_LIMITED';
    default:
      if (httpStatus >= 500) return known ?? 'SERVICE_UNAVAILABLE';
      return known ?? (httpStatus >= 400 ? 'INVALID_REQUEST' : 'API_ERROR');
  }
}

export interface ServiceCodes {
  readonly success: readonly number[];
  readonly meanings: Readonly<Record<number, RefusalMeaning>>;
}

export interface ServiceDialect {
  readonly headerPrefix: string;
  readonly codes: ServiceCodes;
  readonly states: StateWords;
}

export const specifiedDialect: ServiceDialect = {
  headerPrefix: defaultHeaderPrefix,
  codes: { success: [], meanings: {} },
  states: {},
};

const headerPrefix = /^[A-Za-z][A-Za-z0-9-]{0,58}-$/;

/** Reads `header=X-Acme-, 41007=QUEUE_FULL, 0=SUCCESS, finished=Success`; undefined for all else, or twice one name. */
export function parseServiceDialect(text: string): ServiceDialect | undefined {
  let prefix: string | undefined;
  const success: number[] = [];
  const meanings: Record<number, RefusalMeaning> = {};
  const states: Record<string, ServiceStatus> = {};
  for (const entry of text.split(',')) {
    const parts = entry.split('=').map((part) => part.trim());
    const [name = '', value = ''] = parts;
    const code = /^-?\d{1,15}$/.test(name) ? Number(name) : undefined;
    const meaning = refusalMeanings.find((one) => one === value);
    const status = serviceStatuses.find((one) => one === value);
    const word = comparableWord(name);
    if (parts.length !== 2 || word === '') return undefined;
    if (status !== undefined && !(word in states)) states[word] = status;
    else if (name === 'header' && prefix === undefined && headerPrefix.test(value)) prefix = value;
    else if (code === undefined || success.includes(code) || code in meanings) return undefined;
    else if (value === 'SUCCESS') success.push(code);
    else if (meaning !== undefined) meanings[code] = meaning;
    else return undefined;
  }
  return { headerPrefix: prefix ?? defaultHeaderPrefix, codes: { success, meanings }, states };
}
