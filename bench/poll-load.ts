import { setTimeout as delay } from 'node:timers/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { CancelledFailure } from '@temporalio/activity';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { Agent, request } from 'undici';
import { watchTask } from '../src/activities/watch-task';
import type { WatchTaskInput } from '../src/contract/activities';
import { unseenTask } from '../src/core/task-state';
import { ServiceClient } from '../src/service';
import { PollLimiter } from '../src/service/account-gate';
import { supervise } from '../tools/supervise';

const USAGE = `Usage: npm run bench:poll -- [options]

Watches tasks by the activity alone, in this process, and prints how much of the processor a poll takes here, beside a bare
HTTP request of the same reply at the same rate. The service is a process of its own that always answers "Running".

  --tasks NUMBER    how many are watched (default: 5000)
  --every NUMBER    seconds between two polls of a task (default: 2)
  --seconds NUMBER  how long each round is measured (default: 15)
  --rounds NUMBER   how many times, watch and bare requests in turn (default: 3)
  --help            show this text
`;

/** A reply as the service gives it while a task runs. */
const running = JSON.stringify({
  code: 20000,
  message: 'Ok',
  data: { requestId: 'request-1', status: 'Running', queue_count: 0, created_at: '2026-01-01 00:00:00' },
});
const hourMs = 3_600_000;
const connections = 48;

interface Round {
  readonly polls: number;
  readonly cpuMs: number;
  readonly tookMs: number;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      tasks: { type: 'string', default: '5000' },
      every: { type: 'string', default: '2' },
      seconds: { type: 'string', default: '15' },
      rounds: { type: 'string', default: '3' },
      serve: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.serve) {
    serve();
    return;
  }
  const numbers = [values.tasks, values.every, values.seconds, values.rounds].map(Number);
  const [tasks = 0, every = 0, seconds = 0, rounds = 0] = numbers;
  if (values.help || !numbers.every((number) => number > 0)) {
    process.stdout.write(USAGE);
    process.exitCode = values.help ? 0 : 1;
    return;
  }
  const args = ['--import', require.resolve('tsx'), __filename, '--serve'];
  const service = await supervise({ command: process.execPath, args });
  try {
    const url = await whenServing(service);
    for (let round = 1; round <= rounds; round += 1) {
      tell(`watch, round ${round}`, await watchRound(url, tasks, every, seconds));
      tell(`bare requests, round ${round}`, await bareRound(url, tasks / every, seconds));
    }
  } finally {
    await service.stop();
  }
}

function serve(): void {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(running);
  });
  server.listen(0, '127.0.0.1', () => {
    process.stdout.write(`port ${(server.address() as AddressInfo).port}\n`);
  });
}

async function whenServing(service: { output(): string; isRunning(): boolean }): Promise<string> {
  for (;;) {
    const port = /port (\d+)/.exec(service.output())?.[1];
    if (port !== undefined) return `http://127.0.0.1:${port}`;
    if (!service.isRunning()) throw new Error(`The service did not start:\n${service.output()}`);
    await delay(50);
  }
}

function inputOf(index: number, everyMs: number): WatchTaskInput {
  return {
    account: 'default',
    requestId: `request-${index}`,
    known: unseenTask(0),
    poll: { minMs: everyMs, maxMs: everyMs },
    notVisibleGraceMs: hourMs,
    deadlinesMs: { queue: hourMs, run: hourMs, total: hourMs },
    startedAtMs: Date.now(),
    acceptedAtMs: Date.now(),
    returnOnChange: false,
  };
}

async function watchRound(url: string, tasks: number, every: number, seconds: number): Promise<Round> {
  const service = new ServiceClient({ baseUrl: url, apiKey: () => 'key' });
  let polls = 0;
  const getTask: ServiceClient['getTask'] = (requestId, options) => {
    polls += 1;
    return service.getTask(requestId, options);
  };
  const getOutputs: ServiceClient['getOutputs'] = (requestId, options) => service.getOutputs(requestId, options);
  const parts = {
    services: new Map([['default', { getTask, getOutputs }]]),
    limits: new Map([['default', { polls: new PollLimiter({ perSecond: 10_000 }) }]]),
  };
  const logger = new DefaultLogger('ERROR');
  const environments: MockActivityEnvironment[] = [];
  const watches = Array.from({ length: tasks }, async (_, index) => {
    // As they come in from Temporal, one after the other.
    await delay((every * 1_000 * index) / tasks);
    const environment = new MockActivityEnvironment({ heartbeatTimeoutMs: 30_000 }, { logger });
    environments.push(environment);
    await environment
      .run(() => watchTask(parts, inputOf(index, every * 1_000)))
      .catch((error: unknown) => {
        if (!(error instanceof CancelledFailure)) throw error;
      });
  });
  await delay(2.5 * every * 1_000);
  const round = await measured(seconds, () => polls);
  for (const environment of environments) environment.cancel('CANCELLED');
  await Promise.all(watches);
  await service.close();
  return round;
}

/** As many requests a second, each at its moment, with nothing but what HTTP takes. */
async function bareRound(url: string, perSecond: number, seconds: number): Promise<Round> {
  const dispatcher = new Agent({ connections });
  let requests = 0;
  const startedAtMs = performance.now();
  const timer = setInterval(() => {
    const due = ((performance.now() - startedAtMs) / 1_000) * perSecond;
    for (; requests < due; requests += 1) {
      void request(`${url}/detail?requestId=request-1`, { dispatcher, headers: { authorization: 'Bearer key' } }).then(
        async ({ body }) => body.json(),
      );
    }
  }, 5);
  await delay(1_000);
  const round = await measured(seconds, () => requests);
  clearInterval(timer);
  await dispatcher.close();
  return round;
}

async function measured(seconds: number, count: () => number): Promise<Round> {
  const before = { cpu: process.cpuUsage(), count: count(), atMs: performance.now() };
  await delay(seconds * 1_000);
  const { user, system } = process.cpuUsage(before.cpu);
  return { polls: count() - before.count, cpuMs: (user + system) / 1_000, tookMs: performance.now() - before.atMs };
}

function tell(what: string, { polls, cpuMs, tookMs }: Round): void {
  const rate = (polls / (tookMs / 1_000)).toFixed(0);
  process.stdout.write(`${what.padEnd(26)}${(cpuMs / polls).toFixed(4)} ms each, ${polls} of them, ${rate} a second\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
