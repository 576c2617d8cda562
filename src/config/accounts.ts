import * as z from 'zod';
import { isRecord, parseJson } from '../domain/json';
import { defaultHeaderPrefix, type ServiceCodes } from '../domain/service-dialect';
import type { StateWords } from '../domain/task-state';
import { jsonFault, readNamedFile, type ReadTextFile, shownFile, unknownFields, valueAt } from './json-file';
import { nearestName } from '../domain/nearest-name';
import { Secret } from './secret';
import { variables, type VariableName } from './variables';
import type { VariableValues } from './environment';

/** A named set of service credentials. */
export interface Account {
  readonly name: string;
  readonly apiKey: Secret;
  /** Base URL without a trailing slash. */
  readonly serviceUrl: string;
  /** How its service words what the specification leaves open; the same for all accounts of a worker. */
  readonly headerPrefix: string;
  readonly codes: ServiceCodes;
  readonly states: StateWords;
  /** The most creates, and queries for tasks' states, that one worker sends in a second. */
  readonly createsPerSecond: number;
  readonly pollsPerSecond: number;
  /** Where the two were set, as messages name it: a variable, or a field of the accounts file. */
  readonly settings: { readonly apiKey: string; readonly serviceUrl: string };
}

/** What an account takes from the environment unless it has its own. */
type AccountSettings = Pick<Account, 'serviceUrl' | 'createsPerSecond' | 'pollsPerSecond'>;

/** What is the same for all. */
type CommonSettings = AccountSettings & Pick<Account, 'headerPrefix' | 'codes' | 'states'>;

/** What a `ServiceClient` of an account is made of. */
export interface ServiceOptions {
  readonly baseUrl: string;
  readonly apiKey: () => string;
  readonly headerPrefix: string;
  readonly envelopeCodes: ServiceCodes['meanings'];
  readonly successCodes: readonly number[];
  readonly states: StateWords;
}

/** The options of a `ServiceClient` of this account. */
export function serviceOptions({ serviceUrl, apiKey, headerPrefix, codes, states }: Account): ServiceOptions {
  return {
    baseUrl: serviceUrl,
    apiKey: () => apiKey.reveal(),
    headerPrefix,
    envelopeCodes: codes.meanings,
    successCodes: [successCode, ...codes.success],
    states,
  };
}

/** What to do when its service does not answer, or refuses its key. */
export function serviceRemedy({ settings: { apiKey, serviceUrl } }: Pick<Account, 'settings'>): string {
  return `Check ${serviceUrl} and ${apiKey}.`;
}

/** Specification, section 2.1. */
const successCode = 20_000;

type Unset<T> = { readonly [Key in keyof T]?: T[Key] | undefined };

/** The variables that say the same of all accounts. */
const rates = {
  createsPerSecond: 'LONGHAUL_CREATES_PER_SECOND',
  pollsPerSecond: 'LONGHAUL_POLLS_PER_SECOND',
} as const;
const fieldVariables = {
  apiKey: 'LONGHAUL_API_KEY',
  apiKeyFile: 'LONGHAUL_API_KEY_FILE',
  serviceUrl: 'LONGHAUL_SERVICE_URL',
  ...rates,
} as const;

const defaultAccount = 'default';
const accountName = /^[A-Za-z0-9._-]{1,80}$/;
const accountFields = ['apiKey', 'apiKeyFile', 'serviceUrl', 'createsPerSecond', 'pollsPerSecond'];
const accountsSchema = z
  .record(
    z.string().regex(accountName),
    z.strictObject({
      apiKey: variables.LONGHAUL_API_KEY.schema,
      apiKeyFile: z.string().min(1).optional(),
      serviceUrl: variables.LONGHAUL_SERVICE_URL.schema,
      createsPerSecond: variables.LONGHAUL_CREATES_PER_SECOND.schema.unwrap().optional(),
      pollsPerSecond: variables.LONGHAUL_POLLS_PER_SECOND.schema.unwrap().optional(),
    }),
  )
  .refine((accounts) => Object.keys(accounts).length > 0);

/**
 * Resolves every account: `default` from `LONGHAUL_API_KEY` or `LONGHAUL_API_KEY_FILE`, the others from
 * `LONGHAUL_ACCOUNTS_FILE`. Adds to `problems`; no problem shows a key.
 */
export function readAccounts(
  values: Partial<VariableValues>,
  readTextFile: ReadTextFile,
  problems: string[],
): ReadonlyMap<string, Account> {
  const common = {
    serviceUrl: values.LONGHAUL_SERVICE_URL ?? '',
    // Either is missing only when it is invalid, and then the start fails.
    createsPerSecond: values.LONGHAUL_CREATES_PER_SECOND ?? 1,
    pollsPerSecond: values.LONGHAUL_POLLS_PER_SECOND ?? 1,
    headerPrefix: values.LONGHAUL_SERVICE_HEADER_PREFIX ?? defaultHeaderPrefix,
    codes: values.LONGHAUL_SERVICE_CODES ?? { success: [], meanings: {} },
    states: values.LONGHAUL_SERVICE_STATES ?? {},
  };
  const reader = new AccountReader(common, readTextFile, problems);
  reader.addDefault(values.LONGHAUL_API_KEY, values.LONGHAUL_API_KEY_FILE);
  if (values.LONGHAUL_ACCOUNTS_FILE !== undefined) reader.addFile(values.LONGHAUL_ACCOUNTS_FILE);
  return reader.accounts;
}

class AccountReader {
  readonly accounts = new Map<string, Account>();
  readonly #common: CommonSettings;
  readonly #readTextFile: ReadTextFile;
  readonly #problems: string[];

  constructor(common: CommonSettings, readTextFile: ReadTextFile, problems: string[]) {
    this.#common = common;
    this.#readTextFile = readTextFile;
    this.#problems = problems;
  }

  addDefault(apiKey: string | undefined, apiKeyFile: string | undefined): void {
    if (apiKey !== undefined && apiKeyFile !== undefined) {
      this.#problems.push('LONGHAUL_API_KEY and LONGHAUL_API_KEY_FILE are both set; leave one of them out.');
    }
    const key = apiKey ?? this.#keyFrom('LONGHAUL_API_KEY_FILE', apiKeyFile);
    if (key === undefined) return;
    const setting = apiKey === undefined ? 'LONGHAUL_API_KEY_FILE' : 'LONGHAUL_API_KEY';
    this.#add(defaultAccount, key, { apiKey: setting, serviceUrl: 'LONGHAUL_SERVICE_URL' });
  }

  addFile(file: string): void {
    const text = this.#textFrom('LONGHAUL_ACCOUNTS_FILE', file);
    if (text === undefined) return;
    const fault = jsonFault(text);
    if (fault !== undefined) {
      this.#problems.push(`${fileProblem(file, `which ${fault}`)}.`);
      return;
    }
    const json = parseJson(text);
    const parsed = accountsSchema.safeParse(json);
    if (!parsed.success) {
      for (const issue of parsed.error.issues) this.#problems.push(accountsProblem(file, json, issue));
      return;
    }
    for (const [name, { apiKey, apiKeyFile, ...own }] of Object.entries(parsed.data)) {
      const where = `LONGHAUL_ACCOUNTS_FILE ${shownFile(file)}, account "${name}"`;
      if ((apiKey === undefined) === (apiKeyFile === undefined)) {
        this.#problems.push(`${where}: give either apiKey or apiKeyFile.`);
      }
      if (this.accounts.has(name)) {
        this.#problems.push(`${where}: it is given by LONGHAUL_API_KEY or LONGHAUL_API_KEY_FILE too; leave one out.`);
      }
      const key = apiKey ?? this.#keyFrom(`${where}: apiKeyFile`, apiKeyFile);
      if (key === undefined) continue;
      const field = (known: string): string => `${known} of account "${name}" in LONGHAUL_ACCOUNTS_FILE`;
      const settings = {
        apiKey: field(apiKey === undefined ? 'apiKeyFile' : 'apiKey'),
        serviceUrl: own.serviceUrl === undefined ? 'LONGHAUL_SERVICE_URL' : field('serviceUrl'),
      };
      this.#add(name, key, settings, own);
    }
  }

  #add(name: string, apiKey: string, settings: Account['settings'], own: Unset<AccountSettings> = {}): void {
    const account: Account = {
      ...this.#common,
      name,
      apiKey: new Secret(apiKey),
      settings,
      serviceUrl: own.serviceUrl ?? this.#common.serviceUrl,
      createsPerSecond: own.createsPerSecond ?? this.#common.createsPerSecond,
      pollsPerSecond: own.pollsPerSecond ?? this.#common.pollsPerSecond,
    };
    this.accounts.set(name, Object.freeze(account));
  }

  #keyFrom(what: string, file: string | undefined): string | undefined {
    if (file === undefined) return undefined;
    const text = this.#textFrom(what, file)?.trim();
    if (text === undefined) return undefined;
    const key = variables.LONGHAUL_API_KEY.schema.safeParse(text);
    if (key.success) return key.data;
    this.#problems.push(`${what} is ${shownFile(file)}, which holds no API key: one word without spaces.`);
    return undefined;
  }

  #textFrom(what: string, file: string): string | undefined {
    return readNamedFile({ what, file }, this.#readTextFile, this.#problems);
  }
}

function fileProblem(file: string, words: string): string {
  const name: VariableName = 'LONGHAUL_ACCOUNTS_FILE';
  return `${name} is ${shownFile(file)}, ${words}; ${variables[name].remedy}`;
}

/** A name that is like no field may be a key at the wrong place, and is not shown; neither is a value that is no number. */
function accountsProblem(file: string, json: unknown, issue: z.core.$ZodIssue): string {
  const { path } = issue;
  const [account, field = ''] = path.map(String);
  if (account === undefined) {
    if (Array.isArray(json)) return `${fileProblem(file, 'which holds a list instead of an object')}.`;
    return `${fileProblem(file, isRecord(json) ? 'which names no account' : 'which is not what it should be')}.`;
  }
  if (issue.code === 'invalid_key') {
    return `${fileProblem(file, 'which has an account whose name is not 1 to 80 letters, digits, dots, _ and -')}.`;
  }
  const where = `LONGHAUL_ACCOUNTS_FILE ${shownFile(file)}, account "${account}"`;
  if (issue.code === 'unrecognized_keys') {
    const isLikeOne = issue.keys.every((key) => nearestName(key, accountFields) !== undefined);
    if (isLikeOne) return `${where} has ${unknownFields(issue.keys, accountFields)}.`;
    return `${where} has a field that Longhaul does not know; it takes ${accountFields.join(', ')}.`;
  }
  const variable = Object.entries(fieldVariables).find(([name]) => name === field)?.[1];
  if (variable === undefined) {
    return `${fileProblem(file, `which is not what it should be, at ${account}`)}.`;
  }
  const value = valueAt(json, path);
  const shown = typeof value === 'number' ? String(value) : field in rates ? 'no number' : 'not what it should be';
  return `${where}: ${field} is ${shown}; ${variables[variable].remedy}.`;
}
