import { existsSync, statSync } from 'node:fs';
import { type ClientConnectConfig, loadClientConnectConfig } from '@temporalio/envconfig';
import { knownSecrets } from '../core/redact';
import { errorCode, errorMessage } from '../core/text';
import { redactUrl } from '../core/uri';
import { ConfigError, shownFile } from './environment';

/** For `Connection.connect` and `NativeConnection.connect` alike. */
export interface TemporalConnection {
  /** As messages name it. */
  readonly address: string;
  readonly namespace: string;
  readonly connectionOptions: ClientConnectConfig['connectionOptions'];
}

const defaultAddress = 'localhost:7233';
const defaultNamespace = 'default';

const hostAndPort = /^(?<host>\[[\da-f.:]+\]|[^\s:/[\]@]+)(?::(?<port>\d{1,5}))?$/i;

/** `TEMPORAL_*` and `temporal.toml`; an empty variable counts as unset. Throws {@link ConfigError} for a bad one. */
export function loadTemporalConnection(env: NodeJS.ProcessEnv = process.env): TemporalConnection {
  const set = Object.entries(env).filter((entry): entry is [string, string] => (entry[1] ?? '') !== '');
  const variables = Object.fromEntries(set);
  const problems = variableProblems(variables);
  if (problems.length > 0) throw new ConfigError(problems);
  const { connectionOptions, namespace } = load(variables);
  if (typeof connectionOptions.apiKey === 'string') knownSecrets.add(connectionOptions.apiKey);
  const address = completeAddress(connectionOptions.address ?? defaultAddress);
  return { address, namespace: namespace ?? defaultNamespace, connectionOptions: { ...connectionOptions, address } };
}

const switches = ['TEMPORAL_TLS', 'TEMPORAL_TLS_DISABLE_HOST_VERIFICATION'];

/** What the SDK passes over: an unknown switch is off, a missing file is empty. */
function variableProblems(variables: Readonly<Record<string, string>>): string[] {
  const unknown = switches.filter((name) => !/^(true|false|0|1)$/.test(variables[name] ?? 'false'));
  const problems = unknown.map((name) => `${name} is ${JSON.stringify(variables[name])}; give true or false.`);
  const { TEMPORAL_CONFIG_FILE: file } = variables;
  if (file === undefined || existsSync(file)) return problems;
  const remedy = 'correct the path, or unset the variable';
  return [...problems, `TEMPORAL_CONFIG_FILE is ${shownFile(file)}, and there is no such file; ${remedy}.`];
}

/** Host and port, by default Temporal's port; undefined for what is no address. */
export function temporalAddress(address: string): string | undefined {
  const { host, port = '7233' } = hostAndPort.exec(address)?.groups ?? {};
  return host !== undefined && Number(port) > 0 && Number(port) <= 65_535 ? `${host}:${port}` : undefined;
}

/** Throws {@link ConfigError} for what is no address: the SDK takes a scheme for a host's name. */
function completeAddress(address: string): string {
  const complete = temporalAddress(address);
  if (complete !== undefined) return complete;
  const shown = JSON.stringify(redactUrl(address));
  throw new ConfigError([`TEMPORAL_ADDRESS is ${shown}; give host:port without a scheme, such as "localhost:7233".`]);
}

function load(variables: Record<string, string>, disableFile = false): ClientConnectConfig {
  try {
    return loadClientConnectConfig({ overrideEnvVars: variables, disableFile });
  } catch (error) {
    if (!disableFile && variables['TEMPORAL_CONFIG_FILE'] === undefined && isOutOfReach(error)) {
      return load(variables, true);
    }
    throw new ConfigError([`Temporal’s configuration (TEMPORAL_*, temporal.toml) cannot be used: ${reason(error)}`]);
  }
}

/** Whether a folder above the default temporal.toml may not be entered (`ProtectHome=yes`): there may be none. */
function isOutOfReach(error: unknown): boolean {
  const { path } = error as NodeJS.ErrnoException;
  if (typeof path !== 'string' || !/[/\\]temporalio[/\\]temporal\.toml$/.test(path)) return false;
  try {
    statSync(path);
    return false;
  } catch (fault) {
    return ['EACCES', 'EPERM'].includes(errorCode(fault));
  }
}

function reason(error: unknown): string {
  // The SDK's own message for a file without a profile is no better.
  if (error instanceof TypeError) return 'the file has no [profile.…] table';
  // A certificate or a key in place of its path must not be shown.
  const { path, code } = error as NodeJS.ErrnoException;
  return typeof path === 'string' ? `${shownFile(path)} cannot be read (${code ?? ''})` : errorMessage(error);
}
