import * as z from 'zod';
import { fields, readJsonFile, type ReadTextFile } from './json-file';
import { Secret } from './secret';
import { variables } from './variables';

/** The keys that payloads are encrypted with, before Temporal gets them. */
export interface CodecKeys {
  /** The id of the key that encrypts. */
  readonly current: string;
  /** Every key, by its id; each decrypts. 32 bytes in base64. */
  readonly keys: ReadonlyMap<string, Secret>;
}

const keyBytes = 32;
const maxKeys = 100;
const keyWords = `${keyBytes} bytes in base64: openssl rand -base64 ${keyBytes}`;

const schema = fields({
  current: z.string('the id of a key'),
  keys: z
    .record(
      z.string().regex(/^[A-Za-z0-9._-]{1,80}$/, 'a key id of 1 to 80 letters, digits, dots, _ and -'),
      z.string(keyWords).refine((key) => isBase64(key) && Buffer.from(key, 'base64').length === keyBytes, keyWords),
      'an object with keys by their ids',
    )
    .refine((keys) => Object.keys(keys).length <= maxKeys, `at most ${maxKeys} keys`),
}).refine(({ current, keys }) => current in keys, { path: ['current'], message: 'the id of one of the keys' });

const keysFile = { schema, remedy: variables.LONGHAUL_CODEC_KEYS_FILE.remedy, isSecret: true };

/** Reads `LONGHAUL_CODEC_KEYS_FILE`; `null` when it is not set. Complaints go to `problems`; none shows a key. */
export function readCodecKeys(
  file: string | undefined,
  readTextFile: ReadTextFile,
  problems: string[],
): CodecKeys | null {
  if (file === undefined) return null;
  const content = readJsonFile({ what: 'LONGHAUL_CODEC_KEYS_FILE', file }, keysFile, readTextFile, problems);
  if (content === undefined) return null;
  const keys = new Map(Object.entries(content.keys).map(([id, key]) => [id, new Secret(key)]));
  return Object.freeze({ current: content.current, keys });
}

/** Whether a text is base64 with its padding. */
export function isBase64(text: string): boolean {
  return /^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.length % 4 === 0;
}
