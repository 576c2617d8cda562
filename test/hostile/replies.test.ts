import { inspect } from 'node:util';
import fc from 'fast-check';
import { ServiceClient, ServiceError } from '../../src/service';
import { useFuzzSeed } from '../support/fuzz-seed';
import { endpointAt, fieldsOf, success, type RogueEndpoint } from './rogue/honest-replies';
import { anyReplyChange } from './rogue/nasty';
import { startRogueServer, type RogueServer } from './rogue/rogue-server';
import type { HonestReply, ReplyChange } from './rogue/wire-reply';

const API_KEY = 'sk-rogue-0123456789';
const TIMEOUT_MS = 400;
/** A busy machine, and a collection of garbage after a reply of 8 MiB. */
const LATE_MS = 8_000;
const RUNS_PER_METHOD = Number(process.env['REPLIES'] ?? 4_000) / 10;
const AT_ONCE = 40;
const TEST_TIMEOUT_MS = 300_000;

/** What is taken of one reply, at most: 8 MiB of body for each of the calls of a run, and as much again while it is read. */
const MOST_MEMORY_BYTES = 1024 * 1024 * 1024;
/** Longest text of a typed result: an error message is the longest; a link is longer still. */
const LONGEST_TEXT = 4_000;
const LONGEST_LINK = 32 * 1024;
/** Of the lists in a reply, that of the outputs may be the longest. */
const LONGEST_LIST = 20_000;
const LONGEST_MESSAGE = 5_000;

useFuzzSeed();

/** Every method with the endpoint that it asks. `isRaw`: what came is handed on as it came. */
const methods: readonly {
  readonly name: string;
  readonly endpoint: RogueEndpoint;
  readonly isRaw?: true;
  readonly call: (client: ServiceClient) => Promise<unknown>;
}[] = [
  { name: 'createTask', endpoint: 'create', call: (client) => client.createTask({ webAppId: 1, inputValues: {} }) },
  {
    name: 'createTaskSync',
    endpoint: 'create',
    isRaw: true,
    call: (client) => client.createTaskSync({ webAppId: 1, inputValues: {} }),
  },
  { name: 'getTask', endpoint: 'detail', call: (client) => client.getTask('r1') },
  { name: 'getOutputs', endpoint: 'outputs', call: (client) => client.getOutputs('r1') },
  { name: 'cancelTask', endpoint: 'cancel', call: (client) => client.cancelTask('r1') },
  { name: 'interruptTask', endpoint: 'interrupt', call: (client) => client.interruptTask('r1') },
  { name: 'getUploadToken', endpoint: 'token', call: (client) => client.getUploadToken('photo.png') },
  {
    name: 'commitInput',
    endpoint: 'commit',
    call: (client) => client.commitInput({ name: 'photo.png', objectKey: 'inputs/a.png' }),
  },
  { name: 'listInputs', endpoint: 'list', call: (client) => client.listInputs() },
  { name: 'getUserMetadata', endpoint: 'metadata', isRaw: true, call: (client) => client.getUserMetadata() },
];

const honest: Readonly<Record<RogueEndpoint, HonestReply>> = {
  create: { status: 202, body: { requestId: 'r1' } },
  detail: success({
    type: 'API',
    status: 'Running',
    created_at: '2026-01-01 00:00:00',
    ended_at: null,
    queue_info: { queue_count: 3 },
    cost_times: { total_cost_time: 5 },
  }),
  outputs: success({ request_id: 'r1', status: 'Success', outputs: [item(), item()] }),
  cancel: success(null),
  interrupt: success(null),
  token: success({
    file: { object_key: 'inputs/1/a.png', access_key_id: 'i', access_key_secret: 's', security_token: 't' },
    storage: { endpoint: 'http://localhost:9', bucket: 'b', region: 'oss-cn-x' },
  }),
  commit: success({ id: 1, name: 'photo.png', ext: '.png', url: 'http://127.0.0.1:9/a' }),
  list: success({
    list: [{ id: 1, name: 'photo.png', ext: '.png', url: 'http://127.0.0.1:9/a' }],
    total: 1,
    current: 1,
    page_size: 20,
  }),
  metadata: success({ id: 'me' }),
  put: { status: 200, body: '' },
  result: { status: 200, body: '' },
};

const changes: (ReplyChange | undefined)[] = [];
let server: RogueServer;
let clients: readonly ServiceClient[];

beforeAll(async () => {
  server = await startRogueServer(({ method, target }) => {
    const [, index = '', path = ''] = /^\/(\d+)([^?]*)/.exec(target) ?? [];
    return { reply: honest[endpointAt(method, path)], change: changes[Number(index)] };
  });
  const timeouts = { connectMs: TIMEOUT_MS, readMs: TIMEOUT_MS, createMs: TIMEOUT_MS, syncMs: TIMEOUT_MS };
  clients = Array.from({ length: AT_ONCE }, (_, index) => {
    return new ServiceClient({ baseUrl: `http://127.0.0.1:${server.port}/${index}`, apiKey: API_KEY, timeouts });
  });
});

afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await server.close();
});

describe('whatever the service replies', () => {
  it.each(methods)(
    '$name gives a bounded result or a ServiceError, in time, and no key',
    async ({ endpoint, call, isRaw }) => {
      const replies = fc.array(anyReplyChange(fieldsOf[endpoint], 1), {
        minLength: 1,
        maxLength: AT_ONCE,
        size: 'max',
      });
      await fc.assert(
        fc.asyncProperty(replies, async (those) => {
          const before = process.memoryUsage();
          const broken = await Promise.all(
            those.map((change, index) => problemsOf(change, index, call, isRaw === true)),
          );
          const after = process.memoryUsage();
          expect(broken.flat()).toEqual([]);
          expect(after.rss - before.rss).toBeLessThan(MOST_MEMORY_BYTES);
          expect(Object.prototype).not.toHaveProperty('polluted');
        }),
        { numRuns: Math.ceil(RUNS_PER_METHOD / (AT_ONCE / 2)), interruptAfterTimeLimit: TEST_TIMEOUT_MS / 2 },
      );
    },
    TEST_TIMEOUT_MS,
  );

  it('a create whose request went out is never taken for one that was not sent', async () => {
    await fc.assert(
      fc.asyncProperty(anyReplyChange(fieldsOf.create, 1), async (change) => {
        changes[0] = change;
        const created = await clients[0]!.createTask({ webAppId: 1, inputValues: {} });
        expect(created.outcome).toMatch(/^(accepted|rejected|uncertain)$/);
      }),
      { numRuns: 100 },
    );
  });
});

/** What a call that is answered so did, other than it should. */
async function problemsOf(
  change: ReplyChange,
  index: number,
  call: (client: ServiceClient) => Promise<unknown>,
  isRaw: boolean,
): Promise<string[]> {
  const client = clients[index];
  if (client === undefined) return [];
  changes[index] = change;
  const startedAtMs = performance.now();
  const [value, error] = await call(client).then(
    (result): [unknown, unknown] => [result, undefined],
    (thrown: unknown): [unknown, unknown] => [undefined, thrown],
  );
  const tookMs = performance.now() - startedAtMs;
  const problems = [...(isRaw ? [] : unboundedIn(value, 'the result')), ...problemsOfError(error)];
  if (tookMs > TIMEOUT_MS + LATE_MS) problems.push(`it took ${Math.round(tookMs)} ms`);
  if (!isRaw && shown(value).includes(API_KEY)) problems.push('the result holds the API key');
  return problems;
}

/** A result as JSON without its links: one is handed on as it came, and is a secret itself. */
function shown(value: unknown): string {
  return JSON.stringify({ value }, (name, part: unknown) => (/url$/i.test(name) ? '' : part));
}

function problemsOfError(error: unknown): string[] {
  if (error === undefined) return [];
  if (!(error instanceof ServiceError)) return [`it threw ${inspect(error).slice(0, 500)}`];
  const problems: string[] = [];
  if (error.message.length > LONGEST_MESSAGE) problems.push(`an error message has ${error.message.length} characters`);
  if (/[\p{Cc}\p{Cf}]/u.test(error.message))
    problems.push(`an error message is not printable: ${JSON.stringify(error.message).slice(0, 500)}`);
  if (inspect(error, { depth: 20 }).includes(API_KEY)) problems.push('the error holds the API key');
  return problems;
}

/** Where a result has more than any history, memo or screen takes. */
function unboundedIn(value: unknown, place: string): string[] {
  if (typeof value === 'string') {
    const most = /url$/i.test(place) ? LONGEST_LINK : LONGEST_TEXT;
    return value.length > most ? [`${place} has ${value.length} characters`] : [];
  }
  if (typeof value === 'number') return Number.isFinite(value) ? [] : [`${place} is ${value}`];
  if (typeof value !== 'object' || value === null) return [];
  const entries = Object.entries(value);
  if (entries.length > LONGEST_LIST) return [`${place} has ${entries.length} entries`];
  return entries.flatMap(([name, part]) => [
    ...(name.length > LONGEST_TEXT ? [`a name in ${place} has ${name.length} characters`] : []),
    ...unboundedIn(part, `${place}.${name.slice(0, 40)}`),
  ]);
}

function item(): Record<string, unknown> {
  return {
    object_url: 'http://127.0.0.1:9/a.png',
    output_ext: '.png',
    cost_time: 5,
    audit_status: 2,
    error_type: 'NOT_ERROR',
  };
}
