import { type CallbackConfig, callbackWarnings, readCallback } from './callback-config';
import { ConfigError } from './config-error';
import { readVariables } from './read-variables';
import { unknownVariableWarnings } from './unknown-variables';
import { type LogLevel, variables, variablesReadBy } from './variables';
import type { Loaded } from './worker-config';

/** Everything the callback receiver needs to know of its environment. Frozen; its secrets print as `[redacted]`. */
export interface ReceiverConfig {
  readonly callback: CallbackConfig;
  /** Port that it listens on; 0 takes a free one. */
  readonly port: number;
  readonly logLevel: LogLevel;
}

/** Reads it; pure. Throws {@link ConfigError} with every problem at once. */
export function loadReceiverConfig(env: NodeJS.ProcessEnv): Loaded<ReceiverConfig> {
  const { values, problems: unreadable } = readVariables(env, variablesReadBy('receiver'));
  const problems = [...unreadable];
  const callback = readCallback(env, values, problems);
  const unknown = unknownVariableWarnings(env);
  if (callback === null) problems.push(...missing());
  if (callback === null || problems.length > 0) throw new ConfigError([...problems, ...unknown]);
  const config: ReceiverConfig = {
    callback,
    port: values.LONGHAUL_CALLBACK_PORT ?? 0,
    logLevel: values.LONGHAUL_LOG_LEVEL ?? 'info',
  };
  return { config: Object.freeze(config), warnings: [...unknown, ...callbackWarnings(callback)] };
}

function missing(): string[] {
  const names = ['LONGHAUL_CALLBACK_URL', 'LONGHAUL_CALLBACK_TOKEN'] as const;
  return names.map((name) => `${name} is not set; ${variables[name].remedy}.`);
}
