/** Durable. `data`: nonce (12 bytes), protobuf payload by AES-256-GCM, tag (16 bytes); docs/guides/encryption.md. */
export const encryptedEncoding = 'binary/longhaul-aes-256-gcm';

export const encryptionMetadata = {
  /** Which key: its id in the file of keys. */
  keyId: 'encryption-key-id',
  /** Tells two keys of the same id apart: the first 8 bytes of an HMAC of the key, in hexadecimal digits. */
  keyCheck: 'encryption-key-check',
} as const;

/** The global of the workflow sandbox that a worker sets when it encrypts: failures of workflows are encoded, then. */
export const encodesFailures = '__LONGHAUL_ENCODES_FAILURES__';
