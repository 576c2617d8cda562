import { readFileSync } from 'node:fs';
import type { S3Place } from '../core/uri';
import { type Account, readAccounts } from './accounts';
import { readNamedFile, type ReadTextFile, shownFile } from './json-file';
import { type PriceList, readPrices } from './prices';
import { type CodecKeys, readCodecKeys } from './codec-keys';
import { type CallbackConfig, callbackWarnings, readCallback } from './callback-config';
import {
  ConfigError,
  isClearText,
  type Loaded,
  readVariables,
  readText,
  ignoredVariableWarnings,
  type VariableValues,
} from './environment';
import { readTraces, type TracesConfig } from './traces-config';
import { readWebhooks, type Webhook } from './webhooks';
import { type VariableName, variables, variablesReadBy } from './variables';
import {
  type ArchiveConfig,
  defaultSlots,
  type LogLevel,
  type MetricsConfig,
  type SocketAddress,
  type WorkerSlots,
} from './values';
import { isLoopback } from './codec-server-config';

/** Everything a worker needs to know of its environment. Frozen; its secrets print as `[redacted]`. */
export interface WorkerConfig {
  /** By name; never empty. */
  readonly accounts: ReadonlyMap<string, Account>;
  /** What it does at the same time, and how it asks for more. */
  readonly slots: WorkerSlots;
  /** How long an unknown account or a refused API key is tried again before it ends a task. */
  readonly accountPatienceMs: number;
  /** As of `CreateLimiterOptions`; not of the environment. */
  readonly uncertainPausesMs?: readonly number[];
  readonly archive: ArchiveConfig;
  /** The archive that this one takes the place of, by the first digits of its id; null for none. */
  readonly replacesArchive: string | null;
  /** Absolute folders under which local input files may lie; none means that no local file can be read. */
  readonly inputRoots: readonly string[];
  /** Lower-case hosts, with a port where one is given, that inputs may come from although they are not public. */
  readonly inputHosts: readonly string[];
  /** The same of the service's storage: where inputs are uploaded to, and links of results lead to. */
  readonly storageHosts: readonly string[];
  /** How large outputs may be, and what they leave free on a disk. */
  readonly outputs: {
    readonly maxOutputBytes: number;
    readonly maxTaskBytes: number;
    readonly reserveBytes: number;
  };
  /** Where objects may lie that are inputs; none means that no object can be read. */
  readonly inputBuckets: readonly S3Place[];
  /** Whether buckets stand in the path of a URL instead of its host. */
  readonly isS3PathStyle: boolean;
  /** What inputs of tasks may choose. */
  readonly allowed: {
    /** Null: every account. */
    readonly accounts: readonly string[] | null;
    readonly tuning: boolean;
    readonly recreate: boolean;
  };
  /** What tasks cost, as far as it is known. */
  readonly prices: PriceList;
  /** Which version of the worker deployment it is; `null`: it takes tasks of every version. */
  readonly version: { readonly deploymentName: string; readonly buildId: string } | null;
  /** Where the health endpoint listens; port 0 takes a free one, `null` means that there is none. */
  readonly health: SocketAddress | null;
  /** Whether it reports each account, by name: to this machine only. */
  readonly healthTellsAccounts: boolean;
  /** Where its metrics go; `null`: none are kept. */
  readonly metrics: MetricsConfig | null;
  /** Where its traces go; `null`: there are none. */
  readonly traces: TracesConfig | null;
  /** How the service reports the end of a task; `null`: it is not asked to. */
  readonly callback: CallbackConfig | null;
  /** The receivers of webhooks, by name. */
  readonly webhooks: ReadonlyMap<string, Webhook>;
  /** What payloads are encrypted with; `null`: they are not. */
  readonly codecKeys: CodecKeys | null;
  /** The file whose certificates Node trusts beside its own (`NODE_EXTRA_CA_CERTS`); `null`: none. */
  readonly extraCaCerts: string | null;
  readonly logLevel: LogLevel;
}

/**
 * Reads a worker's configuration. Pure but for the files that the variables name.
 *
 * Throws {@link ConfigError} with every problem at once.
 */
export function loadWorkerConfig(
  env: NodeJS.ProcessEnv,
  readTextFile: ReadTextFile = (path) => readFileSync(path, 'utf8'),
): Loaded<WorkerConfig> {
  const { values, problems } = readVariables(env, variablesReadBy('worker'));
  const accounts = readAccounts(values, readTextFile, problems);
  problems.push(...missing(env, accounts), ...unknownAllowed(values, accounts));
  const callback = readCallback(env, values, readTextFile, problems);
  const prices = readPrices(values.LONGHAUL_PRICES_FILE, readTextFile, problems);
  problems.push(...unknownBudgets(prices, accounts));
  const traces = readTraces(env, values, problems);
  const webhooks = readWebhooks(values.LONGHAUL_WEBHOOKS_FILE, readTextFile, problems);
  const codecKeys = readCodecKeys(values.LONGHAUL_CODEC_KEYS_FILE, readTextFile, problems);
  const unknown = [...ignoredVariableWarnings(env), ...proxyWarnings(env)];
  // A misspelt name is the likeliest reason for a missing variable.
  const { LONGHAUL_ARCHIVE: place, LONGHAUL_S3_PATH_STYLE: isPathStyle, LONGHAUL_STAGING: staging } = values;
  if (problems.length > 0 || place === undefined) throw new ConfigError([...problems, ...unknown]);

  const buckets = [...(staging === undefined ? [] : [staging]), ...values.LONGHAUL_INPUT_BUCKETS];
  const certificates = readCertificates(readText(env, 'NODE_EXTRA_CA_CERTS'), readTextFile);
  const config: WorkerConfig = {
    accounts,
    slots: values.LONGHAUL_SLOTS ?? defaultSlots,
    accountPatienceMs: values.LONGHAUL_ACCOUNT_PATIENCE,
    archive: Object.freeze(place.kind === 's3' ? { ...place, isPathStyle } : place),
    replacesArchive: values.LONGHAUL_REPLACES_ARCHIVE ?? null,
    inputRoots: Object.freeze(values.LONGHAUL_INPUT_ROOTS),
    inputHosts: Object.freeze(values.LONGHAUL_INPUT_HOSTS),
    storageHosts: Object.freeze(values.LONGHAUL_STORAGE_HOSTS),
    outputs: Object.freeze({
      maxOutputBytes: values.LONGHAUL_MAX_OUTPUT_BYTES,
      maxTaskBytes: values.LONGHAUL_MAX_TASK_BYTES,
      reserveBytes: values.LONGHAUL_ARCHIVE_RESERVE_BYTES,
    }),
    inputBuckets: Object.freeze(buckets.map(({ bucket, prefix }): S3Place => ({ bucket, key: prefix }))),
    isS3PathStyle: isPathStyle,
    allowed: Object.freeze({
      accounts: values.LONGHAUL_ALLOW_ACCOUNTS ?? null,
      tuning: !values.LONGHAUL_REFUSE.includes('tuning'),
      recreate: !values.LONGHAUL_REFUSE.includes('recreate'),
    }),
    prices,
    version: Object.freeze(values.LONGHAUL_BUILD_ID) ?? null,
    health: values.LONGHAUL_HEALTH_ADDRESS ?? null,
    healthTellsAccounts: isLoopback(values.LONGHAUL_HEALTH_ADDRESS?.host ?? ''),
    metrics: values.LONGHAUL_METRICS ?? null,
    traces,
    callback,
    webhooks,
    codecKeys,
    extraCaCerts: certificates.file,
    logLevel: values.LONGHAUL_LOG_LEVEL,
  };
  const clearText = [...accounts.values()]
    .filter(({ serviceUrl }) => isClearText(serviceUrl))
    .map(({ name, serviceUrl }) => `The API key of account "${name}" goes to ${serviceUrl} unencrypted; use https.`);
  const warnings = [...unknown, ...clearText, ...callbackWarnings(callback), ...certificates.warnings];
  return { config: Object.freeze(config), warnings };
}

function missing(env: NodeJS.ProcessEnv, accounts: ReadonlyMap<string, Account>): string[] {
  const isSet = (name: VariableName): boolean => readText(env, name) !== undefined;
  const hasKey = isSet('LONGHAUL_API_KEY') || isSet('LONGHAUL_API_KEY_FILE') || isSet('LONGHAUL_ACCOUNTS_FILE');
  const needsServiceUrl = accounts.size === 0 || [...accounts.values()].some(({ serviceUrl }) => serviceUrl === '');
  const problems: string[] = [];
  if (!isSet('LONGHAUL_SERVICE_URL') && needsServiceUrl) {
    problems.push(`LONGHAUL_SERVICE_URL is not set; ${variables.LONGHAUL_SERVICE_URL.remedy}.`);
  }
  if (!hasKey)
    problems.push('No account is set; give LONGHAUL_API_KEY, LONGHAUL_API_KEY_FILE or LONGHAUL_ACCOUNTS_FILE.');
  if (!isSet('LONGHAUL_ARCHIVE')) problems.push(`LONGHAUL_ARCHIVE is not set; ${variables.LONGHAUL_ARCHIVE.remedy}.`);
  return problems;
}

/** A misspelt account would have all of its tasks refused. */
function unknownAllowed(
  { LONGHAUL_ALLOW_ACCOUNTS: names = [] }: VariableValues,
  accounts: ReadonlyMap<string, Account>,
): string[] {
  const known = [...accounts.keys()].join(', ');
  return names
    .filter((name) => accounts.size > 0 && !accounts.has(name))
    .map((name) => `LONGHAUL_ALLOW_ACCOUNTS names "${name}", which is no account of this worker; it has: ${known}.`);
}

/** A misspelt account would spend without a limit. */
function unknownBudgets({ dailyBudgets }: PriceList, accounts: ReadonlyMap<string, Account>): string[] {
  const names = [...accounts.keys()].join(', ');
  const unknown = [...dailyBudgets.keys()].filter((account) => accounts.size > 0 && !accounts.has(account));
  return unknown.map((account) => {
    const words = `LONGHAUL_PRICES_FILE: dailyBudgets has the account ${JSON.stringify(account)}, which this worker does not know`;
    return `${words}; give one of ${names}.`;
  });
}

/** The file, if Node can have read it: Node itself says on its error stream only that it has not, and goes on. */
function readCertificates(
  file: string | undefined,
  readTextFile: ReadTextFile,
): { readonly file: string | null; readonly warnings: readonly string[] } {
  if (file === undefined) return { file: null, warnings: [] };
  const warnings: string[] = [];
  const text = readNamedFile({ what: 'NODE_EXTRA_CA_CERTS', file }, readTextFile, warnings);
  if (text === undefined) return { file: null, warnings };
  if (/-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----/.test(text)) return { file, warnings };
  const empty = `NODE_EXTRA_CA_CERTS is ${shownFile(file)}, which holds no certificate; give a file of certificates in PEM.`;
  return { file: null, warnings: [empty] };
}

/** Data names hosts, and what a proxy connects to is not seen here: so none is followed (docs/decisions/0021). */
function proxyWarnings(env: NodeJS.ProcessEnv): readonly string[] {
  const names = Object.keys(env).filter((name) => /^(?:https?|all)_proxy$/i.test(name) && env[name] !== '');
  if (names.length === 0) return [];
  return [
    `${names.sort().join(' and ')} cannot be followed: requests to the service, storages, inputs and webhooks connect directly; let the network route them.`,
  ];
}
