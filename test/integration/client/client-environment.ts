import { randomUUID } from 'node:crypto';
import type { Connection } from '@temporalio/client';
import { Client } from '@temporalio/client';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { Longhaul } from '../../../src/client/longhaul';
import { archiveTaskQueue, transferTaskQueue, watchTaskQueue } from '../../../src/contract/task-queues';
import { FakeService } from '../../support/fake-activities';
import { quietRuntime } from '../../support/quiet-runtime';
import { fastTuning } from '../../support/task-environment';
import { workflowBundle } from '../../support/product-build';
import { connectClient, temporalAddress } from '../../support/temporal-connection';

/** The smallest task that a fake service can run. */
export const smallInput = { webAppId: 7, inputs: { '2:ImageScale.width': 512 }, tuning: fastTuning };

type Bundle = NonNullable<WorkerOptions['workflowBundle']>;

/** Longhaul's client against the real Temporal with the real workflows, and a service by hand. */
export class ClientEnvironment {
  readonly address: string;
  readonly taskQueue = `test-${randomUUID()}`;
  readonly service = new FakeService();
  readonly longhaul: Longhaul;
  readonly temporal: Client;
  private readonly connection: Connection;
  private readonly native: NativeConnection;
  private readonly bundle: Bundle;
  private workers: { worker: Worker; ended: Promise<void> }[] = [];

  private constructor(address: string, parts: { connection: Connection; native: NativeConnection; bundle: Bundle }) {
    this.address = address;
    this.connection = parts.connection;
    this.native = parts.native;
    this.bundle = parts.bundle;
    this.temporal = new Client({ connection: this.connection });
    this.longhaul = new Longhaul({
      client: this.temporal,
      taskQueue: this.taskQueue,
      webUiUrl: 'http://localhost:8233',
    });
  }

  static async open(): Promise<ClientEnvironment> {
    quietRuntime();
    const address = temporalAddress();
    const connection = await connectClient(address);
    const native = await NativeConnection.connect({ address });
    return new ClientEnvironment(address, { connection, native, bundle: await workflowBundle() });
  }

  /** Lets workers run until `stopWorkers` or `close`. */
  async startWorkers(): Promise<void> {
    const { activities } = this.service;
    const workers = await Promise.all([
      Worker.create({
        connection: this.native,
        workflowBundle: this.bundle,
        taskQueue: this.taskQueue,
        activities,
        stickyQueueScheduleToStartTimeout: '200 ms',
      }),
      Worker.create({ connection: this.native, taskQueue: transferTaskQueue(this.taskQueue), activities }),
      Worker.create({ connection: this.native, taskQueue: archiveTaskQueue(this.taskQueue), activities }),
      Worker.create({
        connection: this.native,
        taskQueue: watchTaskQueue(this.taskQueue),
        activities,
        maxHeartbeatThrottleInterval: 10,
      }),
    ]);
    this.workers = workers.map((worker) => ({ worker, ended: worker.run() }));
  }

  async stopWorkers(): Promise<void> {
    const { workers } = this;
    this.workers = [];
    for (const { worker } of workers) worker.shutdown();
    await Promise.all(workers.map(({ ended }) => ended));
  }

  async close(): Promise<void> {
    await this.stopWorkers();
    await this.longhaul.close();
    await this.native.close();
    await this.connection.close();
  }
}
