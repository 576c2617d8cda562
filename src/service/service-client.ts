import type { z } from 'zod';
import type { CreateOutcome, CreatePolicy } from '../domain/create-outcome';
import { knownSecrets } from '../domain/redact';
import { createOutcomeOf } from './create-evidence';
import { createBody, createHeaders, type CreateTaskRequest } from './create-request';
import type { EndpointName } from './endpoints';
import { acceptedJson, invalidResponse, openEnvelope, parseData, type Answer, type EnvelopeRules } from './envelope';
import { createPolicyOf, defaultEnvelopeCodes, defaultSuccessCodes } from './envelope-codes';
import { ApiKeyUnavailableError } from './errors';
import type { ExchangeLimits } from './exchange';
import {
  inputResourcePageSchema,
  inputResourceSchema,
  type InputResource,
  type InputResourceFilter,
  type InputResourcePage,
} from './input-resource';
import { eachInputResource } from './input-resource-pages';
import {
  defaultTimeouts,
  type CallOptions,
  type CreateTaskAsyncOptions,
  type CreateTaskOptions,
  type ServiceClientOptions,
  type ServiceTimeouts,
  type SyncTaskReply,
} from './service-client-options';
import { ServiceTransport, type Call } from './service-transport';
import { taskDetailSchema, type TaskDetail } from './task-detail';
import { taskOutputsSchema, type TaskOutputs } from './task-outputs';
import { uploadTokenSchema, type UploadToken } from './upload-token';

/**
 * Client of the service: every endpoint and every mode of its specification, over HTTP/1.1.
 *
 * It sends each request exactly once: trying again is the caller's decision. Except for {@link createTask}, which
 * returns what happened as data, methods throw a {@link ServiceError}, or the abort reason of the caller's signal.
 */
export class ServiceClient {
  readonly #transport: ServiceTransport;
  readonly #timeouts: ServiceTimeouts;
  readonly #headerPrefix: string;
  readonly #rules: EnvelopeRules;
  readonly #createPolicy: CreatePolicy;

  /** @throws ServiceArgumentError when `baseUrl` cannot be used. */
  constructor(options: ServiceClientOptions) {
    this.#timeouts = { ...defaultTimeouts, ...options.timeouts };
    this.#headerPrefix = options.headerPrefix ?? 'X-Svc-Task-';
    const codes = { ...defaultEnvelopeCodes, ...options.envelopeCodes };
    this.#rules = { codes, successCodes: options.successCodes ?? defaultSuccessCodes };
    this.#createPolicy = createPolicyOf(codes);
    knownSecrets.add(...(options.secrets ?? []));
    this.#transport = new ServiceTransport({
      baseUrl: options.baseUrl,
      apiKey: options.apiKey,
      dispatcher: options.dispatcher,
      connectTimeoutMs: this.#timeouts.connectMs,
      paths: options.paths ?? {},
    });
  }

  /** `host:port` of the service, for messages. */
  get host(): string {
    return this.#transport.host;
  }

  /**
   * Creates a task in asynchronous or callback mode (section 4.1), sending the request at most once, on a connection
   * of its own. What the service or the network did is the outcome, an abort by the caller included; see
   * {@link CreateOutcome} for what is safe to send again.
   *
   * @throws ServiceArgumentError, before anything is sent, when the request cannot be sent.
   */
  async createTask(request: CreateTaskRequest, options: CreateTaskAsyncOptions = {}): Promise<CreateOutcome> {
    const { callback } = options;
    if (callback?.token !== undefined) knownSecrets.add(callback.token);
    const call = {
      body: createBody(request),
      headers: createHeaders(
        this.#headerPrefix,
        callback === undefined ? { mode: 'async' } : { mode: 'callback', to: callback },
        options.headers,
      ),
    };
    try {
      const exchanged = await this.#transport.askOnce('create', call, this.#limits(options, this.#timeouts.createMs));
      return createOutcomeOf(exchanged, this.#createPolicy);
    } catch (error) {
      if (error instanceof ApiKeyUnavailableError) return { outcome: 'notSent', reason: error.message };
      throw error;
    }
  }

  /**
   * Creates a task in synchronous mode (section 4.1): the connection is held until the task ends. When it throws
   * anything but a ServiceApiError and `requestSent` is not false, a task may exist, be charged, and be lost.
   */
  async createTaskSync(request: CreateTaskRequest, options: CreateTaskOptions = {}): Promise<SyncTaskReply> {
    const limits = this.#limits(options, this.#timeouts.syncMs);
    const exchanged = await this.#transport.askOnce(
      'create',
      { body: createBody(request), headers: createHeaders(this.#headerPrefix, { mode: 'sync' }, options.headers) },
      limits,
    );
    if ('fault' in exchanged) {
      throw this.#transport.toError('create', exchanged.fault, limits, { requestSent: exchanged.requestLeft });
    }
    const answer = this.#transport.wholeAnswer('create', exchanged.reply, limits);
    const { httpStatus, text } = answer.reply;
    // Only the status refuses: any body with a 2xx may be the result of a task that was paid for.
    if (httpStatus < 200 || httpStatus >= 300) acceptedJson(answer, this.#rules);
    return { httpStatus, body: text };
  }

  /** The state of a task (section 4.2). Recommended at most every 1 to 3 seconds for one task. */
  async getTask(requestId: string, options: CallOptions = {}): Promise<TaskDetail> {
    return this.#read('detail', { query: { requestId } }, taskDetailSchema, options);
  }

  /** The result files of a task, with fresh links (section 4.3). */
  async getOutputs(requestId: string, options: CallOptions = {}): Promise<TaskOutputs> {
    return this.#read('outputs', { query: { requestId } }, taskOutputsSchema, options);
  }

  /** Asks to take a queued task out of the queue (section 4.4); repeating it is harmless. Taken is not yet done. */
  async cancelTask(requestId: string, options: CallOptions = {}): Promise<void> {
    await this.#readUnspecified('cancel', { query: { requestId } }, options);
  }

  /** Asks to force a running task to stop (section 4.5). Taken is not yet done. */
  async interruptTask(requestId: string, options: CallOptions = {}): Promise<void> {
    await this.#readUnspecified('interrupt', { query: { requestId } }, options);
  }

  /** Temporary credentials for one upload (section 4.6). The service derives ext and content type from the name. */
  async getUploadToken(fileName: string, options: CallOptions = {}): Promise<UploadToken> {
    return this.#read(
      'uploadToken',
      { query: { file_name: fileName, file_type: 'inputs' } },
      uploadTokenSchema,
      options,
    );
  }

  /** Makes an uploaded object an input resource (section 4.7). Whether it may be repeated is not specified. */
  async commitInput(
    upload: { readonly name: string; readonly objectKey: string },
    options: CallOptions = {},
  ): Promise<InputResource> {
    const body = Buffer.from(JSON.stringify({ name: upload.name, object_key: upload.objectKey }));
    return this.#read('commitInput', { body }, inputResourceSchema, options);
  }

  /** One page of committed input files (section 4.8); `current` counts from 1. */
  async listInputs(
    page: InputResourceFilter & { readonly current?: number; readonly pageSize?: number } = {},
    options: CallOptions = {},
  ): Promise<InputResourcePage> {
    const { current, pageSize, ext, objectKey } = page;
    const query = { current, page_size: pageSize, ext, object_key: objectKey };
    return this.#read('listInputs', { query }, inputResourcePageSchema, options);
  }

  /** All committed input files that match, page by page. @param filter - `pageSize` is 20 by default. */
  eachInput(
    filter: InputResourceFilter & { readonly pageSize?: number } = {},
    options: CallOptions = {},
  ): AsyncGenerator<InputResource, void, undefined> {
    return eachInputResource((current) => this.listInputs({ pageSize: 20, ...filter, current }, options));
  }

  /** The user's metadata (section 4.9), whose shape is not specified; a cheap check of the API key. */
  async getUserMetadata(options: CallOptions = {}): Promise<unknown> {
    const { json, answer } = await this.#readUnspecified('userMetadata', {}, options);
    if (json === undefined) throw invalidResponse(answer, 'is no JSON');
    return json;
  }

  /** Closes the connections after the requests in flight. The client cannot be used afterwards. */
  async close(): Promise<void> {
    await this.#transport.close();
  }

  async #read<T>(name: EndpointName, call: Call, schema: z.ZodType<T>, options: CallOptions): Promise<T> {
    const answer = await this.#transport.ask(name, call, this.#limits(options, this.#timeouts.readMs));
    return parseData(schema, openEnvelope(answer, this.#rules), answer);
  }

  async #readUnspecified(
    name: EndpointName,
    call: Call,
    options: CallOptions,
  ): Promise<{ readonly json: unknown; readonly answer: Answer }> {
    const answer = await this.#transport.ask(name, call, this.#limits(options, this.#timeouts.readMs));
    return { json: acceptedJson(answer, this.#rules), answer };
  }

  #limits({ signal, timeoutMs }: CallOptions, defaultMs: number): ExchangeLimits {
    return { timeoutMs: timeoutMs ?? defaultMs, ...(signal !== undefined && { signal }) };
  }
}
