import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import type {
  CreateOutcome,
  CreateTaskRequest,
  InputResource,
  ServiceClient,
  TaskDetail,
  TaskOutputs,
  UploadToken,
} from '../../src/service';
import type { CallbackSink } from './callback-sink';
import { isTerminal, pollUntil } from './follow-task';
import { once, oncePerKey } from './once';
import { sampleFile, type FileKind, type SampleFile } from './sample-files';
import { putObject, type PutOutcome } from './storage-put';
import type { AppRun, Target } from './target';
import { CALLBACK_TOKEN, ECHOED } from './task-journeys';
import { NotCheckable } from './verdict';

export interface ClientPoll {
  readonly detail: TaskDetail;
  readonly outputs: TaskOutputs;
}

export interface ClientUpload {
  readonly file: SampleFile;
  readonly token: UploadToken;
  readonly put: PutOutcome;
  readonly resource: InputResource;
}

/** The journeys of the plain run that a client can make, each made once. Every task costs money. */
export class ClientJourneys {
  readonly #target: Target;
  readonly #client: ServiceClient;
  readonly #sink: CallbackSink;

  constructor(parts: { target: Target; client: ServiceClient; sink: CallbackSink }) {
    ({ target: this.#target, client: this.#client, sink: this.#sink } = parts);
  }

  readonly uploaded = oncePerKey((kind: FileKind) => this.#upload(sampleFile(kind)));

  /** What became of a create in asynchronous mode. */
  readonly created = once(async () => this.#client.createTask(await this.#request(this.#target.app)));

  readonly followed = once(async () => this.#follow(await this.created()));

  readonly synchronous = once(async () => this.#client.createTaskSync(await this.#request(this.#target.app)));

  /** A task with a callback, a token for it, and headers of its own. */
  readonly calledBack = once(async () => {
    const inbox = this.#sink.open(200);
    const { pace, app } = this.#target;
    const callback = { url: inbox.url, token: CALLBACK_TOKEN.replace(/^Bearer /, '') };
    const created = await this.#client.createTask(await this.#request(app), { callback, headers: ECHOED });
    const task = await this.#follow(created);
    await inbox.waitFor(1, 2 * pace.callbackRetryMs + pace.callbackTimeoutMs);
    return { ...task, inbox };
  });

  readonly failed = once(async () =>
    this.#follow(await this.#client.createTask(await this.#request(this.#target.failingApp))),
  );

  /** A task that is canceled as soon as it is created, twice. */
  readonly canceled = once(async () => {
    const { app, slowApp } = this.#target;
    const requestId = requestIdOf(await this.#client.createTask(await this.#request(slowApp ?? app)));
    const before = await this.#client.getTask(requestId);
    await this.#client.cancelTask(requestId);
    const after = await this.#client.getTask(requestId);
    await this.#client.cancelTask(requestId);
    return { before, after, end: await this.#client.getTask(requestId) };
  });

  /** A task of the slow app that is interrupted while it runs. */
  readonly interrupted = once(async () => {
    const requestId = requestIdOf(await this.#client.createTask(await this.#request(this.#target.slowApp)));
    const seen = await this.#until(requestId, ({ detail }) => detail.status === 'Running' || isTerminal(detail.status));
    await this.#client.interruptTask(requestId);
    const polls = await this.#until(requestId, ({ detail }) => isTerminal(detail.status));
    return { before: seen.at(-1)?.detail.status, end: polls.at(-1)?.detail.status };
  });

  async #follow(created: CreateOutcome): Promise<{ requestId: string; polls: readonly ClientPoll[]; end: ClientPoll }> {
    const requestId = requestIdOf(created);
    const polls = await this.#until(requestId, ({ detail }) => isTerminal(detail.status));
    const end = polls.at(-1);
    if (end === undefined) throw new NotCheckable('the task was never seen');
    return { requestId, polls, end };
  }

  #until(requestId: string, isOver: (poll: ClientPoll) => boolean): Promise<readonly ClientPoll[]> {
    const poll = async (): Promise<ClientPoll> => ({
      detail: await this.#client.getTask(requestId),
      outputs: await this.#client.getOutputs(requestId),
    });
    return pollUntil(poll, isOver, this.#target.pace);
  }

  async #request(app: AppRun | undefined): Promise<CreateTaskRequest> {
    if (app === undefined || !this.#target.mayPay) throw new NotCheckable('no task may be created');
    const values = Object.entries(app.inputs).map(async ([key, value]) => [
      key,
      typeof value === 'object' ? await this.#urlOf(value.file) : value,
    ]);
    const inputValues = Object.fromEntries(await Promise.all(values)) as Record<string, string | number>;
    return { webAppId: app.webAppId, inputValues };
  }

  /** A fresh url; the one of the commit may have expired. */
  async #urlOf(path: string): Promise<string> {
    const { token } = await this.#inputFile(path);
    const { list } = await this.#client.listInputs({ objectKey: token.objectKey });
    if (list[0] === undefined) throw new NotCheckable('the input file is not in the list');
    return list[0].url;
  }

  readonly #inputFile = oncePerKey(async (path: string) =>
    this.#upload({ name: basename(path), ext: extname(path), bytes: await readFile(path) }),
  );

  async #upload(file: SampleFile): Promise<ClientUpload> {
    const token = await this.#client.getUploadToken(file.name);
    const put = await putObject(token, file.bytes);
    const { objectKey } = token;
    return { file, token, put, resource: await this.#client.commitInput({ name: file.name, objectKey }) };
  }
}

function requestIdOf(created: CreateOutcome): string {
  if (created.outcome !== 'accepted') throw new NotCheckable(`no task was created: ${created.outcome}`);
  return created.requestId;
}
