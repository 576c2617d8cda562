import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { endpointAt, success, timestamp } from './honest-replies';
import type { RogueRequest } from './http-connection';
import type { CreateAnswer, MixingScript } from './mixing-script';
import { startRogueServer, type RogueAnswer, type RogueServer } from './rogue-server';
import type { HonestReply } from './wire-reply';

/** A task that the service made, and was paid for. */
export interface Creation {
  readonly number: number;
  /** Which task of its key it is, from 0. */
  readonly index: number;
  readonly requestId: string;
  readonly createdMs: number;
  /** What a callback brings back. */
  readonly headers: Readonly<Record<string, string>>;
  polls: number;
  /** Of its outputs, details and files. */
  readonly asked: Map<string, number>;
  lastAskedMs: number;
}

/** When a task ends that nobody asks about. */
const endsAfterMs = 1_000;
const callbackEveryMs = 700;
const pngStart = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const page = '<!DOCTYPE html><html><body>Please sign in</body></html>';

const words: Readonly<Record<MixingScript['words'], Readonly<Record<string, string>>>> = {
  specification: {},
  past: { Success: 'Succeeded', Failed: 'failure', Running: 'processing' },
  capitals: { Success: 'COMPLETED', Failed: 'FAILED', Running: 'RUNNING' },
  details: { Success: 'Fertig', Failed: 'Daneben', Running: 'Am Werk' },
};

/** The bytes of an output: a PNG by its first bytes, and no other output of any task has the same. */
export function bytesOf({ number, index }: Creation, output: number): Buffer {
  const name = `${number}.${index}/${output}`;
  return Buffer.concat([pngStart, createHash('sha256').update(name).digest(), Buffer.alloc(500, name)]);
}

/** A service that mixes up orders, ids, callbacks, pages and words; what it made, and for which key, is in its ledger. */
export class MixingService {
  readonly scripts: readonly MixingScript[];
  /** In the order of their creates. */
  readonly ledger: Creation[] = [];
  readonly #createCounts = new Map<number, number>();
  readonly #byRequestId = new Map<string, Creation>();
  readonly #callbacks = new Set<Promise<void>>();
  #server: RogueServer | undefined;
  #isOpen = true;

  constructor(scripts: readonly MixingScript[]) {
    this.scripts = scripts;
  }

  async start(): Promise<void> {
    this.#server = await startRogueServer((request) => this.#answer(request));
  }

  async stop(): Promise<void> {
    this.#isOpen = false;
    await Promise.all(this.#callbacks);
    await this.#server?.close();
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server?.port ?? 0}`;
  }

  scriptOf({ number }: Pick<Creation, 'number'>): MixingScript {
    const script = this.scripts[number];
    if (script === undefined) throw new Error(`There is no key ${number}.`);
    return script;
  }

  /** How the task ends, once it has. */
  stateOf(creation: Creation): 'Running' | 'Success' | 'Failed' {
    const { polls, failsFirst } = this.scriptOf(creation);
    const isOver = creation.polls > polls || Date.now() - creation.createdMs > endsAfterMs;
    if (!isOver) return 'Running';
    return failsFirst && creation.index === 0 ? 'Failed' : 'Success';
  }

  #answer(request: RogueRequest): RogueAnswer {
    const url = new URL(request.target, this.url);
    const endpoint = endpointAt(request.method, url.pathname);
    if (endpoint === 'create') return this.#create(request);
    if (endpoint === 'metadata') return { reply: success({ id: 'mixing' }) };
    if (endpoint === 'result') return this.#file(url);
    const creation = this.#byRequestId.get(url.searchParams.get('requestId') ?? '');
    if (creation === undefined) return { reply: refusal(404, 30009, 'there is no such task') };
    creation.lastAskedMs = Date.now();
    switch (endpoint) {
      case 'detail':
        return { reply: this.#detail(creation) };
      case 'outputs':
        return { reply: this.#outputs(creation) };
      default:
        return { reply: refusal(409, 30010, 'not now') };
    }
  }

  #create({ body, headers }: RogueRequest): RogueAnswer {
    const number = Number(/task-(\d+)/.exec(body.toString())?.[1]);
    const count = this.#createCounts.get(number) ?? 0;
    this.#createCounts.set(number, count + 1);
    const script = this.scriptOf({ number });
    const answer: CreateAnswer = script.creates[count] ?? 'taken';
    switch (answer) {
      case 'no balance':
        return { reply: refusal(200, 20049, 'insufficient balance') };
      case 'too many':
        return { reply: refusal(429, 30040, 'too many parallel tasks') };
      case 'page':
        return { reply: { status: 403, body: Buffer.from(page), headers: { 'Content-Type': 'text/html' } } };
      case 'refused with an id':
        return { reply: refusal(200, 20015, 'bad parameter', { requestId: randomUUID() }) };
      case 'taken':
      case 'lost':
        break;
    }
    const index = this.ledger.filter((other) => other.number === number).length;
    const requestId = (script.reusesId ? this.#formerId(number) : undefined) ?? randomUUID();
    const creation: Creation = {
      ...{ number, index, requestId, headers, createdMs: Date.now() },
      ...{ polls: 0, asked: new Map<string, number>(), lastAskedMs: Date.now() },
    };
    this.ledger.push(creation);
    this.#byRequestId.set(requestId, creation);
    this.#callBack(creation);
    const reply = { status: 202, body: { requestId } };
    return answer === 'lost' ? { reply, change: { pace: 'cut before head' } } : { reply };
  }

  /** The id of a task of another key that was fetched a while ago. */
  #formerId(number: number): string | undefined {
    const isFormer = (other: Creation): boolean =>
      other.number !== number &&
      this.#byRequestId.get(other.requestId) === other &&
      this.stateOf(other) === 'Success' &&
      this.#countOf(other, 'fetched') >= this.scriptOf(other).outputs &&
      Date.now() - other.lastAskedMs > 3_000;
    return this.ledger.find(isFormer)?.requestId;
  }

  #callBack(creation: Creation): void {
    const { headers } = creation;
    const url = headers['x-svc-task-webhook-url'];
    const { times, isLate } = this.scriptOf(creation).callbacks;
    if (url === undefined) return;
    const send = async (): Promise<void> => {
      for (let sent = 0; sent < times; sent += 1) {
        const isDue = (): boolean =>
          isLate && creation.index === 0 && sent > 0
            ? this.ledger.some(({ number, index }) => number === creation.number && index === 1)
            : this.stateOf(creation) !== 'Running';
        await delay(callbackEveryMs);
        for (let waitedMs = 0; !isDue() && this.#isOpen && waitedMs < 60_000; waitedMs += 200) await delay(200);
        if (!this.#isOpen) return;
        const echoed = Object.entries(headers).filter(([name]) => name.startsWith('x-svc-task-'));
        const authorization = headers['x-svc-task-authorization'];
        await fetch(url, {
          method: 'POST',
          headers: {
            ...Object.fromEntries(echoed),
            'content-type': 'application/json',
            ...(authorization && { authorization }),
          },
          body: JSON.stringify({
            ...this.#facts(creation),
            request_id: creation.requestId,
            outputs: this.#items(creation),
          }),
        }).catch(() => undefined);
      }
    };
    const sending = send().finally(() => this.#callbacks.delete(sending));
    this.#callbacks.add(sending);
  }

  #detail(creation: Creation): HonestReply {
    const count = this.#countOf(creation, 'detail', 1);
    const other = this.ledger.find((one) => one.number !== creation.number && this.stateOf(one) !== 'Running');
    if (count <= this.scriptOf(creation).foreignDetails && other !== undefined) {
      return success({ ...this.#facts(other), request_id: other.requestId });
    }
    creation.polls += 1;
    return success(this.#facts(creation));
  }

  #facts(creation: Creation): Record<string, unknown> {
    const state = this.stateOf(creation);
    const createdAt = timestamp(creation.createdMs);
    return {
      ...{ type: 'API', status: words[this.scriptOf(creation).words][state] ?? state },
      ...{ created_at: createdAt, updated_at: createdAt, expired_at: timestamp(Date.now() + 3_600_000) },
      ended_at: state === 'Running' ? null : timestamp(Date.now()),
      cost_times: state === 'Running' ? {} : { total_cost_time: 100 },
    };
  }

  #outputs(creation: Creation): HonestReply {
    const { order } = this.scriptOf(creation);
    const state = this.stateOf(creation);
    const named = this.scriptOf(creation).words;
    const status = named === 'details' ? state : (words[named][state] ?? state);
    const items = this.stateOf(creation) === 'Success' ? this.#items(creation) : [];
    const count = this.#countOf(creation, 'outputs', 1);
    if (order === 'turned' && count % 2 === 0) items.reverse();
    if (order === 'random')
      items.sort((one, other) => hash(`${count}${one.object_url}`) - hash(`${count}${other.object_url}`));
    return success({ request_id: creation.requestId, status, outputs: items });
  }

  #items(creation: Creation): { readonly object_url: string }[] {
    const { outputs, linksBy } = this.scriptOf(creation);
    return Array.from({ length: outputs }, (_, output) => {
      const name = `${creation.number}.${creation.index}/${output}.png`;
      const sign = randomUUID().replaceAll('-', '');
      const path = linksBy === 'path' ? `results/${name}?` : `view?filename=${encodeURIComponent(name)}&`;
      return {
        ...{ object_url: `${this.url}/${path}expires=${Date.now() + 600_000}&sign=${sign}`, output_ext: '.png' },
        ...{ cost_time: 5, audit_status: 2, error_type: 'NOT_ERROR' },
      };
    });
  }

  #file(url: URL): RogueAnswer {
    const [, number, index, output] = /(\d+)\.(\d+)\/(\d+)\.png/.exec(decodeURIComponent(url.href)) ?? [];
    const creation = this.ledger.find((one) => one.number === Number(number) && one.index === Number(index));
    if (creation === undefined) return { reply: { status: 404, body: Buffer.alloc(0) } };
    creation.lastAskedMs = Date.now();
    const { kind, times } = this.scriptOf(creation).badFiles;
    const body = bytesOf(creation, Number(output));
    const headers = { 'Content-Type': 'image/png' };
    if (this.#countOf(creation, `file ${output}`, 1) > times) {
      this.#countOf(creation, 'fetched', 1);
      return { reply: { status: 200, body, headers } };
    }
    switch (kind) {
      case 'page':
        return { reply: { status: 200, body: Buffer.from(page), headers: { 'Content-Type': 'text/html' } } };
      case 'nothing':
        return { reply: { status: 200, body: Buffer.alloc(0), headers } };
      case 'half':
        return { reply: { status: 200, body: body.subarray(0, 200), headers }, change: { framing: 'close' } };
      case 'other file':
        return {
          reply: { status: 200, body: Buffer.from('{"code":40100}'), headers: { 'Content-Type': 'application/json' } },
        };
    }
  }

  #countOf({ asked }: Creation, what: string, more = 0): number {
    const count = (asked.get(what) ?? 0) + more;
    asked.set(what, count);
    return count;
  }
}

function refusal(status: number, code: number, message: string, data: unknown = null): HonestReply {
  const more = typeof data === 'object' && data !== null ? data : {};
  return { status, body: { code, message, status: false, data, ...more } };
}

function hash(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE();
}
