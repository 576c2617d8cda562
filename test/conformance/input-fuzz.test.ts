import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { Agent, request } from 'undici';
import type { ReferenceService } from '../../reference-service/start-reference-service';
import { eventually } from '../support/eventually';
import { useFuzzSeed } from '../support/fuzz-seed';
import { startRawServer } from '../support/start-raw-server';
import { dataOf, fieldsOf, isSuccess } from './answers';
import { checkClause } from './check-clause';
import {
  anyHttpAnswer,
  bodyText,
  commitBody,
  createBody,
  headerName,
  headerValue,
  pictureWithOddBytes,
  query,
  rawRequest,
} from './fuzz-values';
import { clauses } from './clauses';
import { ENDPOINTS } from './plain-http';
import { shortPace, startReferenceTarget, type ReferenceTarget } from './reference-target';
import { sampleFile } from './sample-files';
import { openServiceContext } from './service-context';
import { errorCode } from '../../src/core/text';

const TIMEOUT_MS = 10_000;
const RUNS = Number(process.env['RUNS'] ?? 150);
const LIFETIME_MS = 10 * 60_000;
/** How many files and answers are tried at the same time. */
const AT_ONCE = 24;

useFuzzSeed();

let target: ReferenceTarget['target'];
let service: ReferenceService;
const agent = new Agent({ bodyTimeout: TIMEOUT_MS, headersTimeout: TIMEOUT_MS });

beforeAll(async () => {
  // Links and credentials that last: on a busy machine, those of a few seconds end between a list and its create.
  const lifetimes = { linkLifetimeMs: LIFETIME_MS, credentialLifetimeMs: LIFETIME_MS };
  ({ target, service } = await startReferenceTarget(shortPace, { page: false, ...lifetimes }));
});

afterAll(async () => {
  await agent.destroy();
  await service.stop();
});

interface Sent {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH' | 'OPTIONS';
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends it with the key, and expects a success or a refusal in an envelope. Returns the body. */
async function expectAnswer({ method, path, body, headers }: Sent): Promise<unknown> {
  const answer = await request(`${service.url}${path}`, {
    method,
    headers: { 'Content-Type': 'application/json', ...headers, Authorization: `Bearer ${service.apiKey}` },
    body: body === undefined ? null : Buffer.from(body),
    dispatcher: agent,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const content = await answer.body.text();
  const json: unknown = JSON.parse(content);
  const { code, message, status } = fieldsOf(json);
  const isSuccess = answer.statusCode === 200 || answer.statusCode === 202;
  const isRefusal = answer.statusCode >= 400 && answer.statusCode < 500;
  expect({ isExpected: isSuccess || isRefusal, status: answer.statusCode, content }).toMatchObject({
    isExpected: true,
  });
  expect(isSuccess || (Number.isInteger(code) && typeof message === 'string' && status === false)).toBe(true);
  expect(content).not.toContain(service.apiKey);
  return json;
}

/** As above; a task that comes of it is canceled before it can compute anything large. */
async function expectCreateAnswer(sent: Pick<Sent, 'body' | 'headers'>): Promise<void> {
  const json = await expectAnswer({ method: 'POST', path: ENDPOINTS.create.path, ...sent });
  const { requestId } = fieldsOf(json);
  if (typeof requestId !== 'string') return;
  await expectAnswer({ method: 'PUT', path: `${ENDPOINTS.cancel.path}?requestId=${requestId}` });
}

describe('whatever the service is asked', () => {
  it('a create has an answer, for any body', async () => {
    await fc.assert(
      fc.asyncProperty(bodyText(createBody), (body) =>
        expectCreateAnswer({ body, headers: { 'X-Svc-Task-Async': 'enable' } }),
      ),
      { numRuns: 2 * RUNS },
    );
  });

  it('a create has an answer, for any header', async () => {
    const body = JSON.stringify({ web_app_id: 5, input_values: {} });
    await fc.assert(
      fc.asyncProperty(fc.dictionary(headerName, headerValue, { maxKeys: 4 }), (headers) =>
        expectCreateAnswer({ body, headers: { ...headers, 'X-Svc-Task-Async': 'enable' } }),
      ),
      { numRuns: RUNS },
    );
  });

  it('a commit has an answer, for any body', async () => {
    await fc.assert(
      fc.asyncProperty(bodyText(commitBody), async (body) => {
        await expectAnswer({ method: 'POST', path: ENDPOINTS.commit.path, body });
      }),
      { numRuns: RUNS },
    );
  });

  it.each(['detail', 'outputs', 'cancel', 'interrupt', 'token', 'list', 'metadata'] as const)(
    '%s has an answer, for any query',
    async (name) => {
      await fc.assert(
        fc.asyncProperty(query, async (pairs) => {
          const { method, path } = ENDPOINTS[name];
          await expectAnswer({ method, path: `${path}?${new URLSearchParams(pairs.map(wellFormed)).toString()}` });
        }),
        { numRuns: 150 },
      );
    },
  );

  it('any method and path has an answer, percent signs that encode nothing included', async () => {
    const method = fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS');
    const part = fc.oneof(
      fc.webSegment(),
      fc.constantFrom('%', '%zz', '%00', '%2e%2e', '..', '__control', 'page', 'w', 'v1', '*'),
    );
    const path = fc.array(part, { maxLength: 6 }).map((parts) => `/${parts.join('/')}`);
    await fc.assert(
      fc.asyncProperty(method, path, async (theMethod, thePath) => {
        await expectAnswer({ method: theMethod, path: thePath });
      }),
      { numRuns: RUNS },
    );
  });

  it('bytes that are no HTTP are answered by a 4xx, or the connection is closed', async () => {
    await fc.assert(
      fc.asyncProperty(rawRequest(), async (bytes) => {
        expect(await sendRaw(bytes)).toMatch(/^($|HTTP\/1\.1 (4\d\d|200|505) )/);
      }),
      { numRuns: 100 },
    );
  });

  it('a file with any content is taken, and the task that loads it ends', async () => {
    const context = await openServiceContext(target);
    const anyFile = fc.oneof(fc.uint8Array({ maxLength: 2_000 }), pictureWithOddBytes());
    const load = async (bytes: Uint8Array): Promise<void> => {
      const { put, commit, objectKey } = await context.uploads.upload({
        ...sampleFile('image'),
        bytes: Buffer.from(bytes),
      });
      expect([put, isSuccess(commit), commit.text]).toEqual(['stored', true, commit.text]);
      const inputs = { '1:LoadImage.image': await context.uploads.freshUrl(objectKey) };
      const created = await context.http.ask('create', { body: { web_app_id: 1, input_values: inputs } });
      expect(`${String(dataOf(created)['status'])} ${created.text}`).toMatch(/^(Success|Failed) /);
    };
    try {
      const files = fc.array(anyFile, { minLength: AT_ONCE, maxLength: AT_ONCE });
      await fc.assert(
        fc.asyncProperty(files, async (those) => {
          await Promise.all(those.map(load));
        }),
        { numRuns: 1, endOnFailure: true },
      );
    } finally {
      await context.close();
    }
  });

  it('a receiver of callbacks may answer anything', async () => {
    const anyAnswer = fc.oneof(fc.uint8Array({ maxLength: 200 }), anyHttpAnswer());
    await fc.assert(
      fc.asyncProperty(fc.array(anyAnswer, { minLength: AT_ONCE, maxLength: AT_ONCE }), async (answers) => {
        const left = [...answers];
        const receiver = await startRawServer({ onFirstBytes: (socket) => socket.end(left.pop() ?? '') });
        try {
          const body = JSON.stringify({ web_app_id: 5, input_values: {} });
          const headers = { 'X-Svc-Task-WebHook-Url': receiver.url };
          const created = await Promise.all(
            answers.map(() => expectAnswer({ method: 'POST', path: ENDPOINTS.create.path, body, headers })),
          );
          const tasks = created.map((json) => service.tasks.find(String(fieldsOf(json)['requestId'])));
          await eventually(() => tasks.every((task) => (task?.callbackAttempts.length ?? 0) > 0));
        } finally {
          await receiver.close();
        }
      }),
      { numRuns: 1, endOnFailure: true },
    );
  });

  it('and it still works afterwards, with nothing left of what was refused', async () => {
    const context = await openServiceContext(target);
    try {
      const basic = clauses.filter(({ section }) => ['1', '2.1', '4.1', '4.3', '4.7'].includes(section));
      const verdicts = await Promise.all(basic.map((clause) => checkClause(clause, context)));

      expect(new Set(verdicts.map((verdict) => verdict?.outcome))).toEqual(new Set(['holds']));
      expect(Object.prototype).not.toHaveProperty('a');
    } finally {
      await context.close();
    }
  });
});

/** Lone surrogates have no UTF-8; URLSearchParams would replace them anyway. */
function wellFormed([name, value]: readonly [string, string]): [string, string] {
  return [Buffer.from(name).toString(), Buffer.from(value).toString()];
}

/** Sends bytes and hangs up; the answer until then. */
async function sendRaw(bytes: Buffer): Promise<string> {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('neither an answer nor an end')));
  socket.end(bytes);
  return text(socket).catch((error: unknown) => {
    if (errorCode(error) === 'ECONNRESET') return '';
    throw error;
  });
}
