import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import type { ReferenceServiceSettings } from '../../reference-service/config';
import { startReferenceService, type ReferenceService } from '../../reference-service/start-reference-service';
import { Longhaul } from '../../src/client/longhaul';
import { startS3, type S3Server } from '../../tools/s3-server';
import { longhaulCommand } from '../../tools/source-command';
import { serverEnvironment } from '../../tools/start-server';
import { supervise, type SupervisedProcess } from '../../tools/supervise';
import { eventually } from './eventually';
import { FaultProxy } from './fault-proxy';
import { type CommandEnd, runLonghaul } from './run-longhaul';
import { temporaryFolder } from './temporary-folder';

/** Settings of {@link ProcessStack.open}. */
export interface ProcessStackOptions {
  readonly service?: ReferenceServiceSettings;
}

/**
 * Every real part, with the worker and the commands as processes of their own, so that they can be killed. Result
 * files come through a proxy that can hold them back, and the S3 server can be frozen.
 */
export class ProcessStack {
  readonly service: ReferenceService;
  readonly storage: S3Server;
  /** In front of the S3 server for links of result files. */
  readonly proxy: FaultProxy;
  readonly client: Client;
  readonly longhaul: Longhaul;
  /** Environment of the worker and the commands. */
  readonly env: NodeJS.ProcessEnv;
  /** The archive's folder. */
  readonly archive: string;
  /** The folder that input files may lie in. */
  readonly inputs: string;
  readonly taskQueue: string;
  /** The workers' logs, in the order of their starts. */
  readonly logFiles: string[] = [];
  private readonly folder: string;
  private readonly workers = new Set<SupervisedProcess>();
  private readonly closers: readonly (() => Promise<void> | void)[];

  private constructor(
    parts: Pick<ProcessStack, 'service' | 'storage' | 'proxy' | 'client'>,
    folder: string,
    closers: ProcessStack['closers'],
  ) {
    ({ service: this.service, storage: this.storage, proxy: this.proxy, client: this.client } = parts);
    this.folder = folder;
    this.closers = closers;
    this.archive = join(folder, 'archive');
    this.inputs = join(folder, 'inputs');
    this.taskQueue = `test-${randomUUID()}`;
    this.longhaul = new Longhaul({ client: this.client, taskQueue: this.taskQueue });
    this.env = {
      ...serverEnvironment(),
      TEMPORAL_ADDRESS: process.env['LONGHAUL_TEST_TEMPORAL_ADDRESS'],
      LONGHAUL_SERVICE_URL: this.service.url,
      LONGHAUL_API_KEY: this.service.apiKey,
      LONGHAUL_ARCHIVE: this.archive,
      LONGHAUL_INPUT_ROOTS: this.inputs,
      LONGHAUL_LOG_LEVEL: 'debug',
    };
    mkdirSync(this.inputs);
  }

  static async open(options: ProcessStackOptions = {}): Promise<ProcessStack> {
    const closers: (() => Promise<void> | void)[] = [];
    const folder = temporaryFolder();
    closers.push(folder.remove);
    const connection = await Connection.connect({ address: process.env['LONGHAUL_TEST_TEMPORAL_ADDRESS'] ?? '' });
    closers.push(() => connection.close());
    let behind: Pick<ProcessStack, 'storage' | 'proxy'> | undefined;
    const service = await startReferenceService({
      timings: { queueDelayMs: 60, preparingMs: 60, minimumRunningMs: 60 },
      ...options.service,
      startStorage: async ({ iamSocket, region }) => {
        const storage = await startS3({ iamSocket, region });
        const proxy = await FaultProxy.start(storage.port);
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
    return new ProcessStack({ service, ...behind, client: new Client({ connection }) }, folder.path, closers);
  }

  /** Starts a worker and waits until it works. It ends with the stack if not before. */
  async startWorker(env: NodeJS.ProcessEnv = this.env): Promise<SupervisedProcess> {
    const logFile = join(this.folder, `worker-${this.logFiles.length + 1}.log`);
    this.logFiles.push(logFile);
    const worker = await supervise({
      ...longhaulCommand(['worker', '--task-queue', this.taskQueue]),
      env,
      cwd: join(__dirname, '../..'),
      logFile,
    });
    this.workers.add(worker);
    await eventually(() => !worker.isRunning() || worker.output().includes('"msg":"worker started"'), {
      withinMs: 60_000,
      what: 'the worker to start',
    });
    if (!worker.isRunning()) throw new Error(`The worker did not start:\n${worker.output()}`);
    return worker;
  }

  /** Runs `longhaul` with these arguments. */
  run(...args: string[]): Promise<CommandEnd> {
    return runLonghaul(args, this.env);
  }

  /** Stops the S3 server in its tracks: it still has its connections and answers nothing, until `thawStorage`. */
  freezeStorage(): void {
    process.kill(this.storage.pid, 'SIGSTOP');
  }

  thawStorage(): void {
    process.kill(this.storage.pid, 'SIGCONT');
  }

  async close(): Promise<void> {
    await Promise.all([...this.workers].map((worker) => worker.stop()));
    this.thawStorage();
    this.proxy.release();
    for (const close of [...this.closers].reverse()) await close();
  }
}
