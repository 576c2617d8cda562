import path from 'node:path';
import type { DataConverter, Payload, PayloadCodec, SerializationContext } from '@temporalio/common';
import { loadClientConfig } from '../../config/client-config';
import type { CodecKeys } from '../../config/codec-keys';
import { PayloadBrokenError, PayloadCipher } from './payload-cipher';

// The data converter of every client and worker; the workflow sandbox has its own part in its bundle.

/** For `new Client`. Without keys nothing is encrypted, and an encrypted payload is an error that names its key. */
export function clientDataConverter(keys: CodecKeys | null): DataConverter {
  return { payloadCodecs: [new EncryptionCodec(keys)] };
}

/** For `Worker.create({ …, dataConverter })`; the bundle is to come from `toWorkerBundle`. */
export function workerDataConverter(keys: CodecKeys | null): DataConverter {
  return {
    payloadCodecs: [new WorkerEncryptionCodec(keys)],
    failureConverterPath: keys === null ? undefined : require.resolve(path.join(__dirname, 'failure-converter')),
  };
}

/** By `LONGHAUL_CODEC_KEYS_FILE`, for a backend that makes its own Temporal client. Throws `ConfigError`. */
export function loadLonghaulDataConverter(env?: NodeJS.ProcessEnv): DataConverter {
  return clientDataConverter(loadClientConfig(env).config.codecKeys);
}

class EncryptionCodec implements PayloadCodec {
  protected readonly cipher: PayloadCipher;

  constructor(keys: CodecKeys | null) {
    this.cipher = new PayloadCipher(keys);
  }

  encode(payloads: Payload[]): Promise<Payload[]> {
    return Promise.resolve(payloads).then((all) => all.map((payload) => this.cipher.encrypt(payload)));
  }

  decode(payloads: Payload[]): Promise<Payload[]> {
    return Promise.resolve(payloads).then((all) => all.map((payload) => this.cipher.decrypt(payload)));
  }
}

/** In a worker, a changed or cut message becomes an `Undecodable`: it must not stop a task for good. */
class WorkerEncryptionCodec extends EncryptionCodec {
  override decode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    if (context?.type === 'activity') return super.decode(payloads);
    const decrypt = (payload: Payload): Payload => {
      try {
        return this.cipher.decrypt(payload);
      } catch (error) {
        if (error instanceof PayloadBrokenError) return payload;
        throw error;
      }
    };
    return Promise.resolve(payloads).then((all) => all.map(decrypt));
  }
}
