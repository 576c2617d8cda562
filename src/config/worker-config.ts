import type { S3Place } from '../core/uri';
import { type Account, readAccounts } from './accounts';
import { type CallbackConfig, callbackWarnings, readCallback } from './callback-config';
import { readArchivePlace } from './client-config';
import { type CodecKeys, readCodecKeys } from './codec-keys';
import {
  Environment,
  ignoredVariableWarnings,
  type Loaded,
  type ReadTextFile,
  readText,
  shownFile,
} from './environment';
import { type PriceList, readPrices } from './prices';
import { readTraces, type TracesConfig } from './traces-config';
import {
  type ArchiveConfig,
  isClearText,
  isLoopback,
  type LogLevel,
  type MetricsConfig,
  type SocketAddress,
  type WorkerSlots,
} from './values';
import { variablesReadBy } from './variables';
import { readWebhooks, type Webhook } from './webhooks';

/** Frozen; secrets print as `[redacted]`. */
export interface WorkerConfig {
  /** By name; never empty. */
  readonly accounts: ReadonlyMap<string, Account>;
  readonly slots: WorkerSlots;
  /** How long an unknown account or a refused key is tried again before it ends a task. */
  readonly accountPatienceMs: number;
  /** As in `CreateLimiterOptions`; not of the environment. */
  readonly uncertainPausesMs?: readonly number[];
  readonly archive: ArchiveConfig;
  /** The archive that this one takes the place of, by the first digits of its id; null for none. */
  readonly replacesArchive: string | null;
  /** Absolute; none: no local file can be read. */
  readonly inputRoots: readonly string[];
  /** Lower-case hosts, with a port where one is given, that inputs may come from although they are not public. */
  readonly inputHosts: readonly string[];
  /** The same for uploads of inputs and links of results. */
  readonly storageHosts: readonly string[];
  readonly outputs: {
    readonly maxOutputBytes: number;
    readonly maxTaskBytes: number;
    readonly reserveBytes: number;
  };
  /** Where objects may lie that are inputs; none means that no object can be read. */
  readonly inputBuckets: readonly S3Place[];
  readonly isS3PathStyle: boolean;
  readonly allowed: {
    /** Null: every account. */
    readonly accounts: readonly string[] | null;
    readonly tuning: boolean;
    readonly recreate: boolean;
  };
  readonly prices: PriceList;
  /** `null`: it takes tasks of every version. */
  readonly version: { readonly deploymentName: string; readonly buildId: string } | null;
  /** Port 0 takes a free one; `null`: no endpoint. */
  readonly health: SocketAddress | null;
  /** Whether it names each account, to this machine only. */
  readonly healthTellsAccounts: boolean;
  /** `null`: none are kept. */
  readonly metrics: MetricsConfig | null;
  /** `null`: none. */
  readonly traces: TracesConfig | null;
  /** `null`: the service is not asked for callbacks. */
  readonly callback: CallbackConfig | null;
  readonly webhooks: ReadonlyMap<string, Webhook>;
  /** `null`: payloads are not encrypted. */
  readonly codecKeys: CodecKeys | null;
  /** `NODE_EXTRA_CA_CERTS`, which Node trusts beside its own; `null`: none. */
  readonly extraCaCerts: string | null;
  readonly logLevel: LogLevel;
}

/** Pure but for files that the variables name. Throws {@link ConfigError} with every problem at once. */
export function loadWorkerConfig(env: NodeJS.ProcessEnv, readTextFile?: ReadTextFile): Loaded<WorkerConfig> {
  const environment = new Environment(env, variablesReadBy('worker'), readTextFile);
  const { values } = environment;
  const accounts = readAccounts(environment);
  requireAccounts(environment, accounts);
  environment.require('LONGHAUL_ARCHIVE');
  const callback = readCallback(environment);
  const prices = readPrices(environment);
  refuseUnknownAccounts(environment, accounts, prices);
  const traces = readTraces(environment);
  const webhooks = readWebhooks(environment);
  const codecKeys = readCodecKeys(environment);
  // A misspelt name is the likeliest reason for a missing variable.
  const warnings = [...ignoredVariableWarnings(env), ...proxyWarnings(env)];
  const archive = environment.usable(readArchivePlace(environment), warnings);

  const buckets = [values.LONGHAUL_STAGING ?? [], values.LONGHAUL_INPUT_BUCKETS].flat();
  const refused = values.LONGHAUL_REFUSE;
  for (const { name, serviceUrl } of accounts.values()) {
    if (!isClearText(serviceUrl)) continue;
    warnings.push(`The API key of account "${name}" goes to ${serviceUrl} unencrypted; use https.`);
  }
  warnings.push(...callbackWarnings(callback));
  const config: WorkerConfig = {
    accounts,
    slots: values.LONGHAUL_SLOTS,
    accountPatienceMs: values.LONGHAUL_ACCOUNT_PATIENCE,
    archive,
    replacesArchive: values.LONGHAUL_REPLACES_ARCHIVE,
    inputRoots: Object.freeze(values.LONGHAUL_INPUT_ROOTS),
    inputHosts: Object.freeze(values.LONGHAUL_INPUT_HOSTS),
    storageHosts: Object.freeze(values.LONGHAUL_STORAGE_HOSTS),
    outputs: Object.freeze({
      maxOutputBytes: values.LONGHAUL_MAX_OUTPUT_BYTES,
      maxTaskBytes: values.LONGHAUL_MAX_TASK_BYTES,
      reserveBytes: values.LONGHAUL_ARCHIVE_RESERVE_BYTES,
    }),
    inputBuckets: Object.freeze(buckets.map(({ bucket, prefix }): S3Place => ({ bucket, key: prefix }))),
    isS3PathStyle: values.LONGHAUL_S3_PATH_STYLE,
    allowed: Object.freeze({
      accounts: values.LONGHAUL_ALLOW_ACCOUNTS,
      tuning: !refused.includes('tuning'),
      recreate: !refused.includes('recreate'),
    }),
    prices,
    version: Object.freeze(values.LONGHAUL_BUILD_ID),
    health: values.LONGHAUL_HEALTH_ADDRESS,
    healthTellsAccounts: isLoopback(values.LONGHAUL_HEALTH_ADDRESS?.host ?? ''),
    metrics: values.LONGHAUL_METRICS,
    traces,
    callback,
    webhooks,
    codecKeys,
    extraCaCerts: readCertificates(environment, warnings),
    logLevel: values.LONGHAUL_LOG_LEVEL,
  };
  return { config: Object.freeze(config), warnings };
}

function requireAccounts(environment: Environment, accounts: ReadonlyMap<string, Account>): void {
  const services = [...accounts.values()].map(({ serviceUrl }) => serviceUrl);
  if (services.length === 0 || services.includes('')) environment.require('LONGHAUL_SERVICE_URL');
  const sources = ['LONGHAUL_API_KEY', 'LONGHAUL_API_KEY_FILE', 'LONGHAUL_ACCOUNTS_FILE'] as const;
  if (sources.some((name) => environment.isSet(name))) return;
  environment.problems.push(
    'No account is set; give LONGHAUL_API_KEY, LONGHAUL_API_KEY_FILE or LONGHAUL_ACCOUNTS_FILE.',
  );
}

/** A misspelt account would have all of its tasks refused, or spend without a limit. */
function refuseUnknownAccounts(
  { values, problems }: Environment,
  accounts: ReadonlyMap<string, Account>,
  { dailyBudgets }: PriceList,
): void {
  if (accounts.size === 0) return;
  const refuse = (place: string, names: Iterable<string>): void => {
    for (const name of names) {
      if (accounts.has(name)) continue;
      const known = [...accounts.keys()].join(', ');
      problems.push(`${place} names ${JSON.stringify(name)}, which is no account of this worker; it has: ${known}.`);
    }
  };
  refuse('LONGHAUL_ALLOW_ACCOUNTS', values.LONGHAUL_ALLOW_ACCOUNTS ?? []);
  refuse('LONGHAUL_PRICES_FILE: dailyBudgets', dailyBudgets.keys());
}

/** If Node can have read it: Node only warns on its error stream, and goes on. */
function readCertificates(environment: Environment, warnings: string[]): string | null {
  const file = readText(environment.env, 'NODE_EXTRA_CA_CERTS');
  const text = file === undefined ? undefined : environment.readFile('NODE_EXTRA_CA_CERTS', file, warnings);
  if (file === undefined || text === undefined) return null;
  if (/-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----/.test(text)) return file;
  const remedy = 'give a file of certificates in PEM';
  warnings.push(`NODE_EXTRA_CA_CERTS is ${shownFile(file)}, which holds no certificate; ${remedy}.`);
  return null;
}

/** Data names hosts, and what a proxy connects to is not seen here: none is followed (docs/decisions/0021). */
function proxyWarnings(env: NodeJS.ProcessEnv): readonly string[] {
  const names = Object.keys(env).filter((name) => /^(?:https?|all)_proxy$/i.test(name) && env[name] !== '');
  if (names.length === 0) return [];
  return [
    `${names.sort().join(' and ')} cannot be followed: requests to the service, storages, inputs and webhooks connect directly; let the network route them.`,
  ];
}
