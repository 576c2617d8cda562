import path from 'node:path';
import { defaultHeaderPrefix, parseServiceDialect, refusalMeanings, specifiedDialect } from '../core/service-dialect';
import { serviceStatuses } from '../core/task-state';
import { parseDuration } from '../core/time';
import { maxWorkflowTasks } from '../core/workflow-tasks';
import * as values from './values';

export type VariableReader = 'worker' | 'receiver' | 'command line' | 'codec server';

/** What `docs/reference/configuration.md` says of it, and how its text is read. */
export interface Variable {
  /** @default the worker alone */
  readonly readBy?: readonly VariableReader[];
  /** What holds when it is not set, as the documentation has it. */
  readonly default: string;
  /** Not shown in any message. */
  readonly isSecret?: true;
  /** What to set it to, as every complaint says. */
  readonly remedy: string;
  readonly parse: values.Parse<unknown>;
  /** Its value when it is not set. @default null */
  readonly unset?: unknown;
}

const none: readonly string[] = [];
const noPlaces: readonly values.BucketPlace[] = [];

/** Hosts that a worker may connect to although they are not public. */
function hostsVariable(unset: string) {
  const remedy =
    'give host names separated by commas, each with ":port" if need be, without a scheme, a path or a wildcard';
  return { default: unset, remedy, parse: values.hosts, unset: none } as const satisfies Variable;
}

function bytesVariable(unset: number, remedy: string, least = 0) {
  const parse = values.byteCount(least);
  return { default: `\`${unset}\``, remedy, parse, unset } as const satisfies Variable;
}

function choiceVariable(...readBy: VariableReader[]) {
  const remedy = 'give "true" or "false"';
  return { readBy, default: '`false`', remedy, parse: values.isTrue, unset: false } as const satisfies Variable;
}

/** The path of a file that the start reads. */
function fileVariable(unset: string, remedy: string, readBy: readonly VariableReader[] = ['worker']) {
  return { readBy, default: unset, remedy, parse: (path: string) => path } as const satisfies Variable;
}

/** In the order of the documentation. Temporal's `envconfig` reads its own `TEMPORAL_*`. */
export const variables = {
  LONGHAUL_SERVICE_URL: {
    default: 'required',
    remedy: 'give the service’s base URL, such as "https://service.example", without a query',
    parse: values.baseUrl,
  },
  LONGHAUL_SERVICE_DIALECT: {
    readBy: ['worker', 'receiver'],
    default: 'not set: as the specification has it',
    remedy:
      `give "header=${defaultHeaderPrefix}", codes such as "41007=QUEUE_FULL" and words for states such as ` +
      '"finished=Success", separated by commas, each once; a header prefix has 60 letters, digits and hyphens at ' +
      `most and ends with a hyphen; a code means SUCCESS, ${refusalMeanings.join(', ')}; a state is ` +
      serviceStatuses.join(', '),
    parse: parseServiceDialect,
    unset: specifiedDialect,
  },
  LONGHAUL_API_KEY: {
    default: 'required, unless one of the next two is set',
    isSecret: true,
    remedy: 'give the API key of the account "default" as one word without spaces',
    parse: values.apiKey,
  },
  LONGHAUL_API_KEY_FILE: fileVariable('not set', 'give the path of a file that holds nothing but the API key'),
  LONGHAUL_ACCOUNTS_FILE: fileVariable(
    'not set',
    'give the path of a JSON file { "<account>": { "apiKey" or "apiKeyFile", "serviceUrl"?, ' +
      '"createsPerSecond"?, "pollsPerSecond"? } }',
  ),
  LONGHAUL_CREATES_PER_SECOND: {
    default: '`50`',
    remedy: 'give how many creates a second an account may send, from 0.01 to 10000',
    parse: values.rate,
    unset: 50,
  },
  LONGHAUL_POLLS_PER_SECOND: {
    default: '`1000`',
    remedy: 'give how many queries a second an account may send, from 0.01 to 10000',
    parse: values.rate,
    unset: 1_000,
  },
  LONGHAUL_SLOTS: {
    default: 'as [below](#slots)',
    remedy:
      'give pairs such as "uploads=4,archives=4" of activities, archives, cachedWorkflows, pollers, uploads, watches ' +
      `and workflowTasks, each a whole number from 1 to 100000 (activities, pollers and workflowTasks from 2, workflowTasks to ${maxWorkflowTasks})`,
    parse: values.slots,
    unset: values.defaultSlots,
  },
  LONGHAUL_ACCOUNT_PATIENCE: {
    default: '`10 minutes`',
    remedy: 'give a duration such as "90 seconds" or "1h", or "0 s" to try nothing again',
    parse: parseDuration,
    unset: 600_000,
  },
  LONGHAUL_ARCHIVE: {
    default: 'required',
    remedy: 'give the path of a folder, or "s3://bucket/prefix", without quotes, "~" or "$"',
    parse: values.archive,
  },
  LONGHAUL_REPLACES_ARCHIVE: {
    default: 'not set: no other archive',
    remedy: 'give the eight digits by which a worker that refused to start named the archive of the tasks',
    parse: values.archiveDigits,
  },
  LONGHAUL_MAX_OUTPUT_BYTES: bytesVariable(100_000_000_000, 'give a whole number of bytes, from 1', 1),
  LONGHAUL_MAX_TASK_BYTES: bytesVariable(500_000_000_000, 'give a whole number of bytes, from 1', 1),
  LONGHAUL_ARCHIVE_RESERVE_BYTES: bytesVariable(
    268_435_456,
    'give the bytes that outputs leave free on a disk, as a whole number, or 0 for none',
  ),
  LONGHAUL_S3_PATH_STYLE: choiceVariable('worker', 'command line'),
  LONGHAUL_INPUT_ROOTS: {
    default: 'none: no local file can be an input',
    remedy: `give folders separated by "${path.delimiter}", without quotes, "~" or "$"`,
    parse: values.folders,
    unset: none,
  },
  LONGHAUL_INPUT_HOSTS: hostsVariable('none: only public hosts'),
  LONGHAUL_STORAGE_HOSTS: hostsVariable('none: public hosts, and the service’s own machine'),
  LONGHAUL_INPUT_BUCKETS: {
    default: 'none but `LONGHAUL_STAGING`',
    remedy: 'give "s3://bucket/prefix", several separated by commas',
    parse: values.bucketPlaces,
    unset: noPlaces,
  },
  LONGHAUL_STAGING: {
    readBy: ['worker', 'command line'],
    default: 'not set: the worker must see local files itself',
    remedy: 'give "s3://bucket/prefix"',
    parse: values.bucketPlace,
  },
  LONGHAUL_ALLOW_ACCOUNTS: {
    default: 'not set: every account that it has',
    remedy: 'give names of accounts, separated by commas',
    parse: values.accountNames,
  },
  LONGHAUL_REFUSE: {
    default: 'nothing',
    remedy: 'give "tuning", "recreate" or "tuning,recreate"',
    parse: values.refusedChoices,
    unset: none,
  },
  LONGHAUL_PRICES_FILE: fileVariable(
    'not set: no price is known',
    'give a readable JSON file: {"prices": [{"webAppId": 5, "currency": "EUR", "perTask": "0.02"}]}',
    ['worker', 'command line'],
  ),
  LONGHAUL_BUILD_ID: {
    default: 'not set: tasks of every version',
    remedy:
      'give the version of this build, such as "2026-11-22" or a commit, or "deployment/version": letters, digits, ' +
      'dots (not in the deployment), hyphens and underscores, 80 at most each',
    parse: values.buildVersion,
  },
  LONGHAUL_METRICS: {
    readBy: ['worker', 'receiver'],
    default: 'not set: no metrics',
    remedy:
      'give an address of this machine and a port for Prometheus, such as "127.0.0.1:9464" or "[::]:9464", or the URL ' +
      'of an OpenTelemetry collector: "http://collector:4317" for gRPC, "…:4318/v1/metrics" for HTTP',
    parse: values.metricsPlace,
  },
  LONGHAUL_TRACES_OTLP_URL: {
    readBy: ['worker', 'receiver', 'command line'],
    default: 'not set: no traces',
    remedy: 'give the URL of an OpenTelemetry collector for OTLP over HTTP, such as "http://collector:4318/v1/traces"',
    parse: values.baseUrl,
  },
  LONGHAUL_HEALTH_ADDRESS: {
    default: 'not set: no health endpoint',
    remedy:
      'give an IP address of this machine and a port (0 takes a free one), such as "127.0.0.1:8090" or "[::]:8090"',
    parse: values.socketAddress,
  },
  LONGHAUL_CALLBACK_URL: {
    readBy: ['worker', 'receiver'],
    default: 'not set: no callbacks; required by the receiver',
    remedy:
      'give the URL under which the service reaches the receiver, without a query, its path not "/health", "/live" or "/ready"',
    parse: values.callbackUrl,
  },
  LONGHAUL_CALLBACK_TOKEN: {
    readBy: ['worker', 'receiver'],
    default: 'not set; required with `LONGHAUL_CALLBACK_URL`',
    isSecret: true,
    remedy: 'give a token of 16 to 200 characters without spaces, or two separated by a comma',
    parse: values.callbackTokens,
  },
  LONGHAUL_CALLBACK_TOKEN_FILE: fileVariable('not set', 'give the path of a file that holds nothing but the token', [
    'worker',
    'receiver',
  ]),
  LONGHAUL_CALLBACK_PORT: {
    readBy: ['receiver'],
    default: '`8080`',
    remedy:
      'give a port from 0 to 65535 (0 takes a free one and logs it); in Kubernetes, where a Service may set it, enableServiceLinks: false',
    parse: values.port,
    unset: 8080,
  },
  LONGHAUL_WEBHOOKS_FILE: fileVariable(
    'not set: no webhooks',
    'give a readable JSON file: {"orders": {"url": "https://shop.example/hooks", "secrets": ["whsec_…"]}}, by the names that tasks say',
  ),
  LONGHAUL_CODEC_KEYS_FILE: fileVariable(
    'not set: nothing is encrypted; required by the codec server',
    'give a readable JSON file: {"current": "2026-11", "keys": {"2026-11": "<32 bytes in base64>"}}, where current is the id of the key that encrypts',
    ['worker', 'receiver', 'command line', 'codec server'],
  ),
  LONGHAUL_CODEC_ADDRESS: {
    readBy: ['codec server'],
    default: '`127.0.0.1:8081`: this machine only',
    remedy: 'give an IP address of this machine and a port, such as "127.0.0.1:8081" or "[::]:8081"',
    parse: values.socketAddress,
    unset: { host: '127.0.0.1', port: 8081 },
  },
  LONGHAUL_CODEC_TOKEN: {
    readBy: ['codec server'],
    default: 'not set; required unless `LONGHAUL_CODEC_ADDRESS` is of loopback',
    isSecret: true,
    remedy: 'give a token of 16 to 200 characters without spaces, or two separated by a comma',
    parse: values.callbackTokens,
  },
  LONGHAUL_CODEC_ORIGINS: {
    readBy: ['codec server'],
    default: 'none: no page of a browser',
    remedy:
      'give origins of Web UIs separated by commas, such as "https://temporal.example" or "http://localhost:8233"',
    parse: values.origins,
    unset: none,
  },
  LONGHAUL_CODEC_ENCODE: choiceVariable('codec server'),
  LONGHAUL_UMASK: {
    readBy: ['worker', 'receiver', 'command line'],
    default: '`077`: files for the own user only',
    remedy: 'give three octal digits that leave the own user every right, such as "077", "027" or "022"',
    parse: values.umask,
    // Files are for the own user only.
    unset: 0o077,
  },
  LONGHAUL_LOG_LEVEL: {
    readBy: ['worker', 'receiver', 'codec server'],
    default: '`info`',
    remedy: `give one of ${values.logLevels.join(', ')}`,
    parse: values.oneOf(values.logLevels),
    unset: 'info',
  },
  LONGHAUL_WEB_UI_URL: {
    readBy: ['command line'],
    default: 'not set: no links',
    remedy: 'give the base URL of Temporal’s Web UI, such as "http://localhost:8233"',
    parse: values.baseUrl,
  },
} as const satisfies Record<string, Variable>;

export type VariableName = keyof typeof variables;

/** In the order of the documentation. */
export const variableNames = Object.keys(variables) as readonly VariableName[];

/** @internal exported for tests */
export function readersOf({ readBy = ['worker'] }: Variable): readonly VariableReader[] {
  return readBy;
}

export function variablesReadBy(reader: VariableReader): VariableName[] {
  return variableNames.filter((name) => readersOf(variables[name]).includes(reader));
}
