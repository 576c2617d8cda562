import { randomUUID } from 'node:crypto';
import type { Connection } from '@temporalio/client';
import { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import type { CodecKeys } from '../../../src/config/codec-keys';
import { Longhaul } from '../../../src/client/longhaul';
import { FakeService } from '../../support/fake-activities';
import { quietRuntime } from '../../support/quiet-runtime';
import { fastTuning } from '../../support/task-environment';
import { TaskWorkers } from '../../support/task-workers';
import { connectClient, temporalAddress } from '../../support/temporal-connection';

/** The smallest task that a fake service can run. */
export const smallInput = { webAppId: 7, inputs: { '2:ImageScale.width': 512 }, tuning: fastTuning };

/** Longhaul's client against the real Temporal with the real workflows, and a service by hand. */
export class ClientEnvironment {
  readonly address: string;
  readonly taskQueue = `test-${randomUUID()}`;
  readonly service = new FakeService();
  readonly longhaul: Longhaul;
  readonly temporal: Client;
  readonly #connection: Connection;
  readonly #native: NativeConnection;
  #workers: TaskWorkers | undefined;

  private constructor(address: string, connection: Connection, native: NativeConnection) {
    this.address = address;
    this.#connection = connection;
    this.#native = native;
    this.temporal = new Client({ connection });
    this.longhaul = new Longhaul({
      client: this.temporal,
      taskQueue: this.taskQueue,
      webUiUrl: 'http://localhost:8233',
    });
  }

  static async open(): Promise<ClientEnvironment> {
    quietRuntime();
    const address = temporalAddress();
    return new ClientEnvironment(address, await connectClient(address), await NativeConnection.connect({ address }));
  }

  /** Lets workers run until `stopWorkers` or `close`. */
  async startWorkers(codecKeys: CodecKeys | null = null): Promise<void> {
    const choices = { stickyQueueScheduleToStartTimeout: '200 ms', codecKeys } as const;
    this.#workers = await TaskWorkers.start(this.#native, this.taskQueue, this.service.activities, choices);
  }

  async stopWorkers(): Promise<void> {
    await this.#workers?.stop();
    this.#workers = undefined;
  }

  async close(): Promise<void> {
    await this.stopWorkers();
    await this.longhaul.close();
    await this.#native.close();
    await this.#connection.close();
  }
}
