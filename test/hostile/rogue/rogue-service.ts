import { createHash, randomUUID } from 'node:crypto';
import { endpointAt, success, type RogueEndpoint, timestamp } from './honest-replies';
import type { RogueRequest } from './http-connection';
import { writeJson } from './json-text';
import { startRogueServer, type RogueAnswer, type RogueServer } from './rogue-server';
import type { TaskScript } from './task-script';
import type { HonestReply, ReplyChange } from './wire-reply';

export interface RogueTask {
  readonly number: number;
  readonly script: TaskScript;
  /** How each create of this task was answered; a change is what was other than an honest 202. */
  readonly creates: (ReplyChange | undefined)[];
  /** Numbers of the outputs whose working link stood in a reply that can be read, whatever error is told beside it. */
  readonly given: Set<number>;
  polls: number;
  stopped: boolean;
  readonly asked: Map<string, number>;
}

type TaskState = 'Queuing' | 'Preparing' | 'Running' | 'Success' | 'Failed' | 'Canceled';

/**
 * A service of the specification, with its storage, that answers as the script of each task says. It shares nothing with
 * the reference service. Requests are told apart by the task's number, which stands in its inputs, its file's name, its
 * request id and its links.
 */
export class RogueService {
  readonly tasks: readonly RogueTask[];
  /** Request ids as the worker may have read them. */
  readonly #byRequestId = new Map<string, RogueTask>();
  #server: RogueServer | undefined;

  constructor(scripts: readonly TaskScript[]) {
    this.tasks = scripts.map((script, number) => ({
      number,
      script,
      creates: [],
      given: new Set(),
      polls: 0,
      stopped: false,
      asked: new Map(),
    }));
  }

  async start(): Promise<void> {
    this.#server = await startRogueServer((request) => this.#answer(request));
  }

  async stop(): Promise<void> {
    await this.#server?.close();
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  static contentOf(number: number, output: number, size: number): Buffer {
    const seed = createHash('sha256').update(`${number}/${output}`).digest();
    return Buffer.concat([seed, Buffer.alloc(size, `${number}/${output} `)]);
  }

  static fileNameOf(number: number): string {
    return `input-${number}.png`;
  }

  get #port(): number {
    if (this.#server === undefined) throw new Error('the rogue service was not started');
    return this.#server.port;
  }

  #answer(request: RogueRequest): RogueAnswer {
    const url = new URL(request.target, this.url);
    const endpoint = endpointAt(request.method, url.pathname);
    const task = this.#taskOf(endpoint, request, url);
    if (task === undefined) return { reply: this.#withoutTask(endpoint) };
    const output = /\/(\d+)\.bin$/.exec(url.pathname)?.[1] ?? '';
    const place = endpoint + output;
    const count = (task.asked.get(place) ?? 0) + 1;
    task.asked.set(place, count);
    const change = task.script.changes.find(
      (each) => each.endpoint === endpoint && count >= each.from && count < each.from + (each.times ?? Infinity),
    )?.change;
    const reply = this.#reply(task, endpoint, Number(output), request, url);
    if (endpoint === 'create') this.#noteCreate(task, reply, change);
    if (endpoint === 'outputs') this.#noteLinks(task, reply, change);
    return { reply, change };
  }

  #taskOf(endpoint: RogueEndpoint, { body }: RogueRequest, url: URL): RogueTask | undefined {
    const requestId = url.searchParams.get('requestId');
    if (requestId !== null) return this.#byRequestId.get(requestId);
    const text =
      endpoint === 'create' ? body.toString() : `${decodeURIComponent(url.href)} ${body.toString('latin1', 0, 2_000)}`;
    const number = /(?:task|input|results)[-/](\d+)/.exec(text)?.[1];
    return number === undefined ? undefined : this.tasks[Number(number)];
  }

  /** Asked about something that only a nasty reply has named. */
  #withoutTask(endpoint: RogueEndpoint): HonestReply {
    if (endpoint === 'list') return success({ list: [], total: 0, current: 1, page_size: 20 });
    if (endpoint === 'put' || endpoint === 'metadata') return { status: 200, body: Buffer.alloc(0) };
    return refusal(404, 30009, 'there is no such task');
  }

  #reply(task: RogueTask, endpoint: RogueEndpoint, output: number, { body }: RogueRequest, url: URL): HonestReply {
    switch (endpoint) {
      case 'create':
        return { status: 202, body: { requestId: `rogue-${task.number}-${randomUUID()}` } };
      case 'detail':
        task.polls += 1;
        return success(detailOf(task));
      case 'outputs': {
        const items = stateOf(task) === 'Success' ? this.#itemsOf(task) : [];
        const isTurned = task.script.changesOrder && (task.asked.get('outputs') ?? 0) % 2 === 0;
        const outputs = isTurned ? items.reverse() : items;
        return success({ request_id: url.searchParams.get('requestId'), status: stateOf(task), outputs });
      }
      case 'cancel':
      case 'interrupt': {
        if (stateOf(task) !== (endpoint === 'cancel' ? 'Queuing' : 'Running')) return refusal(409, 30010, 'not now');
        task.stopped = true;
        return success(null);
      }
      case 'token':
        return success({
          file: {
            object_key: `inputs/20260101/input-${task.number}-${randomUUID()}.png`,
            ...{
              access_key_id: 'ASIAROGUE',
              access_key_secret: 'secret-of-the-rogue',
              security_token: 'token-of-the-rogue',
            },
          },
          storage: { endpoint: `http://localhost:${this.#port}`, bucket: 'inputs-of-rogue', region: 'oss-cn-rogue' },
        });
      case 'commit':
        return success(this.#resourceOf(task, fieldOf(body, 'object_key')));
      case 'list':
        return success({ list: [this.#resourceOf(task, '')], total: 1, current: 1, page_size: 20 });
      case 'metadata':
        return success({ id: 'rogue' });
      case 'put':
        return { status: 200, body: Buffer.alloc(0), headers: { ETag: '"of-the-rogue"' } };
      case 'result': {
        const size = task.script.outputs[output];
        if (size === undefined) return { status: 404, body: Buffer.alloc(0) };
        return { status: 200, body: RogueService.contentOf(task.number, output, size) };
      }
    }
  }

  #itemsOf({ number, script }: RogueTask): Record<string, unknown>[] {
    return script.outputs.map((_, output) => ({
      object_url: this.#linkOf(number, output),
      output_ext: '.bin',
      cost_time: 5,
      audit_status: 2,
      error_type: 'NOT_ERROR',
    }));
  }

  #linkOf(number: number, output: number): string {
    return `${this.url}/results/${number}/${output}.bin?X-Amz-Expires=600&X-Amz-Signature=0123456789abcdef`;
  }

  #resourceOf({ number }: RogueTask, objectKey: string): Record<string, unknown> {
    const name = RogueService.fileNameOf(number);
    return { id: number + 1, name, ext: '.png', url: `${this.url}/${objectKey}?input-${number}` };
  }

  #noteCreate(task: RogueTask, { body }: HonestReply, change: ReplyChange | undefined): void {
    task.creates.push(change);
    const sent = parse(textOf(body, change));
    for (const place of [sent, field(sent, 'data')]) {
      for (const name of ['requestId', 'request_id']) {
        const requestId = field(place, name);
        if (typeof requestId === 'string') this.#byRequestId.set(requestId, task);
      }
    }
  }

  #noteLinks(task: RogueTask, { body }: HonestReply, change: ReplyChange = {}): void {
    const { fields, ...others } = change;
    // Whatever else is changed, the reply may not be readable; nor where the envelope refuses.
    if (Object.keys(others).length > 0 || fields?.some(({ path }) => !path.startsWith('data.outputs.'))) return;
    const items = field(field(parse(textOf(body, change)), 'data'), 'outputs');
    if (!Array.isArray(items)) return;
    task.script.outputs.forEach((_, output) => {
      const link = this.#linkOf(task.number, output);
      const item: unknown = items.find((each) => field(each, 'object_url') === link);
      if (item !== undefined) task.given.add(output);
    });
  }
}

function stateOf({ script, polls, stopped }: RogueTask): TaskState {
  const { queuing, preparing, running } = script.polls;
  if (stopped) return 'Canceled';
  if (polls <= queuing) return 'Queuing';
  if (polls <= queuing + preparing) return 'Preparing';
  if (script.end === 'never' || polls <= queuing + preparing + running) return 'Running';
  return script.end;
}

function detailOf(task: RogueTask): Record<string, unknown> {
  const status = stateOf(task);
  const isOver = status === 'Success' || status === 'Failed' || status === 'Canceled';
  const nowText = timestamp(Date.now());
  return {
    type: 'API',
    status,
    created_at: nowText,
    updated_at: nowText,
    ended_at: isOver ? nowText : null,
    expired_at: timestamp(Date.now() + 3_600_000),
    ...(status === 'Queuing' && { queue_info: { queue_count: 1 } }),
    cost_times: isOver ? { total_cost_time: 100, running_cost_time: 50 } : {},
    group_id: task.number,
    ...(status === 'Failed' && { error_message: 'the app failed' }),
  };
}

function refusal(status: number, code: number, message: string): HonestReply {
  return { status, body: { code, message, status: false, data: null } };
}

/** The body as it goes out, as far as it is text; empty where it is replaced as a whole. */
function textOf(body: unknown, change: ReplyChange = {}): string {
  return change.body === undefined ? writeJson(body, change.fields ?? []) : '';
}

function fieldOf(body: Buffer, name: string): string {
  const value = field(parse(body.toString()), name);
  return typeof value === 'string' ? value : '';
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
