import { randomBytes, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CodecKeys } from '../../src/config/codec-keys';
import { Secret } from '../../src/config/secret';

export function newCodecKey(): string {
  return randomBytes(32).toString('base64');
}

/** Keys as the configuration has them; the first encrypts. */
export function codecKeys(keys: Readonly<Record<string, string>>): CodecKeys {
  const [current = ''] = Object.keys(keys);
  return { current, keys: new Map(Object.entries(keys).map(([id, key]) => [id, new Secret(key)])) };
}

/** Writes a file of keys into a folder; the first encrypts. */
export function writeCodecKeys(folder: string, keys: Readonly<Record<string, string>>): string {
  const file = join(folder, `codec-keys-${randomUUID()}.json`);
  writeFileSync(file, JSON.stringify({ current: Object.keys(keys)[0], keys }));
  return file;
}
