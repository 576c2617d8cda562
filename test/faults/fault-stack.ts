import { randomBytes } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { freePorts } from '../../tools/free-port';
import type { SupervisedProcess } from '../../tools/supervise';
import { FaultProxy } from '../support/fault-proxy';
import { ProcessStack } from '../support/process-stack';
import { RestartableTemporal } from '../support/restartable-temporal';
import { recordCredentials } from './leaked-secrets';

/** Queues, preparations and runs as short as they can be; callbacks that come again soon. */
const serviceSettings = {
  slots: 8,
  timings: { queueDelayMs: 60, preparingMs: 60, minimumRunningMs: 60 },
  callbacks: { retryEveryMs: 1_000, timeoutMs: 5_000 },
};

/**
 * Every real part, each of which can be broken: Temporal, worker and receiver are processes that can be killed and
 * started again; a proxy stands in front of the service, and one in front of its storage.
 */
export class FaultStack {
  readonly temporal: RestartableTemporal;
  /** The service with its storage, the archive, the clients. */
  readonly parts: ProcessStack;
  /** Between the worker and the service. */
  readonly serviceNetwork: FaultProxy;
  /** Every temporary credential that the service ever handed out. */
  readonly credentials: readonly string[];
  /** How processes ended that nobody had told to end. */
  readonly unexpectedEnds: string[] = [];
  readonly callbackToken = randomBytes(24).toString('hex');
  readonly #env: NodeJS.ProcessEnv;
  readonly #toldToEnd = new Set<SupervisedProcess>();
  #worker: SupervisedProcess | undefined;
  #receiver: SupervisedProcess | undefined;

  private constructor(
    temporal: RestartableTemporal,
    parts: ProcessStack,
    serviceNetwork: FaultProxy,
    callbackPort: number,
    env: NodeJS.ProcessEnv,
  ) {
    this.temporal = temporal;
    this.parts = parts;
    this.serviceNetwork = serviceNetwork;
    this.credentials = recordCredentials(parts.service);
    this.#env = {
      ...parts.env,
      LONGHAUL_SERVICE_URL: `http://127.0.0.1:${serviceNetwork.port}`,
      LONGHAUL_CALLBACK_URL: `http://127.0.0.1:${callbackPort}/callback`,
      LONGHAUL_CALLBACK_PORT: String(callbackPort),
      LONGHAUL_CALLBACK_TOKEN: this.callbackToken,
      ...env,
    };
  }

  /** @param env - of the workers, beside what they need. */
  static async open(env: NodeJS.ProcessEnv = {}): Promise<FaultStack> {
    const temporal = await RestartableTemporal.start();
    const parts = await ProcessStack.open({ temporalAddress: temporal.address, service: serviceSettings });
    const network = await FaultProxy.start(Number(new URL(parts.service.url).port));
    const [callbackPort = 0] = await freePorts(1);
    const stack = new FaultStack(temporal, parts, network, callbackPort, env);
    try {
      await Promise.all([stack.startWorker(), stack.startReceiver()]);
      return stack;
    } catch (error) {
      await stack.close();
      throw error;
    }
  }

  /** In front of the S3 server. */
  get storageNetwork(): FaultProxy {
    return this.parts.proxy;
  }

  /** Number of the worker's process; another one after each start. */
  get workerPid(): number {
    return this.#worker?.pid ?? 0;
  }

  async startWorker(): Promise<void> {
    this.#worker = this.#observed('worker', await this.parts.startWorker(this.#env));
  }

  async startReceiver(): Promise<void> {
    this.#receiver = this.#observed('receiver', await this.parts.startReceiver(receiverOnly(this.#env)));
  }

  async killWorkerAndStartAgain(): Promise<void> {
    await this.#end(this.#worker, 'SIGKILL');
    await this.startWorker();
  }

  /** As a deployment does it: the worker has ended by itself before the next one starts. */
  async stopWorkerAndStartAgain(): Promise<void> {
    await this.#end(this.#worker, 'SIGTERM');
    await this.startWorker();
  }

  async killTemporalAndStartAgain(): Promise<void> {
    await this.temporal.kill();
    await this.temporal.startAgain();
  }

  killReceiver(): Promise<void> {
    return this.#end(this.#receiver, 'SIGKILL');
  }

  /** Puts something else in the archive's place: nothing can be read or written there, not even by root. */
  takeArchiveAway(): void {
    renameSync(this.parts.archive, `${this.parts.archive}.away`);
    writeFileSync(this.parts.archive, 'not a folder');
  }

  bringArchiveBack(): void {
    rmSync(this.parts.archive);
    renameSync(`${this.parts.archive}.away`, this.parts.archive);
  }

  async close(): Promise<void> {
    for (const each of [this.#worker, this.#receiver]) if (each !== undefined) this.#toldToEnd.add(each);
    this.serviceNetwork.release();
    await this.parts.close();
    await this.serviceNetwork.close();
    await this.temporal.stop();
  }

  async #end(process_: SupervisedProcess | undefined, signal: NodeJS.Signals): Promise<void> {
    if (process_ === undefined) throw new Error('There is no process to end.');
    this.#toldToEnd.add(process_);
    process.kill(process_.pid, signal);
    const { code } = await process_.ended;
    if (signal === 'SIGTERM' && code !== 0) this.unexpectedEnds.push(`a worker stopped with code ${String(code)}`);
  }

  #observed(name: string, started: SupervisedProcess): SupervisedProcess {
    void started.ended.then(({ code, signal }) => {
      if (this.#toldToEnd.has(started)) return;
      this.unexpectedEnds.push(`a ${name} ended by itself: ${signal ?? `code ${String(code)}`}`);
    });
    return started;
  }
}

/** A receiver has no key of the service, and warns of variables that it does not know. */
function receiverOnly(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const notItsOwn = /^LONGHAUL_(SERVICE_URL|API_KEY|ARCHIVE|INPUT_ROOTS|PRICES_FILE)$/;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !notItsOwn.test(name)));
}
