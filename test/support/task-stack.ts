import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import type { ReferenceService } from '../../reference-service/start-reference-service';
import { loadWorkerConfig } from '../../src/config/worker-config';
import type { TaskInput } from '../../src/contract/task-input';
import { createLogger } from '../../src/worker/logger';
import { type RunningWorker, startWorker } from '../../src/worker';
import type { ReferenceStackOptions } from '../../tools/reference-stack';
import { workflowBundle } from './product-build';
import { quietRuntime } from './quiet-runtime';
import { startService } from './start-reference-service';
import { fastTuning, type RunningTask, testWorkflowId } from './task-environment';
import { temporaryFolder } from './temporary-folder';
import { connectClient, temporalAddress } from './temporal-connection';

export const photoFolder = join(__dirname, '../../examples/photos');

export type Closer = () => Promise<void> | void;

export interface TaskStackOptions {
  readonly service?: ReferenceStackOptions;
  /** Over the worker's environment. */
  readonly env?: NodeJS.ProcessEnv;
}

/** Every real part in one process: Temporal, the reference service with its S3 server, a worker, an archive folder. */
export class TaskStack {
  readonly service: ReferenceService;
  readonly client: Client;
  /** The archive's folder, unless the worker's environment names a bucket. */
  readonly archive: string;
  readonly log: string[];
  readonly taskQueue: string;
  readonly #closers: Closer[];

  private constructor(
    parts: Pick<TaskStack, 'service' | 'client' | 'archive' | 'log' | 'taskQueue'>,
    closers: Closer[],
  ) {
    ({
      service: this.service,
      client: this.client,
      archive: this.archive,
      log: this.log,
      taskQueue: this.taskQueue,
    } = parts);
    this.#closers = closers;
  }

  static async open(options: TaskStackOptions = {}): Promise<TaskStack> {
    quietRuntime();
    const closers: Closer[] = [];
    const service = await startService(options.service);
    closers.push(() => service.stop());
    const folder = temporaryFolder();
    closers.push(folder.remove);
    const address = temporalAddress();
    const connection = await connectClient(address);
    closers.push(() => connection.close());
    const native = await NativeConnection.connect({ address });
    closers.push(() => native.close());
    const log: string[] = [];
    const archive = join(folder.path, 'archive');
    const { config } = loadWorkerConfig({
      LONGHAUL_SERVICE_URL: service.url,
      LONGHAUL_API_KEY: service.apiKey,
      LONGHAUL_ACCOUNT_PATIENCE: '0 s',
      LONGHAUL_ARCHIVE: archive,
      LONGHAUL_INPUT_ROOTS: photoFolder,
      ...options.env,
    });
    const logger = createLogger({ level: 'trace', destination: { write: (line) => void log.push(line) } });
    const taskQueue = `test-${randomUUID()}`;
    const worker: RunningWorker = await startWorker({
      // A suite has one uncertain create after the other.
      config: { ...config, uncertainPausesMs: [1_000] },
      connection: native,
      namespace: 'default',
      taskQueue,
      logger,
      workflowBundle: await workflowBundle(),
    });
    closers.push(() => {
      worker.shutdown();
      return worker.stopped;
    });
    const parts = { service, client: new Client({ connection }), archive, log, taskQueue };
    return new TaskStack(parts, closers);
  }

  /** Starts a task on this stack's worker; should its test fail, it does not stay open for long. */
  async start(input: TaskInput, executionTimeout: `${number} seconds` = '90 seconds'): Promise<RunningTask> {
    return await this.client.workflow.start('task', {
      taskQueue: this.taskQueue,
      workflowId: testWorkflowId(input),
      workflowExecutionTimeout: executionTimeout,
      args: [{ tuning: fastTuning, ...input }],
    });
  }

  get lines(): Record<string, unknown>[] {
    return this.log.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** What the worker's health endpoint answers; `LONGHAUL_HEALTH_ADDRESS` is to be set. */
  async health(): Promise<Response> {
    return await fetch(String(this.lines.find(({ msg }) => msg === 'worker started')?.['health']));
  }

  async close(): Promise<void> {
    for (const close of this.#closers.reverse()) await close();
  }
}
