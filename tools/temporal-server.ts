import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { searchAttributeTypes } from '../src/contract/search-attributes';
import { findTemporal } from './find-temporal';
import type { FindOptions } from './find-temporal';
import { freePorts } from './free-port';
import { onFreshPorts, serverEnvironment, untilReady } from './start-server';
import { supervise } from './supervise';
import type { SupervisedProcess } from './supervise';
import { connectTemporal, ensureNamespace } from './temporal-namespace';

/** How to start Temporal's dev server. */
export interface TemporalServerOptions extends FindOptions {
  /** Namespace to make sure of. @default `TEMPORAL_NAMESPACE` with an existing server, else "default" */
  readonly namespace?: string;
  /** SQLite file that keeps the workflows over a restart; without one they are kept in memory. */
  readonly dataFile?: string;
  /** Port of the Web UI. @default a free one */
  readonly uiPort?: number;
  /** Port of the gRPC API. @default a free one */
  readonly port?: number;
  /**
   * Timers of milliseconds, for tests. By default the server never fires one earlier than a second after it was set, and
   * looks for due ones 20 times a second at most.
   */
  readonly shortTimers?: boolean;
  /** File that the server's output is appended to. */
  readonly logFile?: string;
}

/** A Temporal server that answers and knows Longhaul's search attributes. */
export interface TemporalServer {
  /** `host:port` of the gRPC API. */
  readonly address: string;
  readonly namespace: string;
  /** Where the Web UI is; undefined for an existing server whose Web UI is not at the usual port. */
  readonly uiUrl: string | undefined;
  /** Where its metrics are, for Prometheus; undefined for an existing server. */
  readonly metricsUrl: string | undefined;
  /** The program `temporal` that the server was started with; undefined for an existing server. */
  readonly program: string | undefined;
  /** Number of the server's process; undefined for an existing server. */
  readonly pid: number | undefined;
  /** Stops the server if this process started it. */
  stop(): Promise<void>;
}

/**
 * Makes sure of a Temporal server: the one at `TEMPORAL_ADDRESS`, which is neither started nor stopped, or a dev server
 * of its own that ends with this process. Throws a `ToolError` when it cannot be found, built or started.
 */
export async function startTemporal(options: TemporalServerOptions = {}): Promise<TemporalServer> {
  const location = await findTemporal(options);
  if ('address' in location) return useServer(location.address, options);
  const isPortGiven = options.port !== undefined || options.uiPort !== undefined;
  return onFreshPorts(() => startDevServer(location.path, options), isPortGiven ? 1 : undefined);
}

async function useServer(address: string, options: TemporalServerOptions): Promise<TemporalServer> {
  const { env = process.env } = options;
  const namespace = options.namespace ?? env['TEMPORAL_NAMESPACE'] ?? 'default';
  await prepare(address, namespace, env);
  const uiUrl = await usualUi(address);
  return {
    address,
    namespace,
    uiUrl,
    metricsUrl: undefined,
    program: undefined,
    pid: undefined,
    stop: () => Promise.resolve(),
  };
}

async function startDevServer(path: string, options: TemporalServerOptions): Promise<TemporalServer> {
  const { env = process.env, namespace = 'default', dataFile, logFile, shortTimers = false } = options;
  const [freePort = 0, freeUiPort = 0, metricsPort = 0] = await freePorts(3);
  const { port = freePort, uiPort = freeUiPort } = options;
  if (dataFile !== undefined) mkdirSync(dirname(dataFile), { recursive: true });
  const server = await supervise({
    command: path,
    args: devServerArguments({ port, uiPort, metricsPort, namespace, dataFile, shortTimers }),
    env: serverEnvironment(env),
    ...(logFile !== undefined && { logFile }),
  });
  const address = `127.0.0.1:${port}`;
  const uiUrl = `http://127.0.0.1:${uiPort}`;
  await untilReady(server, { name: 'Temporal', probe: (signal) => isUp(server, uiUrl, signal) });
  try {
    await prepare(address, namespace, env);
  } catch (error) {
    await server.stop();
    throw error;
  }
  const metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
  return { address, namespace, uiUrl, metricsUrl, program: path, pid: server.pid, stop: () => server.stop() };
}

interface DevServerSettings {
  readonly port: number;
  readonly uiPort: number;
  readonly metricsPort: number;
  readonly namespace: string;
  readonly dataFile: string | undefined;
  readonly shortTimers: boolean;
}

/** One server needs no more than one partition of a task queue; with several, priorities hold only within each. */
const onePartition = ['matching.numTaskqueueReadPartitions=1', 'matching.numTaskqueueWritePartitions=1'];
/** Off by default; without it accounts and batches wait in line behind the largest. */
const fairness = 'matching.enableFairness=true';
/** Off by default; without it more is lost of what is handed to a worker as it stops. */
const orderlyStops = 'frontend.enableCancelWorkerPollsOnShutdown=true';
const shortTimerSettings = [
  'history.timerProcessorMaxTimeShift="1ms"',
  'history.timerProcessorMaxPollRPS=1000',
  // A workflow task that fails is reported after this many attempts; 5 of them take half a minute.
  'system.numConsecutiveWorkflowTaskProblemsToTriggerSearchAttribute=2',
  // A workflow is deleted only after a queue has noted that its end was processed, which it does every half a minute.
  'history.transferProcessorUpdateAckInterval="200ms"',
  'history.visibilityProcessorUpdateAckInterval="200ms"',
];

function devServerArguments(settings: DevServerSettings): string[] {
  const { port, uiPort, metricsPort, namespace, dataFile, shortTimers } = settings;
  // Twice the throughput of the defaults, at the price of the last moments after a power cut.
  const pragmas = ['journal_mode=WAL', 'synchronous=1'].flatMap((pragma) => ['--sqlite-pragma', pragma]);
  return [
    ...['server', 'start-dev', '--ip', '127.0.0.1'],
    ...['--port', String(port), '--ui-port', String(uiPort), '--metrics-port', String(metricsPort)],
    ...(namespace === 'default' ? [] : ['--namespace', namespace]),
    ...Object.entries(searchAttributeTypes).flatMap(([name, type]) => ['--search-attribute', `${name}=${type}`]),
    ...[...onePartition, fairness, orderlyStops, ...(shortTimers ? shortTimerSettings : [])].flatMap((setting) => {
      return ['--dynamic-config-value', setting];
    }),
    ...(dataFile === undefined ? [] : ['--db-filename', dataFile, ...pragmas]),
  ];
}

/**
 * It announces itself once its own API listens: proof that what answers is not somebody else on the same port. Its Web
 * UI is up when it shows what the server has; it needs a moment longer to connect to it.
 */
async function isUp(server: SupervisedProcess, uiUrl: string, signal: AbortSignal): Promise<boolean> {
  if (!server.output().includes('Temporal Server:')) return false;
  return (await fetch(`${uiUrl}/api/v1/cluster-info`, { signal })).ok;
}

async function prepare(address: string, namespace: string, env: NodeJS.ProcessEnv): Promise<void> {
  const connection = await connectTemporal(address, env);
  try {
    await ensureNamespace(connection, namespace);
  } finally {
    await connection.close();
  }
}

/** The dev server's Web UI is by default 1000 ports above its API. */
async function usualUi(address: string): Promise<string | undefined> {
  const [host, port] = address.split(':');
  const url = `http://${host ?? ''}:${Number(port) + 1000}`;
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2000) })).ok ? url : undefined;
  } catch {
    return undefined;
  }
}
