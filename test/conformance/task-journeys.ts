import { setTimeout as delay } from 'node:timers/promises';
import { dataOf, describe, fieldsOf, isAccepted, itemsOf, textOf } from './answers';
import type { CallbackSink, Inbox } from './callback-sink';
import { createBody, type CreateBodyOptions } from './create-body';
import { isTerminal, pollUntil } from './follow-task';
import { once } from './once';
import type { Answer, Ask, Download, PlainHttp } from './plain-http';
import { canReceive, type Target } from './target';
import { LATE_MS, type UploadJourneys } from './upload-journeys';
import { NotCheckable } from './verdict';

export interface Poll {
  readonly atMs: number;
  readonly status: string;
  readonly detail: Answer;
  readonly outputs: Answer;
}

/** A task from its create to its end; the last poll is the one at its end. */
export interface FollowedTask {
  readonly created: Answer;
  readonly requestId: string;
  readonly createdAtMs: number;
  readonly polls: readonly Poll[];
  readonly end: Poll;
}

/** An answer to cancel or interrupt, with the task's state before and after. */
export interface Stop {
  readonly before: string;
  readonly answer: Answer;
  readonly after: string;
}

/** Headers that a task is created with, to be told from any other's. */
export const CALLBACK_TOKEN = 'Bearer conformance-callback-token';
export const REPEATED = { 'X-Svc-Task-Tag': ['first', 'second', 'first'] };
export const ECHOED = { 'X-Svc-Task-Correlation': 'conformance: photo/1', 'X-Svc-Task-Note': 'Kept  As-It=Is; ok' };

const SETTLE_POLLS = 3;
/** A stop that takes longer is not forced. */
const FORCED_WITHIN_MS = 10_000;

/** Tasks by section 4, each made once for all clauses that look at it. Every one of them costs money. */
export class TaskJourneys {
  readonly #target: Target;
  readonly #http: PlainHttp;
  readonly #uploads: UploadJourneys;
  readonly #sink: CallbackSink;

  constructor(parts: { target: Target; http: PlainHttp; uploads: UploadJourneys; sink: CallbackSink }) {
    ({ target: this.#target, http: this.#http, uploads: this.#uploads, sink: this.#sink } = parts);
  }

  readonly created = once(() => this.#create(asynchronously));

  readonly followed = once(async () => this.#follow(await this.created()));

  readonly downloads = once(async (): Promise<readonly Download[]> => {
    const { requestId } = await this.followed();
    const outputs = itemsOf(dataOf(await this.#ask('outputs', requestId))['outputs']);
    return Promise.all(outputs.map(({ object_url }) => this.#http.download(textOf(object_url))));
  });

  /** What is behind the link of an output after the lifetime of links. */
  readonly downloadTooLate = once(async (): Promise<Download> => {
    const { requestId } = await this.followed();
    const [output] = itemsOf(dataOf(await this.#ask('outputs', requestId))['outputs']);
    await delay((this.#target.pace.linkLifetimeMs ?? 0) + LATE_MS);
    return this.#http.download(textOf(output?.['object_url']));
  });

  /** The answer to a create without a special header. */
  readonly synchronous = once(() => this.#create());

  /** The answer to a create with a callback alone, whose numbers are given as strings. */
  readonly createdWithCallback = once(async () => {
    const inbox = this.#sink.open(200);
    const headers = {
      'X-Svc-Task-WebHook-Url': inbox.url,
      'X-Svc-Task-Authorization': CALLBACK_TOKEN,
      ...ECHOED,
      ...REPEATED,
    };
    return { inbox, created: await this.#create(headers, { numbersAsText: true }) };
  });

  /** That task, polled until its end, and its callback. */
  readonly calledBack = once(async () => {
    const { inbox, created } = await this.createdWithCallback();
    const task = await this.#follow(created);
    await inbox.waitFor(1, this.#graceMs);
    const [output] = itemsOf(inbox.received[0]?.body['outputs']);
    // At once, for the links of a callback may not last long.
    const download = await this.#http.download(textOf(output?.['object_url'])).catch(() => undefined);
    await inbox.waitForSilence(2 * this.#target.pace.callbackRetryMs, this.#graceMs * 3);
    return { ...task, inbox, download };
  });

  /** The answer to a create with both headers, and without previews. */
  readonly createdWithBoth = once(async () => {
    const inbox = this.#sink.open(204, 500, 'nothing', 'cut', 200);
    const headers = { ...asynchronously, 'X-Svc-Task-WebHook-Url': inbox.url };
    return { inbox, created: await this.#create(headers, { suppressPreviews: true }) };
  });

  /** That task, whose callbacks are answered by 204, 500, nothing, a cut connection and then 200. */
  readonly calledBackAgain = once(async () => {
    const { inbox, created } = await this.createdWithBoth();
    const { callbackRetryMs, callbackTimeoutMs } = this.#target.pace;
    const task = await this.#follow(created);
    await inbox.waitFor(1, this.#graceMs);
    await inbox.waitForSilence(callbackTimeoutMs + 2 * callbackRetryMs, 5 * this.#graceMs);
    return { ...task, inbox };
  });

  /** A task whose callbacks are never answered by 200; complete when the service has given up. */
  readonly calledBackInVain = once(async (): Promise<FollowedTask & { readonly inbox: Inbox }> => {
    const { callbackAttempts, callbackRetryMs } = this.#target.pace;
    const inbox = this.#sink.open(500);
    const headers = { 'X-Svc-Task-WebHook-Url': inbox.url, 'X-Svc-Task-Authorization': CALLBACK_TOKEN };
    const task = await this.#follow(await this.#create(headers));
    await inbox.waitFor(1, this.#graceMs);
    await inbox.waitForSilence(3 * callbackRetryMs, (callbackAttempts + 6) * (callbackRetryMs + 1_000));
    return { ...task, inbox };
  });

  /** A task of the app that fails; its callbacks arrive in the inbox, if they can be received. */
  readonly failed = once(async () => {
    const inbox = this.#sink.open(200);
    const headers = canReceive(this.#target) ? { 'X-Svc-Task-WebHook-Url': inbox.url } : asynchronously;
    const task = await this.#follow(await this.#create(headers, { app: this.#target.failingApp }));
    if (canReceive(this.#target)) await inbox.waitFor(1, this.#graceMs);
    return { ...task, inbox };
  });

  /** A task that is canceled as soon as it is created, twice. */
  readonly canceled = once(async () => {
    const requestId = requestIdOf(await this.#create(asynchronously, { app: this.#target.slowApp }));
    const first = await this.#stop('cancel', requestId);
    const second = await this.#stop('cancel', requestId);
    return { requestId, first, second, end: await this.#poll(requestId) };
  });

  /** A task of the slow app: interrupted while it is queued, canceled while it runs, then interrupted. */
  readonly interrupted = once(async () => {
    const requestId = requestIdOf(await this.#create(asynchronously, { app: this.#target.slowApp }));
    const whileQueued = await this.#stop('interrupt', requestId);
    const polls = await this.#until(requestId, ({ status }) => status === 'Running' || isTerminal(status));
    const canceled = await this.#stop('cancel', requestId);
    const running = await this.#poll(requestId);
    await delay(1_100);
    const later = await this.#poll(requestId);
    const misnamed = await this.#http.ask('interrupt', { query: { requestid: requestId } });
    const answer = await this.#ask('interrupt', requestId);
    const deadline = Date.now() + FORCED_WITHIN_MS;
    const isOver = ({ status }: Poll): boolean => isTerminal(status) || Date.now() > deadline;
    const end = (await this.#until(requestId, isOver)).at(-1) ?? later;
    return { requestId, whileQueued, polls, canceled, running, later, misnamed, answer, end };
  });

  readonly stoppedAfterEnd = once(async () => {
    const { requestId } = await this.followed();
    return { interrupt: await this.#stop('interrupt', requestId), cancel: await this.#stop('cancel', requestId) };
  });

  /** The states of the followed task after its end. */
  readonly statesAfterEnd = once(async () => {
    const { requestId } = await this.followed();
    const states: string[] = [];
    for (let poll = 0; poll < SETTLE_POLLS; poll += 1) {
      states.push((await this.#poll(requestId)).status);
      await delay(this.#target.pace.pollEveryMs);
    }
    return states;
  });

  async #create(headers: Ask['headers'] = {}, options: CreateBodyOptions = {}): Promise<Answer> {
    return this.#http.ask('create', { body: await createBody(this.#target, this.#uploads, options), headers });
  }

  async #follow(created: Answer): Promise<FollowedTask> {
    const createdAtMs = Date.now();
    const requestId = requestIdOf(created);
    const polls = await this.#until(requestId, ({ status }) => isTerminal(status));
    const end = polls.at(-1);
    if (end === undefined) throw new NotCheckable('the task was never seen');
    return { created, requestId, createdAtMs, polls, end };
  }

  get #graceMs(): number {
    const { callbackRetryMs, callbackTimeoutMs } = this.#target.pace;
    return 2 * callbackRetryMs + callbackTimeoutMs + 5_000;
  }

  #until(requestId: string, isOver: (poll: Poll) => boolean): Promise<readonly Poll[]> {
    return pollUntil(() => this.#poll(requestId), isOver, this.#target.pace);
  }

  async #poll(requestId: string): Promise<Poll> {
    const detail = await this.#ask('detail', requestId);
    const atMs = Date.now();
    const outputs = await this.#ask('outputs', requestId);
    return { atMs, status: textOf(dataOf(detail)['status']), detail, outputs };
  }

  async #stop(verb: 'cancel' | 'interrupt', requestId: string): Promise<Stop> {
    const before = (await this.#poll(requestId)).status;
    const answer = await this.#ask(verb, requestId);
    return { before, answer, after: (await this.#poll(requestId)).status };
  }

  #ask(name: 'detail' | 'outputs' | 'cancel' | 'interrupt', requestId: string): Promise<Answer> {
    return this.#http.ask(name, { query: { requestId } });
  }
}

const asynchronously = { 'X-Svc-Task-Async': 'enable' };

function requestIdOf(created: Answer): string {
  if (!isAccepted(created)) throw new NotCheckable(`no task was created: ${describe(created)}`);
  return textOf(fieldsOf(created.json)['requestId']);
}
