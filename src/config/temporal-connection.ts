import { type ClientConnectConfig, loadClientConnectConfig } from '@temporalio/envconfig';
import { knownSecrets } from '../domain/redact';
import { errorMessage } from '../domain/text';
import { redactUrl } from '../domain/uri';
import { ConfigError } from './environment';

/** How to reach Temporal: for `Connection.connect` and `NativeConnection.connect` alike. */
export interface TemporalConnection {
  /** As a message names it. */
  readonly address: string;
  readonly namespace: string;
  readonly connectionOptions: ClientConnectConfig['connectionOptions'];
}

const defaultAddress = 'localhost:7233';
const defaultNamespace = 'default';

/**
 * Reads Temporal's own configuration: `TEMPORAL_*` and its `temporal.toml`. Throws {@link ConfigError} when that file
 * or the address cannot be used.
 */
export function loadTemporalConnection(env: NodeJS.ProcessEnv = process.env): TemporalConnection {
  const { connectionOptions, namespace } = load(env);
  if (typeof connectionOptions.apiKey === 'string') knownSecrets.add(connectionOptions.apiKey);
  const address = connectionOptions.address ?? defaultAddress;
  const problem = addressProblem(address);
  if (problem !== undefined) throw new ConfigError([problem]);
  return { address, namespace: namespace ?? defaultNamespace, connectionOptions: { ...connectionOptions, address } };
}

/** The SDK takes a scheme for the name of a host. */
function addressProblem(address: string): string | undefined {
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(address) ?? [];
  if (scheme === undefined) return undefined;
  const shown = JSON.stringify(redactUrl(address));
  return `TEMPORAL_ADDRESS is ${shown}, which has the scheme ${scheme}; give host:port without one, such as "localhost:7233".`;
}

function load(env: NodeJS.ProcessEnv): ClientConnectConfig {
  const set = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  try {
    return loadClientConnectConfig({ overrideEnvVars: Object.fromEntries(set) });
  } catch (error) {
    const reason = errorMessage(error);
    throw new ConfigError([`Temporal’s configuration (TEMPORAL_*, temporal.toml) cannot be used: ${reason}`]);
  }
}
