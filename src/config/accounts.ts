import * as v from 'valibot';
import type { ServiceCodes, ServiceDialect } from '../core/service-dialect';
import type { StateWords } from '../core/task-state';
import { type Environment, shownFile } from './environment';
import { byName, fields, parsed, text } from './json-file';
import { Secret } from './secret';
import { apiKey, baseUrl } from './values';

/** Named credentials of the service, with the dialect that all accounts of a worker share. */
export interface Account extends ServiceDialect {
  readonly name: string;
  readonly apiKey: Secret;
  /** Base URL without a trailing slash. */
  readonly serviceUrl: string;
  /** What one worker sends at most: creates, and queries for tasks' states. */
  readonly createsPerSecond: number;
  readonly pollsPerSecond: number;
  /** Where both were set, as messages name it: a variable, or a field of the accounts file. */
  readonly settings: { readonly apiKey: string; readonly serviceUrl: string };
}

export interface ServiceOptions {
  readonly baseUrl: string;
  readonly apiKey: () => string;
  readonly headerPrefix: string;
  readonly envelopeCodes: ServiceCodes['meanings'];
  readonly successCodes: readonly number[];
  readonly states: StateWords;
}

/** Specification, section 2.1. */
const successCode = 20_000;

export function serviceOptions({ serviceUrl, apiKey: key, headerPrefix, codes, states }: Account): ServiceOptions {
  return {
    baseUrl: serviceUrl,
    apiKey: () => key.reveal(),
    headerPrefix,
    envelopeCodes: codes.meanings,
    successCodes: [successCode, ...codes.success],
    states,
  };
}

/** @param code - of the error of the service client; undefined: of another error. */
export function serviceRemedy({ settings }: Pick<Account, 'settings'>, code: string | undefined): string {
  const { serviceUrl, apiKey: key } = settings;
  switch (code) {
    case 'UNAUTHORIZED':
    case 'API_KEY_UNAVAILABLE':
      return `Correct ${key}, a key of the service in ${serviceUrl}, and restart the workers.`;
    case 'INSUFFICIENT_BALANCE':
    case 'ACCOUNT_SUSPENDED':
    case 'PERMISSION_DENIED':
      return 'Settle it with the service: what waits goes on by itself then.';
    case 'SERVICE_UNAVAILABLE':
    case 'TIMEOUT':
    case 'RATE_LIMITED':
    case 'QUEUE_FULL':
      return 'The service has to answer again: what waits goes on by itself then. If it lasts, tell its operators.';
    case 'UNREACHABLE':
      return `Does the service run, and does this machine reach it? ${serviceUrl} has its address.`;
    default:
      return `Does ${serviceUrl} have the address of the service?`;
  }
}

const rateWords = 'a number from 0.01 to 10000';
const perSecond = v.optional(v.pipe(v.number(rateWords), v.minValue(0.01, rateWords), v.maxValue(10_000, rateWords)));
const account = fields({
  apiKey: v.optional(parsed(apiKey, 'one word of visible characters')),
  apiKeyFile: v.optional(text('the path of a file')),
  serviceUrl: v.optional(parsed(baseUrl, 'the base URL of a service, without a query')),
  createsPerSecond: perSecond,
  pollsPerSecond: perSecond,
});
const schema = v.pipe(
  byName(account, 'an object with the accounts by name'),
  v.minEntries(1, 'an object with at least one account'),
);

/** `default` of `LONGHAUL_API_KEY` or its `_FILE`, the others of `LONGHAUL_ACCOUNTS_FILE`. No problem shows a key. */
export function readAccounts(environment: Environment): ReadonlyMap<string, Account> {
  const { values, problems } = environment;
  const accounts = new Map<string, Account>();
  const readKey = (what: string, path: string): string | null =>
    environment.readSecret(what, path, apiKey, 'API key: one word without spaces');

  const { LONGHAUL_API_KEY: key, LONGHAUL_API_KEY_FILE: keyFile } = values;
  environment.refuseBoth('LONGHAUL_API_KEY', 'LONGHAUL_API_KEY_FILE');
  const defaultKey = key ?? (keyFile && readKey('LONGHAUL_API_KEY_FILE', keyFile));
  const common = {
    ...values.LONGHAUL_SERVICE_DIALECT,
    serviceUrl: values.LONGHAUL_SERVICE_URL ?? '',
    createsPerSecond: values.LONGHAUL_CREATES_PER_SECOND,
    pollsPerSecond: values.LONGHAUL_POLLS_PER_SECOND,
  };
  if (defaultKey !== null) {
    const setting = key === null ? 'LONGHAUL_API_KEY_FILE' : 'LONGHAUL_API_KEY';
    const settings = { apiKey: setting, serviceUrl: 'LONGHAUL_SERVICE_URL' };
    accounts.set('default', Object.freeze({ ...common, name: 'default', apiKey: new Secret(defaultKey), settings }));
  }

  const listed = environment.readJson('LONGHAUL_ACCOUNTS_FILE', { schema, isSecret: true }) ?? {};
  for (const [name, own] of Object.entries(listed)) {
    const where = `LONGHAUL_ACCOUNTS_FILE ${shownFile(values.LONGHAUL_ACCOUNTS_FILE ?? '')}, account "${name}"`;
    if ((own.apiKey === undefined) === (own.apiKeyFile === undefined)) {
      problems.push(`${where}: give either apiKey or apiKeyFile.`);
    }
    if (accounts.has(name)) {
      problems.push(`${where}: it is given by LONGHAUL_API_KEY or LONGHAUL_API_KEY_FILE too; leave one out.`);
    }
    const ownKey = own.apiKey ?? (own.apiKeyFile && readKey(`${where}: apiKeyFile`, own.apiKeyFile));
    if (!ownKey) continue;
    const field = (known: string): string => `${known} of account "${name}" in LONGHAUL_ACCOUNTS_FILE`;
    const resolved: Account = {
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
    accounts.set(name, Object.freeze(resolved));
  }
  return accounts;
}
