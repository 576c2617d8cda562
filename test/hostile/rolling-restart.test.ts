import { randomBytes, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { TaskHandle } from '../../src/client/task/task-handle';
import { eventually } from '../support/eventually';
import { FaultProxy } from '../support/fault-proxy';
import { ProcessStack } from '../support/process-stack';

/** The reference service's app that hands a file back. */
const courier = 11;
const everyMs = 500;
const accounts = {
  old: { id: 'studio', apiKey: `old-${randomBytes(12).toString('hex')}` },
  next: { id: 'studio', apiKey: `new-${randomBytes(12).toString('hex')}` },
  second: { id: 'second', apiKey: `second-${randomBytes(12).toString('hex')}` },
};
const tuning = { retryMaxMs: 500, poll: { minMs: 100, maxMs: 300 } };

let stack: ProcessStack;
/** In front of the service: it refuses the keys that the service would not know at that moment. */
let gateway: FaultProxy;
const started: TaskHandle[] = [];

beforeAll(async () => {
  stack = await ProcessStack.open({ service: { accounts: Object.values(accounts) } });
  gateway = await FaultProxy.start(Number(new URL(stack.service.url).port));
  writeFileSync(join(stack.inputs, 'film.mp4'), randomBytes(1024));
});
afterAll(async () => {
  await stack.close();
  await gateway.close();
});

function refuse({ apiKey }: { readonly apiKey: string }): void {
  const body = JSON.stringify({ code: 401, message: 'unknown key', status: false, data: null });
  const text = `HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;
  gateway.inject({ markers: [apiKey], fault: { kind: 'answer', text }, times: Infinity });
}

async function startTasks(account: string, until: AbortSignal): Promise<void> {
  while (!until.aborted) {
    const inputs = { '1:LoadFile.file': { file: join(stack.inputs, 'film.mp4') } };
    started.push(await stack.longhaul.start({ key: randomUUID(), webAppId: courier, inputs, account, tuning }));
    await delay(everyMs);
  }
}

async function hasCreated(from: number): Promise<void> {
  await eventually(() => accepted().length > from, { withinMs: 60_000, what: 'further creates' });
}

function accepted(): string[] {
  return stack.service.ledger.entries({ endpoint: 'create' }).flatMap(({ requestId }) => requestId ?? []);
}

describe('a rolling restart that changes a key and adds an account while tasks run', () => {
  it('fails no task and pays none twice', async () => {
    const file = join(stack.inputs, '..', 'accounts.json');
    const env: NodeJS.ProcessEnv = {
      ...stack.env,
      LONGHAUL_SERVICE_URL: `http://127.0.0.1:${gateway.port}`,
      LONGHAUL_API_KEY: undefined,
      LONGHAUL_ACCOUNTS_FILE: file,
      LONGHAUL_ACCOUNT_PATIENCE: '10 minutes',
    };
    writeFileSync(file, JSON.stringify({ default: { apiKey: accounts.old.apiKey } }));
    refuse(accounts.next);
    const first = await stack.startWorker(env);
    const second = await stack.startWorker(env);
    const enough = new AbortController();
    const starting = [startTasks('default', enough.signal)];
    await hasCreated(3);

    // From here on there are tasks of an account that no worker knows, then one of two.
    starting.push(startTasks('second', enough.signal));
    writeFileSync(
      file,
      JSON.stringify({ default: { apiKey: accounts.next.apiKey }, second: { apiKey: accounts.second.apiKey } }),
    );
    await first.stop();
    const third = await stack.startWorker(env);
    // Until now the new worker's key was refused, from now on the old one's is.
    gateway.release();
    refuse(accounts.old);
    await hasCreated(accepted().length + 3);
    await second.stop();
    await stack.startWorker(env);
    await hasCreated(accepted().length + 3);
    enough.abort();
    await Promise.all(starting);

    const ends = await Promise.all(
      started.map((task) =>
        task.result().then(
          ({ status }) => status,
          (error: unknown) => String(error),
        ),
      ),
    );
    expect(ends.filter((end) => end !== 'Success')).toEqual([]);
    expect(accepted()).toHaveLength(started.length);
    expect(new Set(accepted()).size).toBe(started.length);
    expect(third.isRunning()).toBe(true);
  }, 240_000);
});
