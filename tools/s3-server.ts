import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { findS3 } from './find-s3';
import type { FindOptions } from './find-temporal';
import { freePorts } from './free-port';
import { createIamLink } from './iam-link';
import { ServerStartError, onFreshPorts, serverEnvironment, untilReady } from './start-server';
import { type ProcessEnd, supervise } from './supervise';

/** How to start the S3 server. */
export interface S3ServerOptions extends FindOptions {
  /** Unix socket of the service that knows the temporary credentials; may be served before or after this start. */
  readonly iamSocket: string;
  /** Folder of the buckets. @default a temporary one, gone with the server */
  readonly dataDir?: string;
  /** Region that requests are signed for. @default "cn-shanghai" */
  readonly region?: string;
  /** Port to listen on. @default a free one */
  readonly port?: number;
  /** The owner's key. @default a random one */
  readonly rootKey?: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** Port that clients of virtual hosts come by: that of a proxy in front of the server. @default the server's own */
  readonly publicPort?: number;
  /** File that the server's output is appended to. */
  readonly logFile?: string;
}

/** An S3 server that answers. */
export interface S3Server {
  /** URL for path-style requests, on the loopback address. */
  readonly endpoint: string;
  readonly port: number;
  /** `host:port` whose subdomains are buckets; no resolver knows it, it is on the loopback address. */
  readonly virtualDomain: string;
  readonly region: string;
  /** Random at each start unless it was given. */
  readonly rootAccessKeyId: string;
  readonly rootSecretAccessKey: string;
  readonly pid: number;
  /** Resolves when it has ended, however that came about. */
  readonly ended: Promise<ProcessEnd>;
  stop(): Promise<void>;
}

/**
 * Starts a real S3 server on a free port of the loopback address; it ends with this process. Throws a `ToolError` when
 * it cannot be built or started.
 */
export async function startS3(options: S3ServerOptions): Promise<S3Server> {
  const { path } = await findS3(options);
  return onFreshPorts(() => startWithMetadata(path, options), options.port === undefined ? undefined : 1);
}

/** Metadata is kept in extended attributes, or in a folder of its own where the file system has none. */
async function startWithMetadata(path: string, options: S3ServerOptions): Promise<S3Server> {
  try {
    return await start(path, options, false);
  } catch (error) {
    if (!(error instanceof ServerStartError && error.output.includes('xattrs are not supported'))) throw error;
    return start(path, options, true);
  }
}

async function start(path: string, options: S3ServerOptions, hasSidecar: boolean): Promise<S3Server> {
  const { region = 'cn-shanghai', logFile } = options;
  const [freePort = 0] = await freePorts(1);
  const { port = freePort, rootKey } = options;
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-s3-'));
  const iam = await createIamLink(folder, options.iamSocket);
  const endpoint = `http://127.0.0.1:${port}`;
  const virtualDomain = `oss-${region}.localhost:${options.publicPort ?? port}`;
  const rootAccessKeyId = rootKey?.accessKeyId ?? `ROOT${randomBytes(8).toString('hex').toUpperCase()}`;
  const rootSecretAccessKey = rootKey?.secretAccessKey ?? randomBytes(30).toString('base64url');
  // A path that only this server knows: an answer there is proof that it is not somebody else on the same port.
  const health = `/health-${randomBytes(8).toString('hex')}`;
  const server = await supervise({
    command: path,
    args: [
      ...['--port', `127.0.0.1:${port}`, '--region', region, '--virtual-domain', virtualDomain, '--health', health],
      ...['--keep-alive', '--quiet', '--iam-standalone-endpoint', iam.path],
      ...backendArguments(resolve(options.dataDir ?? join(folder, 'data')), hasSidecar),
    ],
    env: {
      ...serverEnvironment(options.env),
      ROOT_ACCESS_KEY_ID: rootAccessKeyId,
      ROOT_SECRET_ACCESS_KEY: rootSecretAccessKey,
    },
    temporaryFolder: folder,
    ...(logFile !== undefined && { logFile }),
  });
  const isUp = async (signal: AbortSignal): Promise<boolean> => (await fetch(`${endpoint}${health}`, { signal })).ok;
  try {
    await untilReady(server, { name: 'The S3 server', probe: isUp });
    iam.pointToService();
  } finally {
    await iam.close();
  }
  const stop = (): Promise<void> => server.stop();
  const { pid, ended } = server;
  return { endpoint, port, virtualDomain, region, rootAccessKeyId, rootSecretAccessKey, pid, ended, stop };
}

function backendArguments(dataDir: string, hasSidecar: boolean): string[] {
  mkdirSync(dataDir, { recursive: true });
  if (!hasSidecar) return ['posix', dataDir];
  // The server refuses a path that begins with the data folder's, even one beside it.
  const sidecar = join(dirname(dataDir), `metadata-of-${basename(dataDir)}`);
  mkdirSync(sidecar, { recursive: true });
  return ['posix', '--sidecar', sidecar, dataDir];
}
