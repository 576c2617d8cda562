import { randomBytes, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { temporal } from '@temporalio/proto';
import type { LedgerEntry } from '../../reference-service/ledger';
import { Longhaul } from '../../src/client/longhaul';
import type { TaskHandle } from '../../src/client/task/task-handle';
import { recommendedPollBounds } from '../../src/core/poll-cadence';
import { longHistoryEvents } from '../../src/core/workflow-tasks';
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

/** How many; `WATCHES=400` takes minutes. */
const watches = Number(process.env['WATCHES'] ?? 40);
/** Enough for a history to be as long as any gets. */
const manyPolls = 20;

describe(`a rolling restart under ${watches} tasks that are watched by timer`, () => {
  it('is over within a minute, and no workflow task times out on a worker that goes on', async () => {
    const { client, service } = stack;
    const taskQueue = `test-${randomUUID()}`;
    const longhaul = new Longhaul({ client, taskQueue });
    const start = () => stack.startWorker(stack.env, taskQueue);
    const earlier = new Set(service.ledger.entries({ endpoint: 'detail' }).map(({ requestId }) => requestId));
    const polls = () =>
      service.ledger.entries({ endpoint: 'detail' }).filter(({ requestId }) => !earlier.has(requestId));
    const workers = [await start(), await start()];
    service.scenarios.add({ endpoint: 'create', scenario: { name: 'hold' }, times: Infinity });
    const poll = watches > 40 ? recommendedPollBounds : { minMs: 500, maxMs: 1_000 };
    const tasks: TaskHandle[] = [];
    for (let n = 0; n < watches; n += 1) {
      tasks.push(
        await longhaul.start({ key: randomUUID(), webAppId: 5, inputs: {}, watch: 'timer', tuning: { poll } }),
      );
    }
    const known = await eventually(
      () => {
        const counts = new Map<string, number>();
        for (const { requestId = '' } of polls()) counts.set(requestId, (counts.get(requestId) ?? 0) + 1);
        const isEnough = counts.size >= watches && [...counts.values()].every((count) => count >= manyPolls);
        return isEnough ? [...counts.keys()] : undefined;
      },
      { withinMs: 900_000, everyMs: 1_000, what: `${manyPolls} polls of each task` },
    );
    const requestIds = known ?? [];
    const runs = await Promise.all(tasks.map(({ workflowId }) => client.workflow.getHandle(workflowId).describe()));

    const beginMs = Date.now();
    for (const worker of workers) {
      await worker.stop();
      await start();
    }
    const renewedMs = Date.now();
    const isPolled = () => {
      const later = polls().filter(({ at }) => Date.parse(at) > renewedMs);
      return new Set(later.map(({ requestId }) => requestId)).size >= watches;
    };
    await eventually(isPolled, { withinMs: 300_000, everyMs: 200, what: 'a poll of each task by the new workers' });
    const endMs = Date.now();
    const histories = await Promise.all(
      runs.map(({ workflowId, runId }) => client.workflow.getHandle(workflowId, runId).fetchHistory()),
    );
    const events = histories.map((history) => history.events ?? []);
    // What is handed to a worker in its last moment is lost by the SDK: only those that go on are meant.
    const stopped = workers.map(({ pid }) => `${pid}@`);
    const timedOut = events.flatMap((all) => {
      const begun = new Map(
        all.map((event) => [String(event.eventId), event.workflowTaskStartedEventAttributes?.identity]),
      );
      return all.flatMap(({ workflowTaskTimedOutEventAttributes: end }) => {
        if (end?.timeoutType !== temporal.api.enums.v1.TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE) return [];
        return begun.get(String(end.startedEventId)) ?? '';
      });
    });
    const lost = timedOut.filter((identity) => stopped.some((pid) => identity.startsWith(pid)));
    const lengths = events.map(({ length }) => length);
    if (process.env['TELL'] === '1') {
      const seconds = (ms: number) => Math.round(ms / 100) / 10;
      const waits = requestIds.map((id) =>
        longestPauseMs(
          polls().filter(({ requestId }) => requestId === id),
          beginMs,
        ),
      );
      const figures = {
        restart: seconds(renewedMs - beginMs),
        all: seconds(endMs - renewedMs),
        longestPause: seconds(Math.max(...waits)),
        longestHistory: Math.max(...lengths),
        timedOut: timedOut.length - lost.length,
        lost: lost.length,
      };
      process.stdout.write(`${JSON.stringify(figures)}\n`);
    }
    expect(timedOut).toEqual(lost);
    expect(Math.max(...lengths)).toBeLessThan(longHistoryEvents + 30);
    expect(endMs - renewedMs).toBeLessThan(60_000);

    service.scenarios.clear();
    for (const id of requestIds) service.release(id);
    const ends = await Promise.all(tasks.map((task) => task.result()));
    expect(ends.filter(({ status }) => status !== 'Success')).toEqual([]);
  }, 1_800_000);
});

function longestPauseMs(polls: readonly LedgerEntry[], fromMs: number): number {
  const times = polls.map(({ at }) => Date.parse(at));
  return Math.max(...times.map((ms, index) => (ms < fromMs ? 0 : ms - (times[index - 1] ?? ms))));
}
