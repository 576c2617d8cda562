import { readFileSync } from 'node:fs';
import type { ReadTextFile } from './json-file';
import { type CodecKeys, readCodecKeys } from './codec-keys';
import { ConfigError, type Loaded, readText, readVariables, ignoredVariableWarnings } from './environment';
import { Secret } from './secret';
import { variables, variablesReadBy } from './variables';
import type { LogLevel } from './values';

/** Everything the codec server needs to know of its environment. Frozen; its secrets print as `[redacted]`. */
export interface CodecServerConfig {
  readonly codecKeys: CodecKeys;
  /** An IP address of this machine. */
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Any of them opens it; `null`: no caller needs one. */
  readonly tokens: readonly Secret[] | null;
  /** Of the pages that a browser may call from. */
  readonly origins: readonly string[];
  /** Whether it encrypts for its callers, too. */
  readonly mayEncode: boolean;
  readonly logLevel: LogLevel;
}

/** Reads the configuration. Pure but for the file of keys. Throws {@link ConfigError} with every problem at once. */
export function loadCodecServerConfig(
  env: NodeJS.ProcessEnv,
  readTextFile: ReadTextFile = (path) => readFileSync(path, 'utf8'),
): Loaded<CodecServerConfig> {
  const { values, problems } = readVariables(env, variablesReadBy('codec server'));
  const codecKeys = readCodecKeys(values.LONGHAUL_CODEC_KEYS_FILE, readTextFile, problems);
  if (values.LONGHAUL_CODEC_KEYS_FILE === undefined) {
    problems.push(`LONGHAUL_CODEC_KEYS_FILE is not set; ${variables.LONGHAUL_CODEC_KEYS_FILE.remedy}.`);
  }
  const { host, port } = values.LONGHAUL_CODEC_ADDRESS;
  const hasToken = readText(env, 'LONGHAUL_CODEC_TOKEN') !== undefined;
  if (!hasToken && !isLoopback(host)) {
    const { remedy } = variables.LONGHAUL_CODEC_TOKEN;
    problems.push(
      `LONGHAUL_CODEC_ADDRESS is ${JSON.stringify(`${host}:${port}`)}, which other machines reach, and LONGHAUL_CODEC_TOKEN is not set; ${remedy}.`,
    );
  }
  const unknown = ignoredVariableWarnings(env);
  if (codecKeys === null || problems.length > 0) throw new ConfigError([...problems, ...unknown]);
  const tokens = values.LONGHAUL_CODEC_TOKEN?.map((token) => new Secret(token)) ?? null;
  const config: CodecServerConfig = {
    codecKeys,
    host,
    port,
    tokens: tokens && Object.freeze(tokens),
    origins: Object.freeze(values.LONGHAUL_CODEC_ORIGINS),
    mayEncode: values.LONGHAUL_CODEC_ENCODE,
    logLevel: values.LONGHAUL_LOG_LEVEL,
  };
  const open = 'LONGHAUL_CODEC_TOKEN is not set: every program on this machine can decrypt what it has of histories.';
  return { config: Object.freeze(config), warnings: [...unknown, ...(tokens === null ? [open] : [])] };
}

/** Whether only this machine reaches what listens at the address. */
export function isLoopback(host: string): boolean {
  return host === '::1' || host.startsWith('127.');
}
