import { randomBytes } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { Client, type Connection } from '@temporalio/client';
import type { ReferenceService } from '../../reference-service/start-reference-service';
import { Longhaul } from '../../src/client/longhaul';
import { clientDataConverter } from '../../src/client/codec/data-converter';
import { findTemporalProgram } from '../../tools/find-temporal';
import { startReferenceStack } from '../../tools/reference-stack';
import { startS3, type S3Server } from '../../tools/s3-server';
import { serverEnvironment, untilReady } from '../../tools/start-server';
import { supervise, type SupervisedProcess } from '../../tools/supervise';
import { recordCredentials } from '../faults/leaked-secrets';
import type { StackUnderTest } from '../faults/task-under-test';
import { composeContainer } from '../support/compose-container';
import { longhaulCommand } from '../support/product-build';
import { type CommandEnd, runLonghaul } from '../support/run-longhaul';
import { connectClient } from '../support/temporal-connection';
import { temporaryFolder } from '../support/temporary-folder';
import { composeService } from '../unit/deployment/compose-file';
import { Part, type RunningPart } from './part';
import { bucket, findPorts, Places, prefix, secondAccount } from './places';
import { startPostgresql } from './postgresql';
import { findCluster, startTemporalServer, startWebUi, type ClusterPrograms } from './temporal-cluster';

/** The parts, in the order of their start. */
export const partNames = [
  'archive',
  'postgresql',
  'temporal',
  'temporal-ui',
  'worker-1',
  'worker-2',
  'receiver',
  'codec-server',
] as const;

/** Those that end with code 0 when they are stopped. */
const longhaulParts: readonly string[] = ['worker-1', 'worker-2', 'receiver', 'codec-server'];

/** One of {@link partNames}. */
export type PartName = (typeof partNames)[number];

/**
 * What `docker-compose.yml` runs, with the profiles `callbacks` and `encryption`, two workers, two accounts and an
 * archive in a bucket, as processes of this machine: each has the environment that compose gives it, by the values of
 * an `.env`, but for the addresses. The service is the reference service.
 */
export class Topology implements StackUnderTest {
  readonly parts: StackUnderTest['parts'];
  readonly credentials: readonly string[];
  readonly callbackToken: string;
  readonly unexpectedEnds: string[] = [];
  /** Of Temporal's Web UI. */
  readonly uiUrl: string;
  readonly codecUrl: string;
  /** Environment of a command that runs where the workers do. */
  readonly commandEnv: NodeJS.ProcessEnv;
  readonly #parts: ReadonlyMap<PartName, Part>;
  readonly #close: () => Promise<void>;

  private constructor(
    places: Places,
    service: ReferenceService,
    credentials: readonly string[],
    parts: ReadonlyMap<PartName, Part>,
    client: Client,
    ends: string[],
    close: () => Promise<void>,
  ) {
    const { folder, inputs, ports, values } = places;
    this.#parts = parts;
    this.#close = close;
    this.unexpectedEnds = ends;
    this.credentials = credentials;
    this.callbackToken = values['LONGHAUL_CALLBACK_TOKEN'] ?? '';
    this.uiUrl = `http://127.0.0.1:${ports.ui}`;
    this.codecUrl = `http://127.0.0.1:${ports.codec}`;
    this.commandEnv = { ...serverEnvironment(), ...places.environment('worker') };
    this.parts = {
      service,
      storage: service.storage,
      client,
      longhaul: new Longhaul({ client }),
      inputs,
      archive: join(folder, 'buckets', bucket, prefix),
      logFiles: places.longhaulLogs,
    };
  }

  /** Starts everything, in the order of the compose file. */
  static async open(): Promise<Topology> {
    const programs = await findCluster();
    const { path: temporal } = await findTemporalProgram();
    const closers: (() => unknown)[] = [];
    const close = async (): Promise<void> => {
      for (const closer of closers.splice(0).reverse()) await closer();
    };
    try {
      const folder = temporaryFolder();
      closers.push(folder.remove);
      // PostgreSQL's user passes through it.
      chmodSync(folder.path, 0o711);
      const accounts = ['default', secondAccount].map((id) => ({
        id,
        apiKey: `key-${randomBytes(16).toString('hex')}`,
      }));
      const service = await startReferenceStack({
        accounts,
        slots: 8,
        timings: serviceTimings,
        callbacks: { retryEveryMs: 2_000 },
      });
      closers.push(() => service.stop());
      const credentials = recordCredentials(service);
      const places = new Places(folder.path, service, await findPorts());
      const ends: string[] = [];
      const parts = partsOf(places, programs, ends);
      for (const [name, part] of parts) {
        // Compose's own steps, once what they need is there.
        if (name === 'temporal') await runStep('temporal-schema', places, { 'temporal-sql-tool': programs.sqlTool });
        if (name === 'worker-1') {
          await runStep('temporal-namespace', places, { temporal });
          await runStep('longhaul-setup', places, {});
        }
        closers.push(() => part.close());
        await part.start();
      }
      const connection: Connection = await connectClient(places.temporalAddress);
      closers.push(() => connection.close());
      const client = new Client({ connection, dataConverter: clientDataConverter(places.codecKeys) });
      return new Topology(places, service, credentials, parts, client, ends, close);
    } catch (error) {
      await close();
      throw error;
    }
  }

  /** One of its processes. */
  part(name: PartName): Part {
    const part = this.#parts.get(name);
    if (part === undefined) throw new Error(`There is no part ${name}.`);
    return part;
  }

  /** Runs a command of Longhaul's. */
  run(...args: string[]): Promise<CommandEnd> {
    return runLonghaul(args, this.commandEnv);
  }

  close(): Promise<void> {
    return this.#close();
  }
}

const serviceTimings = { queueDelayMs: 300, preparingMs: 200, minimumRunningMs: 500 };

function partsOf(places: Places, programs: ClusterPrograms, ends: string[]): ReadonlyMap<PartName, Part> {
  const { ports, folder, values } = places;
  const starts: Record<PartName, () => Promise<RunningPart>> = {
    archive: () => startArchive(places),
    postgresql: () =>
      startPostgresql({
        folder: join(folder, 'postgresql'),
        port: ports.postgresql,
        user: 'temporal',
        password: values['POSTGRES_PASSWORD'] ?? '',
        logFile: places.log('postgresql'),
      }),
    temporal: () =>
      startTemporalServer({
        program: programs.server,
        folder: join(folder, 'temporal'),
        ports,
        env: places.environment('temporal', { POSTGRES_SEEDS: '127.0.0.1', DB_PORT: String(ports.postgresql) }),
        logFile: places.log('temporal'),
      }),
    'temporal-ui': () =>
      startWebUi({
        program: programs.ui,
        folder: join(folder, 'temporal-ui'),
        port: ports.ui,
        env: places.environment('temporal-ui'),
        logFile: places.log('temporal-ui'),
      }),
    'worker-1': () => startLonghaul(places, 'worker-1', { LONGHAUL_HEALTH_ADDRESS: `127.0.0.1:${ports.health[0]}` }),
    'worker-2': () => startLonghaul(places, 'worker-2', { LONGHAUL_HEALTH_ADDRESS: `127.0.0.1:${ports.health[1]}` }),
    receiver: () => startLonghaul(places, 'receiver', { LONGHAUL_CALLBACK_PORT: String(ports.receiver) }),
    'codec-server': () =>
      startLonghaul(places, 'codec-server', { LONGHAUL_CODEC_ORIGINS: `http://127.0.0.1:${ports.ui}` }),
  };
  return new Map(
    partNames.map((name) => {
      const options = { name, start: starts[name], endsWell: longhaulParts.includes(name) };
      // PostgreSQL waits for its clients to leave unless it is asked by SIGINT.
      return [name, new Part(name === 'postgresql' ? { ...options, stopSignal: 'SIGINT' } : options, ends)];
    }),
  );
}

async function startArchive(places: Places): Promise<S3Server> {
  const { folder, ports, rootKey } = places;
  const server = await startS3({
    iamSocket: join(folder, 'unused.sock'),
    dataDir: join(folder, 'buckets'),
    port: ports.archive,
    rootKey,
    logFile: places.log('archive'),
  });
  const client = new S3Client({
    endpoint: server.endpoint,
    region: server.region,
    forcePathStyle: true,
    credentials: rootKey,
  });
  try {
    await client.send(new CreateBucketCommand({ Bucket: bucket })).catch((error: unknown) => {
      if (!(error instanceof Error && error.name === 'BucketAlreadyOwnedByYou')) throw error;
    });
  } finally {
    client.destroy();
  }
  return server;
}

/** Starts one of Longhaul's own programs by what the compose file says of it, and waits until its health check passes. */
async function startLonghaul(
  places: Places,
  name: PartName,
  own: Readonly<Record<string, string>>,
): Promise<SupervisedProcess> {
  const service = composeService(name.replace(/-\d$/, ''));
  const command = service.command ?? [];
  const env = places.environment(command[0] ?? '', own);
  const logFile = places.log(name);
  if (!places.longhaulLogs.includes(logFile)) places.longhaulLogs.push(logFile);
  const started = await supervise({
    ...longhaulCommand(command),
    env: { ...serverEnvironment(), ...env },
    cwd: places.folder,
    graceMs: 90_000,
    logFile,
  });
  const [, path = ''] = /http:\/\/127\.0\.0\.1:\d+(\/\w+)/.exec(service.healthcheck?.test.at(-1) ?? '') ?? [];
  const port =
    env['LONGHAUL_HEALTH_ADDRESS']?.split(':')[1] ?? env['LONGHAUL_CALLBACK_PORT'] ?? String(places.ports.codec);
  const isHealthy = async (signal: AbortSignal): Promise<boolean> =>
    (await fetch(`http://127.0.0.1:${port}${path}`, { signal })).ok;
  await untilReady(started, { name, probe: isHealthy, withinMs: 120_000 });
  return started;
}

/** A step of the compose file that ends before others begin. */
async function runStep(name: string, places: Places, programs: Readonly<Record<string, string>>): Promise<void> {
  const container = composeContainer(programs, places.values);
  try {
    const database = { SQL_HOST: '127.0.0.1', SQL_PORT: String(places.ports.postgresql) };
    const env = places.environment(name, name === 'temporal-schema' ? database : {});
    const { exitCode, stdout, stderr } = await container.run(name, env);
    if (exitCode !== 0) throw new Error(`${name} ended with ${String(exitCode)}:\n${stdout}${stderr}`);
  } finally {
    container.remove();
  }
}
