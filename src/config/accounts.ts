import * as z from 'zod';
import { type ServiceCodes, type ServiceDialect, specifiedDialect } from '../core/service-dialect';
import type { StateWords } from '../core/task-state';
import type { VariableValues } from './environment';
import { fields, readJsonFile, readNamedFile, type ReadTextFile, shownFile } from './json-file';
import { Secret } from './secret';
import { apiKey, baseUrl } from './values';
import { variables } from './variables';

/** A named set of service credentials, with the dialect that all accounts of a worker share. */
export interface Account extends ServiceDialect {
  readonly name: string;
  readonly apiKey: Secret;
  /** Base URL without a trailing slash. */
  readonly serviceUrl: string;
  /** The most creates, and queries for tasks' states, that one worker sends in a second. */
  readonly createsPerSecond: number;
  readonly pollsPerSecond: number;
  /** Where the two were set, as messages name it: a variable, or a field of the accounts file. */
  readonly settings: { readonly apiKey: string; readonly serviceUrl: string };
}

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
export function serviceRemedy({ settings }: Pick<Account, 'settings'>): string {
  return `Check ${settings.serviceUrl} and ${settings.apiKey}.`;
}

/** Specification, section 2.1. */
const successCode = 20_000;

const perSecond = z
  .number('a number')
  .min(0.01, 'a number from 0.01 to 10000')
  .max(10_000, 'a number from 0.01 to 10000')
  .optional();

const accountsSchema = z
  .record(
    z.string().regex(/^[A-Za-z0-9._-]{1,80}$/, 'a name of 1 to 80 letters, digits, dots, _ and -'),
    fields({
      apiKey: apiKey.optional(),
      apiKeyFile: z.string('the path of a file').min(1, 'the path of a file').optional(),
      serviceUrl: baseUrl.optional(),
      createsPerSecond: perSecond,
      pollsPerSecond: perSecond,
    }),
    'an object with the accounts by name',
  )
  .refine((accounts) => Object.keys(accounts).length > 0, 'an object with at least one account');

const accountsFile = {
  schema: accountsSchema,
  remedy: variables.LONGHAUL_ACCOUNTS_FILE.remedy,
  isSecret: true,
};

/**
 * Resolves every account: `default` from `LONGHAUL_API_KEY` or `LONGHAUL_API_KEY_FILE`, the others from
 * `LONGHAUL_ACCOUNTS_FILE`. Adds to `problems`; no problem shows a key.
 */
export function readAccounts(
  values: VariableValues,
  readTextFile: ReadTextFile,
  problems: string[],
): ReadonlyMap<string, Account> {
  const accounts = new Map<string, Account>();
  const {
    LONGHAUL_SERVICE_DIALECT: dialect = specifiedDialect,
    LONGHAUL_API_KEY: key,
    LONGHAUL_API_KEY_FILE: keyFile,
    LONGHAUL_ACCOUNTS_FILE: file,
  } = values;

  if (key !== undefined && keyFile !== undefined) {
    problems.push('LONGHAUL_API_KEY and LONGHAUL_API_KEY_FILE are both set; leave one of them out.');
  }
  const defaultKey =
    key ?? (keyFile === undefined ? undefined : readKey('LONGHAUL_API_KEY_FILE', keyFile, readTextFile, problems));
  const common = {
    ...dialect,
    serviceUrl: values.LONGHAUL_SERVICE_URL ?? '',
    createsPerSecond: values.LONGHAUL_CREATES_PER_SECOND,
    pollsPerSecond: values.LONGHAUL_POLLS_PER_SECOND,
  };
  if (defaultKey !== undefined) {
    const apiKeySetting = key === undefined ? 'LONGHAUL_API_KEY_FILE' : 'LONGHAUL_API_KEY';
    const settings = { apiKey: apiKeySetting, serviceUrl: 'LONGHAUL_SERVICE_URL' };
    accounts.set('default', Object.freeze({ ...common, name: 'default', apiKey: new Secret(defaultKey), settings }));
  }

  if (file === undefined) return accounts;
  const listed = readJsonFile({ what: 'LONGHAUL_ACCOUNTS_FILE', file }, accountsFile, readTextFile, problems) ?? {};
  for (const [name, own] of Object.entries(listed)) {
    const where = `LONGHAUL_ACCOUNTS_FILE ${shownFile(file)}, account "${name}"`;
    if ((own.apiKey === undefined) === (own.apiKeyFile === undefined)) {
      problems.push(`${where}: give either apiKey or apiKeyFile.`);
    }
    if (accounts.has(name)) {
      problems.push(`${where}: it is given by LONGHAUL_API_KEY or LONGHAUL_API_KEY_FILE too; leave one out.`);
    }
    const { apiKeyFile } = own;
    const ownKey = own.apiKey ?? (apiKeyFile && readKey(`${where}: apiKeyFile`, apiKeyFile, readTextFile, problems));
    if (ownKey === undefined) continue;
    const field = (known: string): string => `${known} of account "${name}" in LONGHAUL_ACCOUNTS_FILE`;
    const account: Account = {
      ...common,
      name,
      apiKey: new Secret(ownKey),
      serviceUrl: own.serviceUrl ?? common.serviceUrl,
      createsPerSecond: own.createsPerSecond ?? common.createsPerSecond,
      pollsPerSecond: own.pollsPerSecond ?? common.pollsPerSecond,
      settings: {
        apiKey: field(own.apiKey === undefined ? 'apiKeyFile' : 'apiKey'),
        serviceUrl: own.serviceUrl === undefined ? 'LONGHAUL_SERVICE_URL' : field('serviceUrl'),
      },
    };
    accounts.set(name, Object.freeze(account));
  }
  return accounts;
}

function readKey(what: string, file: string, readTextFile: ReadTextFile, problems: string[]): string | undefined {
  const text = readNamedFile({ what, file }, readTextFile, problems)?.trim();
  if (text === undefined || apiKey.safeParse(text).success) return text;
  problems.push(`${what} is ${shownFile(file)}, which holds no API key: one word without spaces.`);
  return undefined;
}
