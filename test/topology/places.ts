import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ReferenceService } from '../../reference-service/start-reference-service';
import { lastingPorts } from '../../tools/free-port';
import { codecKeys, newCodecKey } from '../support/codec-keys';
import { composeEnvironment } from '../unit/deployment/compose-file';
import { internalPorts } from './temporal-cluster';

/** The second account; the first is called default. */
export const secondAccount = 'studio';

/** Where the archive is, in its bucket. */
export const bucket = 'longhaul-archive';
export const prefix = 'tasks';
/** Of the compose file, where each part has a network address of its own. */
const containerAddresses = {
  temporal: 'temporal:7233',
  codec: '127.0.0.1:8081',
  secrets: '/run/secrets',
  inputs: '/srv/inputs',
};

/** Where each part listens, at the loopback address. */
export interface Ports {
  readonly postgresql: number;
  readonly grpc: number;
  readonly http: number;
  readonly internal: readonly number[];
  readonly ui: number;
  readonly archive: number;
  readonly health: readonly [number, number];
  readonly receiver: number;
  readonly codec: number;
}

/** Where everything is on this machine, and the values of the `.env`. */
export class Places {
  readonly folder: string;
  readonly inputs: string;
  readonly ports: Ports;
  readonly values: Readonly<Record<string, string>>;
  readonly codecKeys: ReturnType<typeof codecKeys>;
  readonly rootKey = {
    accessKeyId: `ROOT${randomBytes(8).toString('hex').toUpperCase()}`,
    secretAccessKey: randomBytes(30).toString('base64url'),
  };
  readonly temporalAddress: string;
  readonly longhaulLogs: string[] = [];

  constructor(folder: string, service: ReferenceService, ports: Ports) {
    this.folder = folder;
    this.ports = ports;
    this.inputs = join(folder, 'inputs');
    this.temporalAddress = `127.0.0.1:${ports.grpc}`;
    mkdirSync(this.inputs);
    const key = newCodecKey();
    this.codecKeys = codecKeys({ first: key });
    const [first, second] = service.accounts;
    this.values = {
      COMPOSE_PROFILES: 'callbacks,encryption',
      POSTGRES_PASSWORD: randomBytes(16).toString('hex'),
      LONGHAUL_SERVICE_URL: service.url,
      LONGHAUL_API_KEY: first?.apiKey ?? '',
      LONGHAUL_ACCOUNTS: JSON.stringify({ [secondAccount]: { apiKey: second?.apiKey } }),
      LONGHAUL_ARCHIVE: `s3://${bucket}/${prefix}`,
      LONGHAUL_S3_PATH_STYLE: 'true',
      AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${ports.archive}`,
      AWS_REGION: 'cn-shanghai',
      AWS_ACCESS_KEY_ID: this.rootKey.accessKeyId,
      AWS_SECRET_ACCESS_KEY: this.rootKey.secretAccessKey,
      LONGHAUL_CALLBACK_URL: `http://127.0.0.1:${ports.receiver}/callback`,
      LONGHAUL_CALLBACK_TOKEN: randomBytes(24).toString('hex'),
      LONGHAUL_CODEC_KEYS: JSON.stringify({ current: 'first', keys: { first: key } }),
      LONGHAUL_LOG_LEVEL: 'debug',
    };
    this.#writeSecrets();
  }

  /** What compose gives a service's container, with the addresses of this machine. */
  environment(service: string, own: Readonly<Record<string, string>> = {}): Record<string, string> {
    const { temporal, codec, secrets, inputs } = containerAddresses;
    const here: readonly (readonly [string, string])[] = [
      [temporal, this.temporalAddress],
      [codec, `127.0.0.1:${this.ports.codec}`],
      [secrets, join(this.folder, 'secrets')],
      [inputs, this.inputs],
    ];
    const entries = Object.entries(composeEnvironment(service, this.values)).map(([name, value]) => {
      return [name, here.reduce((text, [there, place]) => text.replaceAll(there, place), value)] as const;
    });
    return { ...Object.fromEntries(entries), ...own };
  }

  log(name: string): string {
    return join(this.folder, 'logs', `${name}.log`);
  }

  /** As compose does it, by the values of `.env`. */
  #writeSecrets(): void {
    const folder = join(this.folder, 'secrets');
    mkdirSync(folder, { mode: 0o700 });
    const secrets = {
      'api-key': 'LONGHAUL_API_KEY',
      accounts: 'LONGHAUL_ACCOUNTS',
      'codec-keys': 'LONGHAUL_CODEC_KEYS',
    };
    for (const [name, variable] of Object.entries(secrets)) {
      writeFileSync(join(folder, name), this.values[variable] ?? '', { mode: 0o600 });
    }
  }
}

/** Ports that stay free while a part is away. */
export async function findPorts(): Promise<Ports> {
  const [
    postgresql = 0,
    grpc = 0,
    http = 0,
    ui = 0,
    archive = 0,
    first = 0,
    second = 0,
    receiver = 0,
    codec = 0,
    ...internal
  ] = await lastingPorts(9 + internalPorts.length);
  return { postgresql, grpc, http, ui, archive, health: [first, second], receiver, codec, internal };
}
