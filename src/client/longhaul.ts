import { setMaxListeners } from 'node:events';
import { Client, Connection } from '@temporalio/client';
import { clientDataConverter } from './codec/data-converter';
import { loadClientTraces } from './client-traces';
import { loadClientConfig } from '../config/client-config';
import { loadTemporalConnection, temporalAddress } from '../config/temporal-connection';
import { baseUrl } from '../config/values';
import { workflowTaskQueue } from '../contract/task-queues';
import {
  checkedTaskId,
  type AdoptTaskOptions,
  checkedStart,
  ownCopy,
  type StartTaskInput,
  type StartTaskOptions,
  type TraceOptions,
} from './start-check';
import { adoptTask, startTask } from './task/start-task';
import type { BatchInput } from '../contract/batch/batch-input';
import { batchIdRemedy, isBatchId } from '../contract/batch/batch-input';
import { isTaskKey } from '../contract/workflow-ids';
import { type DayView, endOfDayMs, utcDay } from '../money/day-operations';
import { isRecord } from '../core/json';
import { showValue } from '../core/text';
import { TemporalAccountDays } from './account-days';
import { BatchHandle } from './batch/batch-handle';
import { connectTemporal } from './connect-temporal';
import { checkOptions, InputInvalidError } from './errors';
import type { ConnectionSources } from './connection-errors';
import {
  countTasks,
  type ListedTask,
  type ListPageOptions,
  listTaskPage,
  listTasks,
  type ListTasksOptions,
  type TaskPage,
} from './task/list-tasks';
import { listBatches, type ListBatchesOptions, type ListedBatch } from './batch/list-batches';
import { checkBatchStart, startBatch } from './batch/start-batch';
import { Sweeps } from './sweeps';
import { TaskHandle } from './task/task-handle';
import { type ContentTaskInput, type InputStaging, type OutputArchive, stageContents } from './task/task-files';
import { objectWith, optionProblems, type OptionRules, plainText } from '../core/option-rules';
import type { TemporalAccess } from './temporal-access';

/** Options of every client. */
export interface LonghaulOptions {
  /** Task queue of the workers that run the tasks. @default `longhaul` */
  readonly taskQueue?: string;
  /** Base URL of Temporal's Web UI, for links. @default none */
  readonly webUiUrl?: string | null;
  /** Where inputs that are contents are put for the workers. @default none: inputs are files that workers can read */
  readonly staging?: InputStaging;
  /** Where `outputs` of a task are read. @default none */
  readonly archive?: OutputArchive;
}

/** The caller closes it. Encrypted payloads need `loadLonghaulDataConverter`, traces `loadLonghaulInterceptors`. */
export interface LonghaulClientOptions extends LonghaulOptions {
  readonly client: Client;
}

/** Options of {@link Longhaul.connect}. */
export interface LonghaulConnectOptions extends LonghaulOptions {
  /** Where Temporal's address, namespace and credentials are read. @default the environment of this process */
  readonly env?: NodeJS.ProcessEnv;
  /** Instead of what `env` says. */
  readonly address?: string;
  /** Instead of what `env` says. */
  readonly namespace?: string;
}

const longhaulRules: OptionRules<LonghaulOptions> = {
  taskQueue: plainText,
  webUiUrl: {
    is: (value) => value === null || (typeof value === 'string' && baseUrl(value) !== undefined),
    remedy: 'the base URL of Temporal’s Web UI, such as "http://localhost:8233", or null',
  },
  staging: objectWith('keep', 'openStaging({ place }) of @longhaul/client/files (longhaul/files)'),
  archive: objectWith('outputs', 'openArchive({ place }) of @longhaul/client/files (longhaul/files)'),
};
const clientRules: OptionRules<LonghaulClientOptions> = {
  client: { is: (value) => isRecord(value) && isRecord(value['workflow']), remedy: 'a Client of @temporalio/client' },
  ...longhaulRules,
};
const connectRules: OptionRules<LonghaulConnectOptions> = {
  env: { is: isRecord, remedy: 'an object of environment variables' },
  address: {
    is: (value) => typeof value === 'string' && temporalAddress(value) !== undefined,
    remedy: 'host:port without a scheme, such as "localhost:7233"',
  },
  namespace: plainText,
  ...longhaulRules,
};

const givenClient: ConnectionSources = {
  address: 'the address of the given client',
  namespace: 'the namespace of the given client',
  credentials: 'the credentials',
};

/**
 * Starts tasks and follows them. Needs Temporal only: no access to the service or the storage.
 * ```ts
 * const longhaul = await Longhaul.connect();
 * const inputs = { '1:LoadImage.image': { file: '/photos/17.jpg' } };
 * const task = await longhaul.start({ key: 'order-17', webAppId: 4711, inputs });
 * const { outputs } = await task.result();
 * await longhaul.close();
 * ```
 */
export class Longhaul {
  readonly #access: TemporalAccess;
  readonly #ownConnection: Connection | undefined;
  readonly #closing = new AbortController();

  /** @internal */
  constructor(
    options: LonghaulClientOptions,
    ownConnection?: Connection,
    sources: ConnectionSources = ownConnection === undefined ? givenClient : {},
  ) {
    const problems = [...optionProblems(options, clientRules)];
    // `optionProblems` accepts what is left out.
    const { client: given }: Partial<LonghaulClientOptions> = isRecord(options) ? options : {};
    if (given === undefined) problems.push(`client is missing; give ${clientRules.client.remedy}.`);
    if (problems.length > 0) throw new InputInvalidError(problems, 'arguments');
    const { client, taskQueue = workflowTaskQueue, webUiUrl = null, staging, archive } = options;
    const { connection } = client;
    const address = connection instanceof Connection ? connection.options.address : 'the given connection';
    // Every wait has a listener there.
    setMaxListeners(0, this.#closing.signal);
    const closing = ownConnection === undefined ? undefined : this.#closing.signal;
    const links = webUiUrl === null ? null : (baseUrl(webUiUrl) ?? null);
    this.#access = { client, address, sources, taskQueue, webUiUrl: links, staging, archive, closing };
    this.#ownConnection = ownConnection;
  }

  /**
   * Connects as Temporal's own tools do (`TEMPORAL_*`, `temporal.toml`), encrypts payloads by
   * `LONGHAUL_CODEC_KEYS_FILE`, and continues OpenTelemetry's active trace where `LONGHAUL_TRACES_OTLP_URL` is set.
   * Throws `ConfigError`, `TemporalUnreachableError` or `TemporalRefusedError`.
   */
  static async connect(options: LonghaulConnectOptions = {}): Promise<Longhaul> {
    checkOptions(options, connectRules);
    const configured = loadTemporalConnection(options.env);
    const given = options.address === undefined ? undefined : temporalAddress(options.address);
    const address = given ?? configured.address;
    const namespace = options.namespace ?? configured.namespace;
    const { config } = loadClientConfig(options.env);
    const webUiUrl = options.webUiUrl ?? config.webUiUrl;
    const connectionOptions = { ...configured.connectionOptions, address };
    const sources: ConnectionSources = {
      address: given && 'the address that connect was given',
      namespace: options.namespace && 'the namespace that connect was given',
    };
    const connection = await connectTemporal({ address, namespace, connectionOptions }, sources);
    const interceptors = { workflow: await loadClientTraces(config.traces !== null) };
    const dataConverter = clientDataConverter(config.codecKeys);
    const client = new Client({ connection, namespace, dataConverter, interceptors });
    const { taskQueue, staging, archive } = options;
    return new Longhaul({ client, webUiUrl, taskQueue, staging, archive }, connection, sources);
  }

  /**
   * Starts a task, or attaches to the one of this `key`, which never makes a second task: a start may be repeated.
   * A key stands for what is paid for: `account`, `webAppId`, `inputs` and `suppressPreviewOutput`. `InputChangedError` is
   * thrown when one of them differs; other options that the existing task lacks are in the handle's `withoutEffect`.
   * Files may be contents where the client has a `staging`; the same bytes and name are the same input. Leave contents
   * alone until `start` has returned. Throws `InputInvalidError` before anything is sent.
   */
  async start(input: ContentTaskInput, options?: StartTaskOptions): Promise<TaskHandle> {
    const { staging = null } = this.#access;
    const own = ownCopy(options);
    const check = (given: StartTaskInput): void => {
      checkedStart(given, own);
    };
    const staged = await stageContents(ownCopy(input), staging, check, own?.signal);
    const started = await startTask(this.#access, staged, own);
    return new TaskHandle(this.#access, started.workflowId, started);
  }

  /**
   * Follows a task that was created elsewhere, and archives its outputs; nothing is created or paid. Attaches to a
   * workflow that follows it already; if that is over, fetches missing files again. Its result throws `TaskFailedError`
   * with `TaskNotFound` for an unknown request id, `ResultLost` for deleted results. Throws `InputInvalidError` before
   * anything is sent, and `InputChangedError` when `key` stands for something else.
   */
  async adopt(requestId: string, options?: AdoptTaskOptions): Promise<TaskHandle> {
    const started = await adoptTask(this.#access, requestId, ownCopy(options));
    return new TaskHandle(this.#access, started.workflowId, started);
  }

  /** By key or workflow id; the first request checks whether it exists. Throws `InputInvalidError`. */
  task(idOrKey: string): TaskHandle {
    return new TaskHandle(this.#access, checkedTaskId(idOrKey));
  }

  /**
   * Runs the rows of a file, each as a task of its own; `prepareRows` makes `rows`. A batch of this id that runs with
   * these rows is attached to (`started.withoutEffect` has the options that it does not take any more); one that is
   * over is run again, where rows that ended are left, unless `retryFailed` says otherwise. Throws `InputInvalidError`
   * before anything is sent, and `InputChangedError` when a batch of this id runs with other rows.
   */
  async startBatch(input: BatchInput, options?: TraceOptions): Promise<BatchHandle> {
    checkBatchStart(input, options);
    const { id, ...started } = await startBatch(this.#access, ownCopy(input), options);
    return new BatchHandle(this.#access, id, started);
  }

  /** The first request checks whether it exists. Throws `InputInvalidError` for what can be no id. */
  batch(id: string): BatchHandle {
    if (isBatchId(id)) return new BatchHandle(this.#access, id);
    throw new InputInvalidError([`The batch id is ${showValue(id)}; give ${batchIdRemedy}.`], 'arguments');
  }

  /** Those that run, the latest start first, then those that ended last, each run once. New ones appear within 2 s. */
  list(options?: ListTasksOptions): AsyncIterable<ListedTask> {
    return listTasks(this.#access, options);
  }

  /** A part of what `list` has; `next` is the `cursor` of the part after it, also in another process. */
  listPage(options?: ListPageOptions): Promise<TaskPage> {
    return listTaskPage(this.#access, options);
  }

  /** How many tasks `list` would have; each run of a task that was started again is one. */
  count(options?: Omit<ListTasksOptions, 'limit'>): Promise<number> {
    return countTasks(this.#access, options);
  }

  /** Those that run first, then those that ended last, each with its latest run. New ones appear within 2 s. */
  listBatches(options?: ListBatchesOptions): AsyncIterable<ListedBatch> {
    return listBatches(this.#access, options);
  }

  /**
   * An account's daily budget on a day in UTC, such as `2026-03-01`, by default today; `undefined` when no task asked
   * for it, as without a budget in the price file, or Temporal no longer keeps the day. Throws `InputInvalidError` for
   * what is no account or day, and `NoWorkerError` while no worker answers.
   */
  async dailyBudget(account: string, day: string = utcDay(Date.now())): Promise<DayView | undefined> {
    const problems: string[] = [];
    if (!isTaskKey(account)) problems.push(`The account ${showValue(account)} does not match [A-Za-z0-9._-]{1,80}.`);
    if (Number.isNaN(endOfDayMs(day))) problems.push(`The day is ${showValue(day)}; give a date such as 2026-03-01.`);
    if (problems.length > 0) throw new InputInvalidError(problems, 'arguments');
    return await new TemporalAccountDays(this.#access).view({ account, day });
  }

  /** The scheduled sweeps of these workers: what was paid for and is not safe. */
  get sweeps(): Sweeps {
    return new Sweeps(this.#access);
  }

  /** Closes what `connect` opened, not a given client. Waits end at once with `ClientClosedError`; the tasks go on. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#ownConnection?.close();
  }
}
