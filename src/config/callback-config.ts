import { readFileSync } from 'node:fs';
import { defaultHeaderPrefix } from '../domain/service-dialect';
import type { ReadTextFile } from './json-file';
import { type CodecKeys, readCodecKeys } from './codec-keys';
import {
  ConfigError,
  isClearText,
  type Loaded,
  readVariables,
  readText,
  ignoredVariableWarnings,
  type VariableValues,
} from './environment';
import { type MetricsConfig, readMetrics } from './metrics-config';
import { readTraces, type TracesConfig } from './traces-config';
import { Secret } from './secret';
import { variables, variablesReadBy } from './variables';
import type { LogLevel } from './values';

/** Where the service reports the end of a task, and how the receiver knows that it is the service. */
export interface CallbackConfig {
  /** As it is sent with every create. */
  readonly url: string;
  /** One, or two while they are rotated: the first is sent with every create, both are accepted. */
  readonly tokens: readonly Secret[];
  /** What the headers of the service begin with. */
  readonly headerPrefix: string;
}

const names = ['LONGHAUL_CALLBACK_URL', 'LONGHAUL_CALLBACK_TOKEN'] as const;

/** Reads it; `null` when neither of its variables is set. One without the other is a problem. */
export function readCallback(
  env: NodeJS.ProcessEnv,
  values: Partial<VariableValues>,
  problems: string[],
): CallbackConfig | null {
  const missing = names.filter((name) => readText(env, name) === undefined);
  if (missing.length === names.length) return null;
  problems.push(...missing.map((name) => `${name} is not set, but its counterpart is; ${variables[name].remedy}.`));
  const tokens = (values.LONGHAUL_CALLBACK_TOKEN ?? []).map((token) => new Secret(token));
  const headerPrefix = values.LONGHAUL_SERVICE_HEADER_PREFIX ?? defaultHeaderPrefix;
  return Object.freeze({ url: values.LONGHAUL_CALLBACK_URL ?? '', tokens: Object.freeze(tokens), headerPrefix });
}

/** Warnings about a valid configuration. */
export function callbackWarnings(callback: CallbackConfig | null): string[] {
  if (callback === null || !isClearText(callback.url)) return [];
  return [`The callback token comes to ${callback.url} unencrypted; use https.`];
}

/** Everything the callback receiver needs to know of its environment. Frozen; its secrets print as `[redacted]`. */
export interface ReceiverConfig {
  readonly callback: CallbackConfig;
  /** Port that it listens on; 0 takes a free one. */
  readonly port: number;
  /** Where its metrics go; `null`: none are kept. */
  readonly metrics: MetricsConfig | null;
  /** Where its traces go; `null`: there are none. */
  readonly traces: TracesConfig | null;
  /** What signals are encrypted with; `null`: they are not. */
  readonly codecKeys: CodecKeys | null;
  readonly logLevel: LogLevel;
}

/** Reads the configuration. Pure but for the file of keys. Throws {@link ConfigError} with every problem at once. */
export function loadReceiverConfig(
  env: NodeJS.ProcessEnv,
  readTextFile: ReadTextFile = (path) => readFileSync(path, 'utf8'),
): Loaded<ReceiverConfig> {
  const { values, problems: unreadable } = readVariables(env, variablesReadBy('receiver'));
  const problems = [...unreadable];
  const callback = readCallback(env, values, problems);
  const metrics = readMetrics(values, problems);
  const traces = readTraces(env, values, problems);
  const codecKeys = readCodecKeys(values.LONGHAUL_CODEC_KEYS_FILE, readTextFile, problems);
  const unknown = ignoredVariableWarnings(env);
  if (callback === null) problems.push(...missing());
  if (callback === null || problems.length > 0) throw new ConfigError([...problems, ...unknown]);
  const config: ReceiverConfig = {
    callback,
    port: values.LONGHAUL_CALLBACK_PORT ?? 0,
    metrics,
    traces,
    codecKeys,
    logLevel: values.LONGHAUL_LOG_LEVEL ?? 'info',
  };
  return { config: Object.freeze(config), warnings: [...unknown, ...callbackWarnings(callback)] };
}

function missing(): string[] {
  const names = ['LONGHAUL_CALLBACK_URL', 'LONGHAUL_CALLBACK_TOKEN'] as const;
  return names.map((name) => `${name} is not set; ${variables[name].remedy}.`);
}
