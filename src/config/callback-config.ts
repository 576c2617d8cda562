import { readFileSync } from 'node:fs';
import { specifiedDialect } from '../core/service-dialect';
import { readNamedFile, type ReadTextFile, shownFile } from './json-file';
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
import { readTraces, type TracesConfig } from './traces-config';
import { Secret } from './secret';
import { type VariableName, variables, variablesReadBy } from './variables';
import type { LogLevel, MetricsConfig } from './values';

/** Where the service reports the end of a task, and how the receiver knows that it is the service. */
export interface CallbackConfig {
  /** As it is sent with every create. */
  readonly url: string;
  /** One, or two while they are rotated: the first is sent with every create, both are accepted. */
  readonly tokens: readonly Secret[];
  /** What the headers of the service begin with. */
  readonly headerPrefix: string;
}

/**
 * Reads it; `null` when neither URL nor token is set. One without the other is a problem.
 *
 * @param problems - gets what is wrong; no problem shows a token.
 */
export function readCallback(
  env: NodeJS.ProcessEnv,
  values: VariableValues,
  readTextFile: ReadTextFile,
  problems: string[],
): CallbackConfig | null {
  const [hasUrl, hasToken, hasFile] = [
    'LONGHAUL_CALLBACK_URL',
    'LONGHAUL_CALLBACK_TOKEN',
    'LONGHAUL_CALLBACK_TOKEN_FILE',
  ].map((name) => readText(env, name) !== undefined);
  if (!hasUrl && !hasToken && !hasFile) return null;
  const lacks = (name: VariableName): string =>
    `${name} is not set, but its counterpart is; ${variables[name].remedy}.`;
  if (!hasUrl) problems.push(lacks('LONGHAUL_CALLBACK_URL'));
  if (!hasToken && !hasFile) problems.push(lacks('LONGHAUL_CALLBACK_TOKEN'));
  if (hasToken && hasFile) {
    problems.push('LONGHAUL_CALLBACK_TOKEN and LONGHAUL_CALLBACK_TOKEN_FILE are both set; leave one of them out.');
  }
  const given =
    values.LONGHAUL_CALLBACK_TOKEN ?? tokensFrom(values.LONGHAUL_CALLBACK_TOKEN_FILE, readTextFile, problems);
  const tokens = given.map((token) => new Secret(token));
  const { headerPrefix } = values.LONGHAUL_SERVICE_DIALECT ?? specifiedDialect;
  return Object.freeze({ url: values.LONGHAUL_CALLBACK_URL ?? '', tokens: Object.freeze(tokens), headerPrefix });
}

function tokensFrom(file: string | undefined, readTextFile: ReadTextFile, problems: string[]): readonly string[] {
  if (file === undefined) return [];
  const what = 'LONGHAUL_CALLBACK_TOKEN_FILE';
  const text = readNamedFile({ what, file }, readTextFile, problems);
  if (text === undefined) return [];
  const tokens = variables.LONGHAUL_CALLBACK_TOKEN.schema.safeParse(text.trim());
  if (tokens.success && tokens.data !== undefined) return tokens.data;
  problems.push(`${what} is ${shownFile(file)}, which holds no token; ${variables.LONGHAUL_CALLBACK_TOKEN.remedy}.`);
  return [];
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
  const { values, problems } = readVariables(env, variablesReadBy('receiver'));
  const callback = readCallback(env, values, readTextFile, problems);
  const traces = readTraces(env, values, problems);
  const codecKeys = readCodecKeys(values.LONGHAUL_CODEC_KEYS_FILE, readTextFile, problems);
  const unknown = ignoredVariableWarnings(env);
  if (callback === null) {
    for (const name of ['LONGHAUL_CALLBACK_URL', 'LONGHAUL_CALLBACK_TOKEN'] as const) {
      problems.push(`${name} is not set; ${variables[name].remedy}.`);
    }
  }
  if (callback === null || problems.length > 0) throw new ConfigError([...problems, ...unknown]);
  const config: ReceiverConfig = {
    callback,
    port: values.LONGHAUL_CALLBACK_PORT,
    metrics: values.LONGHAUL_METRICS ?? null,
    traces,
    codecKeys,
    logLevel: values.LONGHAUL_LOG_LEVEL,
  };
  return { config: Object.freeze(config), warnings: [...unknown, ...callbackWarnings(callback)] };
}
