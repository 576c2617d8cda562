/**
 * The form of an encrypted payload (docs/guides/encryption.md): it stands in histories. `data` is a nonce of 12 bytes,
 * then the payload that was encrypted, as the bytes of its protobuf message, by AES-256-GCM, then the tag of 16 bytes.
 */
export const encryptedEncoding = 'binary/longhaul-aes-256-gcm';

/** Names in the metadata of an encrypted payload. */
export const encryptionMetadata = {
  /** Which key: its id in the file of keys. */
  keyId: 'encryption-key-id',
  /** Tells two keys of the same id apart: the first 8 bytes of an HMAC of the key, in hexadecimal digits. */
  keyCheck: 'encryption-key-check',
} as const;

/** The global of the workflow sandbox that a worker sets when it encrypts: failures of workflows are encoded, then. */
export const encodesFailures = '__LONGHAUL_ENCODES_FAILURES__';
