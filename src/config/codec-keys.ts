import * as z from 'zod';
import { parseJson } from '../domain/json';
import { showValue } from '../domain/text';
import { jsonFault, readNamedFile, type ReadTextFile, shownFile } from './json-file';
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
const keyId = /^[A-Za-z0-9._-]{1,80}$/;
const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

const fileSchema = z.strictObject({ current: z.string(), keys: z.record(z.string(), z.string()) });

/**
 * Reads `LONGHAUL_CODEC_KEYS_FILE`; `null` when it is not set. Complaints go to `problems`; none shows a key.
 */
export function readCodecKeys(
  file: string | undefined,
  readTextFile: ReadTextFile,
  problems: string[],
): CodecKeys | null {
  if (file === undefined) return null;
  const text = readNamedFile({ what: 'LONGHAUL_CODEC_KEYS_FILE', file }, readTextFile, problems);
  if (text === undefined) return null;
  const where = `LONGHAUL_CODEC_KEYS_FILE is ${shownFile(file)}`;
  const { remedy } = variables.LONGHAUL_CODEC_KEYS_FILE;
  const fault = jsonFault(text);
  if (fault !== undefined) {
    problems.push(`${where}, which ${fault}; ${remedy}.`);
    return null;
  }
  const parsed = fileSchema.safeParse(parseJson(text));
  if (!parsed.success) {
    problems.push(`${where}, which is not what it should be; ${remedy}.`);
    return null;
  }
  const { current } = parsed.data;
  const given = Object.entries(parsed.data.keys);
  const found = given.flatMap(([id, key]) => {
    const problem = keyProblem(id, key);
    if (problem !== undefined) problems.push(`${where}: ${problem}.`);
    return problem === undefined ? [[id, new Secret(key)] as const] : [];
  });
  if (given.length > maxKeys) problems.push(`${where}, which has ${given.length} keys; give at most ${maxKeys}.`);
  if (!given.some(([id]) => id === current)) {
    problems.push(`${where}: current is ${showValue(current)}, which is none of its keys; give the id of one.`);
  }
  return Object.freeze({ current, keys: new Map(found) });
}

function keyProblem(id: string, key: string): string | undefined {
  if (!keyId.test(id)) return `the key id ${showValue(id)} should be 1 to 80 letters, digits, dots, _ and -`;
  const bytes = base64.test(key) && key.length % 4 === 0 ? Buffer.from(key, 'base64').length : undefined;
  if (bytes === keyBytes) return undefined;
  const found = bytes === undefined ? 'is no base64' : `has ${bytes} bytes`;
  return `the key "${id}" ${found}; give ${keyBytes} bytes in base64: openssl rand -base64 ${keyBytes}`;
}
