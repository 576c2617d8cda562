import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporalServerTool, temporalSqlTool, temporalUiTool } from '../../tools/go-tool';
import { buildGoTool } from '../../tools/build-go-tool';
import { serverEnvironment, untilReady } from '../../tools/start-server';
import { supervise, type SupervisedProcess } from '../../tools/supervise';
import { connectClient } from '../support/temporal-connection';
import { compose } from '../unit/deployment/compose-file';

/** The programs of a Temporal that keeps its data in a database. */
export interface ClusterPrograms {
  readonly server: string;
  readonly sqlTool: string;
  readonly ui: string;
}

/** Finds them in the tool cache, or builds them. */
export async function findCluster(): Promise<ClusterPrograms> {
  const server = await buildGoTool(temporalServerTool);
  const sqlTool = await buildGoTool(temporalSqlTool);
  return { server, sqlTool, ui: await buildGoTool(temporalUiTool) };
}

/** Where a Temporal server listens: the API, and what its own services use among themselves. */
export interface ClusterPorts {
  readonly grpc: number;
  readonly http: number;
  readonly internal: readonly number[];
}

/** How to start Temporal's server. */
export interface ClusterOptions {
  readonly program: string;
  readonly folder: string;
  readonly ports: ClusterPorts;
  /** As its container has it, the database's address among it. */
  readonly env: NodeJS.ProcessEnv;
  readonly logFile: string;
}

/** The ports that a server takes beside those of its API, by the variables of its own configuration. */
export const internalPorts = [
  'FRONTEND_MEMBERSHIP_PORT',
  'HISTORY_GRPC_PORT',
  'HISTORY_MEMBERSHIP_PORT',
  'MATCHING_GRPC_PORT',
  'MATCHING_MEMBERSHIP_PORT',
  'WORKER_GRPC_PORT',
  'WORKER_MEMBERSHIP_PORT',
] as const;

/** Starts Temporal's server, all of its services in one process, and waits until it answers. */
export async function startTemporalServer(options: ClusterOptions): Promise<SupervisedProcess> {
  const { program, folder, ports, env, logFile } = options;
  mkdirSync(folder, { recursive: true });
  const dynamicConfig = join(folder, 'dynamic-config.yaml');
  writeFileSync(dynamicConfig, compose.configs['temporal-dynamic-config']?.content ?? '');
  const server = await supervise({
    command: program,
    args: ['start'],
    cwd: folder,
    env: {
      ...serverEnvironment(),
      ...env,
      BIND_ON_IP: '127.0.0.1',
      TEMPORAL_BROADCAST_ADDRESS: '127.0.0.1',
      FRONTEND_GRPC_PORT: String(ports.grpc),
      FRONTEND_HTTP_PORT: String(ports.http),
      ...Object.fromEntries(internalPorts.map((name, index) => [name, String(ports.internal[index])])),
      DYNAMIC_CONFIG_FILE_PATH: dynamicConfig,
    },
    graceMs: 30_000,
    logFile,
  });
  await untilReady(server, { name: 'Temporal', probe: () => answers(`127.0.0.1:${ports.grpc}`), withinMs: 120_000 });
  return server;
}

/** Its frontend listens before the services behind it do. */
async function answers(address: string): Promise<boolean> {
  const connection = await connectClient(address);
  try {
    await connection.workflowService.listNamespaces({ pageSize: 1 });
    return true;
  } finally {
    await connection.close();
  }
}

/** Starts Temporal's Web UI. */
export async function startWebUi(options: {
  readonly program: string;
  readonly folder: string;
  readonly port: number;
  /** As its container has it. */
  readonly env: Readonly<Record<string, string>>;
  readonly logFile: string;
}): Promise<SupervisedProcess> {
  const { program, folder, port, env, logFile } = options;
  const url = `http://127.0.0.1:${port}`;
  mkdirSync(join(folder, 'config'), { recursive: true });
  // What its image makes of these variables.
  const config = {
    temporalGrpcAddress: env['TEMPORAL_ADDRESS'],
    host: '127.0.0.1',
    port,
    enableUi: true,
    defaultNamespace: 'default',
    cors: { allowOrigins: [url] },
    codec: { endpoint: env['TEMPORAL_CODEC_ENDPOINT'] ?? '' },
  };
  // JSON is YAML.
  writeFileSync(join(folder, 'config', 'docker.yaml'), JSON.stringify(config));
  const server = await supervise({
    command: program,
    args: ['--root', folder, '--env', 'docker', 'start'],
    env: serverEnvironment(),
    logFile,
  });
  const isUp = async (signal: AbortSignal): Promise<boolean> => (await fetch(`${url}/healthz`, { signal })).ok;
  await untilReady(server, { name: 'The Web UI', probe: isUp });
  return server;
}
