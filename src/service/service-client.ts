import { Readable } from 'node:stream';
import { type CreateOutcome, isEnvelope } from '../core/create-outcome';
import { isRecord, parseJson } from '../core/json';
import { knownSecrets } from '../core/redact';
import {
  defaultEnvelopeCodes,
  defaultHeaderPrefix,
  defaultSuccessCodes,
  type EnvelopeRules,
} from '../core/service-dialect';
import { comparableWord, parseServiceStatus, type ServiceStatus } from '../core/task-state';
import { showValue } from '../core/text';
import type { ConnectionRule } from '../storage/connection-rule';
import type { UploadToken } from '../storage/upload-client';
import {
  callProblems,
  type CallOptions,
  checkedBaseUrl,
  type CreateTaskAsyncOptions,
  type CreateTaskOptions,
  defaultTimeouts,
  type ListPage,
  refuse,
  type ServiceClientOptions,
  type ServiceTimeouts,
  sourceProblems,
  textProblems,
  type WaitForTaskOptions,
} from './client-options';
import * as create from './create-request';
import type { Answer, EndpointName } from './endpoints';
import { acceptedJson, invalidResponse, openEnvelope, parseData, requireTask, unwrapped } from './envelope';
import { ApiKeyUnavailableError, ServiceClosedError, UnauthorizedError } from './errors';
import type { ExchangeLimits } from './exchange';
import type { UploadedFile, UploadFileOptions, UploadSource } from './file-upload';
import * as inputs from './inputs';
import { type Call, ServiceTransport } from './service-transport';
import * as tasks from './tasks';
import { waitForTask } from './task-wait';

const keyQuestionMs = 3_000;

/**
 * Client of the service: every endpoint and mode of its specification, over HTTP/1.1.
 *
 * Sends each request exactly once and never retries. {@link createTask} returns what happened as data; other methods
 * throw a {@link ServiceError}, or the abort reason of the caller's signal.
 */
export class ServiceClient {
  readonly #transport: ServiceTransport;
  readonly #timeouts: ServiceTimeouts;
  readonly #headerPrefix: string;
  readonly #rules: EnvelopeRules;
  readonly #states: ReadonlyMap<string, ServiceStatus>;
  readonly #storageHosts: readonly string[];
  #uploadRule: ConnectionRule | undefined;
  #keyQuestion: Promise<boolean> | undefined;

  /** @throws ServiceArgumentError when an option is unknown or cannot be used. */
  constructor(options: ServiceClientOptions) {
    const baseUrl = checkedBaseUrl(options);
    this.#timeouts = { ...defaultTimeouts, ...options.timeouts };
    this.#headerPrefix = options.headerPrefix ?? defaultHeaderPrefix;
    const codes = { ...defaultEnvelopeCodes, ...options.envelopeCodes };
    this.#rules = { codes, successCodes: options.successCodes ?? defaultSuccessCodes };
    this.#states = new Map(Object.entries(options.states ?? {}).map(([word, state]) => [comparableWord(word), state]));
    this.#storageHosts = (options.storageHosts ?? []).map((host) => host.toLowerCase());
    knownSecrets.add(...(options.secrets ?? []));
    this.#transport = new ServiceTransport({
      baseUrl,
      apiKey: options.apiKey,
      dispatcher: options.dispatcher,
      connectTimeoutMs: this.#timeouts.connectMs,
      paths: options.paths ?? {},
      onRequest: options.onRequest,
      traceRequest: options.traceRequest,
    });
  }

  /** `host:port` of the service, for messages. */
  get host(): string {
    return this.#transport.base.host;
  }

  /**
   * Creates a task in asynchronous or callback mode (section 4.1). Sends at most once, on a connection of its own.
   * Faults and aborts are outcomes, too; {@link CreateOutcome} says what is safe to send again.
   *
   * @throws ServiceArgumentError, before anything is sent, when the request cannot be sent.
   */
  async createTask(request: create.CreateTaskRequest, options: CreateTaskAsyncOptions = {}): Promise<CreateOutcome> {
    this.#checkCreate('createAsync', request, options);
    const { callback, headers } = options;
    if (callback?.token !== undefined) knownSecrets.add(callback.token);
    const call = create.createCall(request, callback ?? 'async', this.#headerPrefix, headers);
    try {
      const limits = this.#limits(options, this.#timeouts.createMs);
      const exchanged = await this.#transport.askOnce('create', call, limits);
      const outcome = create.toCreateOutcome(exchanged, this.#rules);
      if (outcome.outcome !== 'rejected' || outcome.scope !== 'key') return outcome;
      const isKnown = outcome.code !== undefined && this.#rules.codes[outcome.code] !== undefined;
      const isOfGateway = !isKnown && !isEnvelope(parseJson(exchanged.reply?.text ?? ''));
      return isOfGateway && (await this.#isKeyTaken()) ? create.refusedByGateway(outcome) : outcome;
    } catch (error) {
      if (error instanceof ApiKeyUnavailableError || error instanceof ServiceClosedError)
        return { outcome: 'notSent', reason: error.message };
      throw error;
    }
  }

  /**
   * Creates a task in synchronous mode (section 4.1): the connection is held until the task ends. When it throws
   * anything but a ServiceApiError and `requestSent` is not false, a task may exist, be charged, and be lost.
   */
  async createTaskSync(
    request: create.CreateTaskRequest,
    options: CreateTaskOptions = {},
  ): Promise<tasks.SyncTaskReply> {
    this.#checkCreate('create', request, options);
    const limits = this.#limits(options, this.#timeouts.syncMs);
    const call = create.createCall(request, 'sync', this.#headerPrefix, options.headers);
    const answer = this.#transport.toAnswer('create', await this.#transport.askOnce('create', call, limits), limits);
    const { httpStatus, text } = answer.reply;
    return { httpStatus, body: text, task: tasks.readSyncTask(answer, this.#rules, this.#states) };
  }

  /** The state of a task (section 4.2). Recommended at most every 1 to 3 seconds for one task. */
  async getTask(requestId: string, options: CallOptions = {}): Promise<tasks.TaskDetail> {
    return await this.#readTask('detail', requestId, tasks.readTaskDetail, options);
  }

  /** The result files of a task, with fresh links (section 4.3). */
  async getOutputs(requestId: string, options: CallOptions = {}): Promise<tasks.TaskOutputs> {
    return await this.#readTask('outputs', requestId, tasks.readTaskOutputs, options);
  }

  /** Asks to remove a task from the queue (section 4.4); may be repeated. Success means accepted, not canceled. */
  async cancelTask(requestId: string, options: CallOptions = {}): Promise<void> {
    await this.#sendVerb('cancel', requestId, options);
  }

  /** Asks to force a running task to stop (section 4.5). Success means accepted, not stopped. */
  async interruptTask(requestId: string, options: CallOptions = {}): Promise<void> {
    await this.#sendVerb('interrupt', requestId, options);
  }

  /** Temporary credentials for one upload (section 4.6). The service derives ext and content type from the name. */
  async getUploadToken(fileName: string, options: CallOptions = {}): Promise<UploadToken> {
    refuse(...textProblems('fileName', fileName), ...callProblems('call', options));
    const query = { file_name: fileName, file_type: 'inputs' };
    return await this.#read('uploadToken', { query }, inputs.readUploadToken, options);
  }

  /**
   * Makes an uploaded object an input resource (section 4.7). Whether it may be repeated is not specified.
   *
   * @throws ServiceResponseInvalidError when the reply is about another file.
   */
  async commitInput(
    upload: { readonly name: string; readonly objectKey: string },
    options: CallOptions = {},
  ): Promise<inputs.InputResource> {
    const isUpload = isRecord(upload);
    refuse(
      ...(isUpload ? textProblems('name', upload.name) : ['The uploaded object is missing; give { name, objectKey }.']),
      ...(isUpload ? textProblems('objectKey', upload.objectKey) : []),
      ...callProblems('call', options),
    );
    const body = Buffer.from(JSON.stringify({ name: upload.name, object_key: upload.objectKey }));
    const answer = await this.#ask('commitInput', { body }, options);
    const resource = parseData(inputs.readInputResource, openEnvelope(answer, this.#rules), answer);
    if (inputs.isResourceOf(resource, upload)) return resource;
    throw invalidResponse(answer, `is about another file than ${showValue(upload.name)} at ${upload.objectKey}`);
  }

  /**
   * Uploads a file and makes it an input resource: token, PUT, commit (sections 4.6 and 4.7). Bytes and streams need a
   * `name`. Nothing is retried; the whole call may be repeated and uploads under another key then.
   *
   * @throws ServiceError; UploadError when the storage refuses or fails; SourceError when the file cannot be used.
   */
  uploadFile(path: string, options?: UploadFileOptions): Promise<UploadedFile>;
  uploadFile(source: UploadSource, options: UploadFileOptions & { readonly name: string }): Promise<UploadedFile>;
  async uploadFile(source: UploadSource, options: UploadFileOptions = {}): Promise<UploadedFile> {
    // Loaded here, because the storage client is large.
    const [{ uploadFile, uploadNameProblems }, { ConnectionRule }] = await Promise.all([
      import('./file-upload.js'),
      import('../storage/connection-rule.js'),
    ]);
    const name: unknown = isRecord(options) ? options['name'] : undefined;
    const problems = [
      ...sourceProblems(source),
      ...uploadNameProblems(source, name),
      ...callProblems('upload', options),
    ];
    if (problems.length > 0 && source instanceof Readable) source.destroy();
    refuse(...problems);
    this.#uploadRule ??= new ConnectionRule({
      hosts: this.#storageHosts,
      serviceHosts: [this.#transport.base.hostname],
    });
    return await uploadFile(this, source, { ...options, rule: this.#uploadRule });
  }

  /**
   * Waits until a task is `Success`, `Failed` or `Canceled`, and returns it. Polls as section 4.2 recommends: every
   * second at first, seldom behind a long queue, and as the service asks. Retries failed queries within `patienceMs`.
   *
   * @throws ServiceTimeoutError after `timeoutMs`; the signal's reason; NotFoundError when the service does not know
   * the task; the error of a query that is final, or the last one after `patienceMs`.
   */
  async waitForTask(requestId: string, options: WaitForTaskOptions = {}): Promise<tasks.TaskDetail> {
    refuse(...textProblems('requestId', requestId), ...callProblems('wait', options));
    return await waitForTask(this, requestId, options);
  }

  /** One page of committed input files (section 4.8); `current` counts from 1. */
  async listInputs(page: ListPage = {}, options: CallOptions = {}): Promise<inputs.InputResourcePage> {
    refuse(...callProblems('list', page), ...callProblems('call', options));
    const { current, pageSize, ext, objectKey } = page;
    const query = { current, page_size: pageSize, ext, object_key: objectKey };
    return await this.#read('listInputs', { query }, inputs.readInputResourcePage, options);
  }

  /**
   * All committed input files that match, each once; ends at `total`, or at a page without new ones.
   *
   * @param filter - `pageSize` is 20 by default.
   */
  async *eachInput(
    filter: Omit<ListPage, 'current'> = {},
    options: CallOptions = {},
  ): AsyncGenerator<inputs.InputResource, void, undefined> {
    const seen = new Set<number | string>();
    for (let current = 1; ; current += 1) {
      const { list, total } = await this.listInputs({ pageSize: 20, ...filter, current }, options);
      const fresh = list.filter(({ id }) => !seen.has(id));
      for (const resource of fresh) {
        seen.add(resource.id);
        yield resource;
      }
      if (fresh.length === 0 || (total !== undefined && seen.size >= total)) return;
    }
  }

  /** The user's metadata (section 4.9), unspecified in shape: envelope data, else the reply. Cheap check of the key. */
  async getUserMetadata(options: CallOptions = {}): Promise<unknown> {
    refuse(...callProblems('call', options));
    const answer = await this.#ask('userMetadata', {}, options);
    const json = acceptedJson(answer, this.#rules);
    if (json === undefined) throw invalidResponse(answer, 'is no JSON');
    return unwrapped(json);
  }

  /** Closes the connections after the requests in flight. The client cannot be used afterwards; may be repeated. */
  async close(): Promise<void> {
    await this.#transport.close();
  }

  /** Asks what costs nothing; creates that are refused at the same time share the question. */
  async #isKeyTaken(): Promise<boolean> {
    const options = { timeoutMs: keyQuestionMs };
    const question = async (): Promise<boolean> => {
      try {
        await this.getUserMetadata(options).catch(async (error: unknown) => {
          if (error instanceof UnauthorizedError) throw error;
          await this.listInputs({ pageSize: 1 }, options);
        });
        return true;
      } catch {
        return false;
      }
    };
    this.#keyQuestion ??= question().finally(() => {
      this.#keyQuestion = undefined;
    });
    return await this.#keyQuestion;
  }

  async #ask(name: EndpointName, call: Call, options: CallOptions): Promise<Answer> {
    return await this.#transport.ask(name, call, this.#limits(options, this.#timeouts.readMs));
  }

  #limits({ signal, timeoutMs }: CallOptions, defaultMs: number): ExchangeLimits {
    return { timeoutMs: timeoutMs ?? defaultMs, signal };
  }

  async #read<T>(name: EndpointName, call: Call, read: (data: unknown) => T, options: CallOptions): Promise<T> {
    const answer = await this.#ask(name, call, options);
    return parseData(read, openEnvelope(answer, this.#rules), answer);
  }

  async #readTask<T extends { readonly status: string }>(
    name: 'detail' | 'outputs',
    requestId: string,
    read: (data: unknown) => T,
    options: CallOptions,
  ): Promise<T> {
    refuse(...textProblems('requestId', requestId), ...callProblems('call', options));
    const answer = await this.#ask(name, { query: { requestId } }, options);
    const data = openEnvelope(answer, this.#rules);
    requireTask(requestId, data, answer);
    const task = parseData(read, data, answer);
    return { ...task, status: parseServiceStatus(task.status, this.#states) ?? task.status };
  }

  async #sendVerb(name: 'cancel' | 'interrupt', requestId: string, options: CallOptions): Promise<void> {
    refuse(...textProblems('requestId', requestId), ...callProblems('call', options));
    const answer = await this.#ask(name, { query: { requestId } }, options);
    const json = acceptedJson(answer, this.#rules);
    requireTask(requestId, isRecord(json) ? json['data'] : undefined, answer);
  }

  #checkCreate(kind: 'create' | 'createAsync', request: unknown, options: unknown): void {
    const { headers, callback }: { headers?: unknown; callback?: unknown } = isRecord(options) ? options : {};
    refuse(
      ...create.requestProblems(request),
      ...callProblems(kind, options),
      ...(kind === 'createAsync' ? create.callbackProblems(callback) : []),
      ...create.headerProblems(this.#headerPrefix, headers),
    );
  }
}
