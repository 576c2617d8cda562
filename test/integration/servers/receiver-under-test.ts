import { randomBytes } from 'node:crypto';
import type { Connection } from '@temporalio/client';
import { request } from 'undici';
import { loadReceiverConfig } from '../../../src/config/callback-config';
import { type RunningReceiver, startReceiver } from '../../../src/receiver';
import { createName } from '../../../src/contract/workflow-ids';
import { createLogger } from '../../../src/worker/logger';
import { connectClient, temporalAddress } from '../../support/temporal-connection';

const path = '/callback';

/** A real receiver on the shared Temporal, or on one elsewhere; stopped and started again on the same port. */
export class ReceiverUnderTest {
  readonly token = randomBytes(24).toString('hex');
  /** The receiver's log, line by line, over all its starts. */
  readonly log: string[] = [];
  readonly #connection: Connection;
  readonly #env: NodeJS.ProcessEnv;
  #running: RunningReceiver | undefined;
  #port = 0;

  private constructor(connection: Connection, env: NodeJS.ProcessEnv) {
    this.#connection = connection;
    this.#env = env;
  }

  /** @param env - over its environment. */
  static async open(address = temporalAddress(), env: NodeJS.ProcessEnv = {}): Promise<ReceiverUnderTest> {
    const receiver = new ReceiverUnderTest(await connectClient(address), env);
    await receiver.start();
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}${path}`;
  }

  /** What a worker needs so that the service calls back here. */
  get workerEnv(): NodeJS.ProcessEnv {
    return { LONGHAUL_CALLBACK_URL: this.url, LONGHAUL_CALLBACK_TOKEN: this.token };
  }

  async start(): Promise<void> {
    const own = { ...this.workerEnv, LONGHAUL_CALLBACK_PORT: String(this.#port) };
    const { config } = loadReceiverConfig({ ...own, ...this.#env });
    this.#running = await startReceiver({
      config,
      connection: this.#connection,
      namespace: 'default',
      logger: createLogger({ level: 'debug', destination: { write: (line) => void this.log.push(line) } }),
    });
    this.#port = this.#running.port;
  }

  async stop(): Promise<void> {
    this.#running?.shutdown();
    await this.#running?.stopped;
    this.#running = undefined;
  }

  async close(): Promise<void> {
    await this.stop();
    await this.#connection.close();
  }

  /** Calls back as the service does; returns the answer's status. */
  async callBack(
    workflowId: string,
    requestId: string,
    { status = 'Success', createNumber = 1 } = {},
  ): Promise<number> {
    const answer = await request(this.url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.token}`,
        'x-svc-task-correlation': createName(workflowId, createNumber),
      },
      body: JSON.stringify({ type: 'API', status, request_id: requestId, outputs: [] }),
    });
    await answer.body.dump();
    return answer.statusCode;
  }
}
