import { type CodecKeys, readCodecKeys, toSecrets } from './codec-keys';
import { Environment, ignoredVariableWarnings, type Loaded, type ReadTextFile } from './environment';
import type { Secret } from './secret';
import { readTraces, type TracesConfig } from './traces-config';
import { callbackTokens, isClearText, type LogLevel, type MetricsConfig } from './values';
import { variables, variablesReadBy } from './variables';

export interface CallbackConfig {
  /** Sent with every create. */
  readonly url: string;
  /** One, or two while they are rotated: the first is sent with every create, both are accepted. */
  readonly tokens: readonly Secret[];
  readonly headerPrefix: string;
}

type CallbackVariable =
  'LONGHAUL_CALLBACK_URL' | 'LONGHAUL_CALLBACK_TOKEN' | 'LONGHAUL_CALLBACK_TOKEN_FILE' | 'LONGHAUL_SERVICE_DIALECT';

/** `null` when neither URL nor token is set; one without the other is a problem. No problem shows a token. */
export function readCallback(environment: Environment<CallbackVariable>): CallbackConfig | null {
  const { values } = environment;
  const hasToken = environment.isSet('LONGHAUL_CALLBACK_TOKEN') || environment.isSet('LONGHAUL_CALLBACK_TOKEN_FILE');
  if (!environment.isSet('LONGHAUL_CALLBACK_URL') && !hasToken) return null;
  environment.require('LONGHAUL_CALLBACK_URL', ', but its counterpart is');
  if (!hasToken) environment.require('LONGHAUL_CALLBACK_TOKEN', ', but its counterpart is');
  environment.refuseBoth('LONGHAUL_CALLBACK_TOKEN', 'LONGHAUL_CALLBACK_TOKEN_FILE');
  const file = values.LONGHAUL_CALLBACK_TOKEN_FILE;
  const kind = `token; ${variables.LONGHAUL_CALLBACK_TOKEN.remedy}`;
  const tokens =
    values.LONGHAUL_CALLBACK_TOKEN ??
    (file === null ? null : environment.readSecret('LONGHAUL_CALLBACK_TOKEN_FILE', file, callbackTokens, kind));
  return Object.freeze({
    url: values.LONGHAUL_CALLBACK_URL ?? '',
    tokens: toSecrets(tokens ?? []) ?? [],
    headerPrefix: values.LONGHAUL_SERVICE_DIALECT.headerPrefix,
  });
}

export function callbackWarnings(callback: CallbackConfig | null): string[] {
  if (callback === null || !isClearText(callback.url)) return [];
  return [`The callback token comes to ${callback.url} unencrypted; use https.`];
}

/** Frozen; secrets print as `[redacted]`. */
export interface ReceiverConfig {
  readonly callback: CallbackConfig;
  /** 0 takes a free one. */
  readonly port: number;
  /** `null`: none are kept. */
  readonly metrics: MetricsConfig | null;
  /** `null`: none. */
  readonly traces: TracesConfig | null;
  /** `null`: signals are not encrypted. */
  readonly codecKeys: CodecKeys | null;
  readonly logLevel: LogLevel;
}

/** Pure but for the file of keys. Throws {@link ConfigError} with every problem at once. */
export function loadReceiverConfig(env: NodeJS.ProcessEnv, readTextFile?: ReadTextFile): Loaded<ReceiverConfig> {
  const environment = new Environment(env, variablesReadBy('receiver'), readTextFile);
  const { values } = environment;
  const callback = readCallback(environment);
  const traces = readTraces(environment);
  const codecKeys = readCodecKeys(environment);
  if (callback === null) {
    environment.require('LONGHAUL_CALLBACK_URL');
    environment.require('LONGHAUL_CALLBACK_TOKEN');
  }
  const unknown = ignoredVariableWarnings(env);
  const config = {
    callback: environment.usable(callback, unknown),
    port: values.LONGHAUL_CALLBACK_PORT,
    metrics: values.LONGHAUL_METRICS,
    traces,
    codecKeys,
    logLevel: values.LONGHAUL_LOG_LEVEL,
  };
  return { config: Object.freeze(config), warnings: [...unknown, ...callbackWarnings(callback)] };
}
