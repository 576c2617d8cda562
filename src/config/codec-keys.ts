import * as v from 'valibot';
import { Environment, ignoredVariableWarnings, type Loaded, type ReadTextFile } from './environment';
import { byName, fields, parsed } from './json-file';
import { Secret } from './secret';
import { isLoopback, type LogLevel } from './values';
import { variables, variablesReadBy } from './variables';

export interface CodecKeys {
  /** The id of the key that encrypts. */
  readonly current: string;
  /** By id; each decrypts. 32 bytes in base64. */
  readonly keys: ReadonlyMap<string, Secret>;
}

const keyBytes = 32;
const maxKeys = 100;
const keyWords = `${keyBytes} bytes in base64: openssl rand -base64 ${keyBytes}`;
const key = parsed((text) => (decodedLength(text) === keyBytes ? new Secret(text) : undefined), keyWords);

const schema = v.pipe(
  fields({
    current: v.string('the id of a key'),
    keys: v.pipe(byName(key, 'an object with keys by their ids'), v.maxEntries(maxKeys, `at most ${maxKeys} keys`)),
  }),
  v.forward(
    v.check(({ current, keys }) => Object.hasOwn(keys, current), 'the id of one of the keys'),
    ['current'],
  ),
);

/** `null` when the file is not set or cannot be used. No problem shows a key. */
export function readCodecKeys(environment: Environment<'LONGHAUL_CODEC_KEYS_FILE'>): CodecKeys | null {
  const content = environment.readJson('LONGHAUL_CODEC_KEYS_FILE', { schema, isSecret: true });
  return content && Object.freeze({ current: content.current, keys: new Map(Object.entries(content.keys)) });
}

/** How many bytes a base64 text, with its padding, stands for; undefined for any other text. */
export function decodedLength(text: string): number | undefined {
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.length % 4 === 0;
  return isBase64 ? Buffer.from(text, 'base64').length : undefined;
}

/** Frozen; secrets print as `[redacted]`. */
export interface CodecServerConfig {
  readonly codecKeys: CodecKeys;
  /** An IP address of this machine. */
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Any of them is accepted; `null`: none is needed. */
  readonly tokens: readonly Secret[] | null;
  /** Of pages that a browser may call from. */
  readonly origins: readonly string[];
  /** Whether it encrypts for callers, too. */
  readonly mayEncode: boolean;
  readonly logLevel: LogLevel;
}

/** Pure but for the file of keys. Throws {@link ConfigError} with every problem at once. */
export function loadCodecServerConfig(env: NodeJS.ProcessEnv, readTextFile?: ReadTextFile): Loaded<CodecServerConfig> {
  const environment = new Environment(env, variablesReadBy('codec server'), readTextFile);
  const { values, problems } = environment;
  const codecKeys = readCodecKeys(environment);
  environment.require('LONGHAUL_CODEC_KEYS_FILE');
  const { host, port } = values.LONGHAUL_CODEC_ADDRESS;
  if (!environment.isSet('LONGHAUL_CODEC_TOKEN') && !isLoopback(host)) {
    const address = JSON.stringify(`${host}:${port}`);
    const { remedy } = variables.LONGHAUL_CODEC_TOKEN;
    problems.push(
      `LONGHAUL_CODEC_ADDRESS is ${address}, which other machines reach, and LONGHAUL_CODEC_TOKEN is not set; ${remedy}.`,
    );
  }
  const warnings = ignoredVariableWarnings(env);
  const config = {
    codecKeys: environment.usable(codecKeys, warnings),
    host,
    port,
    tokens: toSecrets(values.LONGHAUL_CODEC_TOKEN),
    origins: Object.freeze(values.LONGHAUL_CODEC_ORIGINS),
    mayEncode: values.LONGHAUL_CODEC_ENCODE,
    logLevel: values.LONGHAUL_LOG_LEVEL,
  };
  if (config.tokens === null) {
    warnings.push(
      'LONGHAUL_CODEC_TOKEN is not set: every program on this machine can decrypt what it has of histories.',
    );
  }
  return { config: Object.freeze(config), warnings };
}

/** Frozen. */
export function toSecrets(texts: readonly string[] | null): readonly Secret[] | null {
  return texts && Object.freeze(texts.map((text) => new Secret(text)));
}
