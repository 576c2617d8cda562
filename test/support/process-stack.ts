import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import type { ReferenceServiceSettings } from '../../reference-service/config';
import { startReferenceService, type ReferenceService } from '../../reference-service/start-reference-service';
import { Longhaul } from '../../src/client/longhaul';
import { startS3, type S3Server } from '../../tools/s3-server';
import { longhaulCommand } from './product-build';
import { serverEnvironment } from '../../tools/start-server';
import { supervise, type SupervisedProcess } from '../../tools/supervise';
import { eventually } from './eventually';
import { FaultProxy } from './fault-proxy';
import { type CommandEnd, runLonghaul } from './run-longhaul';
import type { Closer } from './task-stack';
import { temporaryFolder } from './temporary-folder';
import { connectClient, temporalAddress } from './temporal-connection';

export interface ProcessStackOptions {
  readonly service?: ReferenceServiceSettings;
  /** `host:port` of the Temporal to use. @default the one that all suites share */
  readonly temporalAddress?: string;
}

/**
 * Every real part, with the worker and the commands as processes of their own, so that they can be killed. Result
 * files come through a proxy that can hold them back or break them.
 */
export class ProcessStack {
  readonly service: ReferenceService;
  readonly storage: S3Server;
  /** In front of the S3 server, for uploads and for links of result files. */
  readonly proxy: FaultProxy;
  readonly client: Client;
  readonly longhaul: Longhaul;
  /** Environment of the worker and the commands. */
  readonly env: NodeJS.ProcessEnv;
  readonly archive: string;
  /** The folder that input files may lie in. */
  readonly inputs: string;
  readonly taskQueue: string;
  /** The logs of workers and receivers, in the order of their starts. */
  readonly logFiles: string[] = [];
  readonly #folder: string;
  readonly #processes = new Set<SupervisedProcess>();
  readonly #closers: readonly Closer[];

  private constructor(
    parts: Pick<ProcessStack, 'service' | 'storage' | 'proxy' | 'client'>,
    temporalAddress: string,
    folder: string,
    closers: readonly Closer[],
  ) {
    ({ service: this.service, storage: this.storage, proxy: this.proxy, client: this.client } = parts);
    this.#folder = folder;
    this.#closers = closers;
    this.archive = join(folder, 'archive');
    this.inputs = join(folder, 'inputs');
    this.taskQueue = `test-${randomUUID()}`;
    this.longhaul = new Longhaul({ client: this.client, taskQueue: this.taskQueue });
    this.env = {
      ...serverEnvironment(),
      TEMPORAL_ADDRESS: temporalAddress,
      LONGHAUL_SERVICE_URL: this.service.url,
      LONGHAUL_API_KEY: this.service.apiKey,
      LONGHAUL_ACCOUNT_PATIENCE: '0 s',
      LONGHAUL_ARCHIVE: this.archive,
      LONGHAUL_INPUT_ROOTS: this.inputs,
      LONGHAUL_LOG_LEVEL: 'debug',
    };
    mkdirSync(this.inputs);
  }

  static async open(options: ProcessStackOptions = {}): Promise<ProcessStack> {
    const closers: Closer[] = [];
    const folder = temporaryFolder();
    closers.push(folder.remove);
    const address = options.temporalAddress ?? temporalAddress();
    const connection = await connectClient(address);
    closers.push(() => connection.close());
    let behind: Pick<ProcessStack, 'storage' | 'proxy'> | undefined;
    const service = await startReferenceService({
      timings: { queueDelayMs: 60, preparingMs: 60, minimumRunningMs: 60 },
      ...options.service,
      startStorage: async ({ iamSocket, region }) => {
        const proxy = await FaultProxy.start(() => behind?.storage.port ?? 0);
        const storage = await startS3({ iamSocket, region, publicPort: proxy.port });
        behind = { storage, proxy };
        const stop = async (): Promise<void> => {
          await proxy.close();
          await storage.stop();
        };
        return { ...storage, endpoint: `http://127.0.0.1:${proxy.port}`, stop };
      },
    });
    closers.push(() => service.stop());
    if (behind === undefined) throw new Error('The service was started without its storage.');
    const parts = { service, ...behind, client: new Client({ connection }) };
    return new ProcessStack(parts, address, folder.path, closers);
  }

  /** Starts a worker and waits until it works. It ends with the stack if not before. */
  startWorker(
    env: NodeJS.ProcessEnv = this.env,
    taskQueue = this.taskQueue,
    toCommand = longhaulCommand,
  ): Promise<SupervisedProcess> {
    return this.#startProcess('worker', ['--task-queue', taskQueue], env, toCommand);
  }

  /** Starts a callback receiver and waits until it listens. It ends with the stack if not before. */
  startReceiver(env: NodeJS.ProcessEnv): Promise<SupervisedProcess> {
    return this.#startProcess('receiver', [], env);
  }

  /** Starts a codec server and waits until it listens. It ends with the stack if not before. */
  startCodecServer(env: NodeJS.ProcessEnv): Promise<SupervisedProcess> {
    return this.#startProcess('codec-server', [], env);
  }

  async #startProcess(
    command: 'worker' | 'receiver' | 'codec-server',
    args: readonly string[],
    env: NodeJS.ProcessEnv,
    toCommand = longhaulCommand,
  ): Promise<SupervisedProcess> {
    const logFile = join(this.#folder, `${command}-${this.logFiles.length + 1}.log`);
    this.logFiles.push(logFile);
    const started = await supervise({ ...toCommand([command, ...args]), env, cwd: join(__dirname, '../..'), logFile });
    this.#processes.add(started);
    const message = `"msg":"${command.replace('-', ' ')} started"`;
    await eventually(() => !started.isRunning() || started.output().includes(message), {
      withinMs: 60_000,
      what: `the ${command} to start`,
    });
    if (!started.isRunning()) throw new Error(`The ${command} did not start:\n${started.output()}`);
    return started;
  }

  run(...args: string[]): Promise<CommandEnd> {
    return runLonghaul(args, this.env);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#processes].map((each) => each.stop()));
    this.proxy.release();
    for (const close of [...this.#closers].reverse()) await close();
  }
}
