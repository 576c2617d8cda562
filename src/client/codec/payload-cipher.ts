import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { type Payload, ValueError } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import type { CodecKeys } from '../../config/codec-keys';
import { ConfigError } from '../../config/environment';
import { encryptedEncoding, encryptionMetadata } from '../../contract/encryption';
import { safeText } from '../../core/text';

const { Payload: PayloadMessage } = temporal.api.common.v1;

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
const checkBytes = 8;
const maxKeyIdLength = 80;

/** A `ValueError`, as Temporal's own converters throw. */
export class PayloadBrokenError extends ValueError {
  override readonly name: string = 'PayloadBrokenError';

  constructor(keyId: string, cause?: unknown) {
    super(`A payload was encrypted with the key "${keyId}", and was changed or cut since.`, cause);
  }
}

interface PreparedKey {
  readonly key: KeyObject;
  readonly metadata: Readonly<Record<string, Uint8Array>>;
  readonly check: string;
  readonly authenticated: Buffer;
}

/** Encrypts payloads with the current key, and decrypts those of every key. */
export class PayloadCipher {
  readonly #keys = new Map<string, PreparedKey>();
  readonly #current: PreparedKey | undefined;

  /** Without keys it encrypts nothing, and names the missing key of what is encrypted. */
  constructor(keys: CodecKeys | null) {
    if (keys === null) return;
    for (const [id, secret] of keys.keys) this.#keys.set(id, prepareKey(id, Buffer.from(secret.reveal(), 'base64')));
    this.#current = this.#keys.get(keys.current);
  }

  encrypt(payload: Payload): Payload {
    if (this.#current === undefined) return payload;
    const { key, metadata, authenticated } = this.#current;
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes }).setAAD(authenticated);
    const plain = PayloadMessage.encode(payload).finish();
    const data = Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    return { metadata: { ...metadata }, data };
  }

  /** As it is if not encrypted. Throws {@link ConfigError} when its key is missing, and {@link PayloadBrokenError}. */
  decrypt(payload: Payload): Payload {
    if (textOf(payload, 'encoding') !== encryptedEncoding) return payload;
    const keyId = textOf(payload, encryptionMetadata.keyId);
    const found = this.#keys.get(keyId);
    if (found?.check !== textOf(payload, encryptionMetadata.keyCheck)) throw keyMissing(keyId, this.#keys);
    const data = payload.data ?? new Uint8Array();
    if (data.length < nonceBytes + tagBytes) throw new PayloadBrokenError(keyId);
    const tagStart = data.length - tagBytes;
    try {
      const nonce = data.subarray(0, nonceBytes);
      const decipher = createDecipheriv(algorithm, found.key, nonce, { authTagLength: tagBytes })
        .setAAD(found.authenticated)
        .setAuthTag(data.subarray(tagStart));
      const plain = Buffer.concat([decipher.update(data.subarray(nonceBytes, tagStart)), decipher.final()]);
      return PayloadMessage.decode(plain);
    } catch (cause) {
      throw new PayloadBrokenError(keyId, cause);
    }
  }
}

function prepareKey(id: string, bytes: Buffer): PreparedKey {
  const check = createHmac('sha256', bytes).update(encryptedEncoding).digest().subarray(0, checkBytes).toString('hex');
  return {
    key: createSecretKey(bytes),
    check,
    metadata: {
      encoding: Buffer.from(encryptedEncoding),
      [encryptionMetadata.keyId]: Buffer.from(id),
      [encryptionMetadata.keyCheck]: Buffer.from(check),
    },
    authenticated: Buffer.from(`${encryptedEncoding}\n${id}`),
  };
}

function textOf({ metadata }: Payload, name: string): string {
  const value = metadata?.[name];
  return value == null ? '' : Buffer.from(value).toString('utf8');
}

/** What the payload says of its key is not authenticated: any client of Temporal may have written it. */
function keyMissing(keyId: string, keys: ReadonlyMap<string, PreparedKey>): ConfigError {
  const id = safeText(keyId, [], maxKeyIdLength);
  let fault = `has no key "${id}", which a payload is encrypted with; add it.`;
  if (keys.size === 0) fault = `is not set, but a payload is encrypted with the key "${id}"; give it.`;
  if (keys.has(keyId)) {
    fault = `has another key "${id}" than a payload is encrypted with; give that one, each under an id of its own.`;
  }
  return new ConfigError([`LONGHAUL_CODEC_KEYS_FILE ${fault}`]);
}
