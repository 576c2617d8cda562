import { randomUUID } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Connection } from '@temporalio/client';
import { temporal as temporalApi } from '@temporalio/proto';
import { NativeConnection } from '@temporalio/worker';
import { loadReceiverConfig } from '../../../src/config/callback-config';
import { loadWorkerConfig } from '../../../src/config/worker-config';
import { type RunningReceiver, startReceiver } from '../../../src/receiver';
import { createLogger } from '../../../src/worker/logger';
import { type RunningWorker, startWorker } from '../../../src/worker';
import { eventually } from '../../support/eventually';
import { workflowBundle } from '../../support/product-build';
import { quietRuntime } from '../../support/quiet-runtime';
import { RestartableTemporal } from '../../support/restartable-temporal';
import { temporaryFolder } from '../../support/temporary-folder';
import { connectClient } from '../../support/temporal-connection';

const probeEveryMs = 200;
const patience = { withinMs: 60_000, everyMs: 100 };

const { TASK_QUEUE_TYPE_WORKFLOW, TASK_QUEUE_TYPE_ACTIVITY } = temporalApi.api.enums.v1.TaskQueueType;

let connection: Connection;
let temporal: RestartableTemporal;
let folder: ReturnType<typeof temporaryFolder>;
let archive: string;
let worker: RunningWorker;
let receiver: RunningReceiver;
const taskQueue = `test-${randomUUID()}`;
let start: (env: NodeJS.ProcessEnv, queue?: string) => Promise<RunningWorker>;
const log: string[] = [];
const closers: (() => Promise<void> | void)[] = [];

beforeAll(async () => {
  quietRuntime();
  temporal = await RestartableTemporal.start();
  closers.push(() => temporal.stop());
  folder = temporaryFolder();
  closers.push(folder.remove);
  archive = join(folder.path, 'archive');
  mkdirSync(archive);
  writeFileSync(join(archive, '.archive-id'), 'the first one\ndefault\n');
  const logger = createLogger({ level: 'info', destination: { write: (line) => void log.push(line) } });
  const native = await NativeConnection.connect({ address: temporal.address });
  closers.push(() => native.close());
  connection = await connectClient(temporal.address);
  closers.push(() => connection.close());
  const bundle = await workflowBundle();
  start = (env, queue = `test-${randomUUID()}`) =>
    startWorker({
      config: loadWorkerConfig({
        ...{ LONGHAUL_SERVICE_URL: 'http://127.0.0.1:9', LONGHAUL_API_KEY: 'key-0815' },
        ...{ LONGHAUL_ARCHIVE: archive, LONGHAUL_HEALTH_ADDRESS: '127.0.0.1:0' },
        ...env,
      }).config,
      ...{ connection: native, namespace: 'default', taskQueue: queue, logger, probeEveryMs },
      workflowBundle: bundle,
    });
  worker = await start({}, taskQueue);
  closers.push(async () => {
    worker.shutdown();
    await worker.stopped;
  });
  receiver = await startReceiver({
    config: loadReceiverConfig({
      ...{ LONGHAUL_CALLBACK_URL: 'http://127.0.0.1/callback', LONGHAUL_CALLBACK_PORT: '0' },
      LONGHAUL_CALLBACK_TOKEN: 'token-of-the-callback-receiver',
    }).config,
    ...{ connection, namespace: 'default', logger, probeEveryMs },
  });
  closers.push(async () => {
    receiver.shutdown();
    await receiver.stopped;
  });
});
afterAll(async () => {
  for (const close of closers.reverse()) await close();
});

/** What the worker's health endpoint answers under this path. */
async function workerAnswers(path: '/live' | '/ready' | '/health'): Promise<{ status: number; parts: unknown }> {
  const response = await fetch(new URL(path, worker.healthUrl));
  const { parts } = (await response.json()) as { parts?: unknown };
  return { status: response.status, parts };
}

async function receiverAnswers(path: '/live' | '/ready'): Promise<number> {
  return (await fetch(`http://127.0.0.1:${receiver.port}${path}`)).status;
}

const whenWorker = (path: '/ready', status: number) =>
  eventually(
    async () => {
      const answer = await workerAnswers(path);
      return answer.status === status && answer;
    },
    { ...patience, what: `${path} of the worker to be ${status}` },
  );
const whenReceiver = (status: number) =>
  eventually(async () => (await receiverAnswers('/ready')) === status, {
    ...patience,
    what: `/ready of the receiver to be ${status}`,
  });

const allOk = { temporal: 'ok', archive: 'ok', workers: 'ok' };

describe('a worker and a receiver', () => {
  it('are ready, and the worker says that it has started, once Temporal knows that it polls each of its queues', async () => {
    await whenWorker('/ready', 200);
    expect(log.filter((line) => line.includes('"msg":"worker started"'))).toHaveLength(1);
    const suffixes = ['', '-transfer', '-archive', '-watch'];
    const asked = [
      { name: taskQueue, taskQueueType: TASK_QUEUE_TYPE_WORKFLOW },
      ...suffixes.map((suffix) => ({ name: taskQueue + suffix, taskQueueType: TASK_QUEUE_TYPE_ACTIVITY })),
    ];
    for (const { name, taskQueueType } of asked) {
      const request = { namespace: 'default', taskQueue: { name }, taskQueueType };
      expect((await connection.workflowService.describeTaskQueue(request)).pollers).toHaveLength(1);
    }
  });

  it('are alive, and not ready from the moment that Temporal stops until it answers again', async () => {
    expect(await whenWorker('/ready', 200)).toEqual({ status: 200, parts: allOk });
    await whenReceiver(200);

    await temporal.kill();
    expect(await whenWorker('/ready', 503)).toMatchObject({ parts: { temporal: 'not ready', archive: 'ok' } });
    await whenReceiver(503);
    expect((await workerAnswers('/live')).status).toBe(200);
    expect(await receiverAnswers('/live')).toBe(200);

    await temporal.startAgain();
    expect(await whenWorker('/ready', 200)).toMatchObject({ parts: allOk });
    await whenReceiver(200);
  });

  it('is not ready while its archive takes no write, and logs why', async () => {
    await whenWorker('/ready', 200);
    renameSync(archive, `${archive}-away`);
    writeFileSync(archive, 'no folder');
    try {
      const { parts } = (await whenWorker('/ready', 503)) as { parts: unknown };
      expect(parts).toEqual({ ...allOk, archive: 'not ready' });
      expect((await workerAnswers('/live')).status).toBe(200);
      const lines = log.map((line) => JSON.parse(line) as { msg: string; part?: string });
      expect(lines).toContainEqual(expect.objectContaining({ msg: 'not ready', part: 'archive', level: 'warn' }));
    } finally {
      rmSync(archive);
      renameSync(`${archive}-away`, archive);
    }
    await whenWorker('/ready', 200);
  });

  it('is not ready with another archive in the place of the one that it began with', async () => {
    await whenWorker('/ready', 200);
    writeFileSync(join(archive, '.archive-id'), 'another one\ndefault\n');
    expect(await whenWorker('/ready', 503)).toMatchObject({ parts: { archive: 'not ready' } });
    writeFileSync(join(archive, '.archive-id'), 'the first one\ndefault\n');
    await whenWorker('/ready', 200);
  });

  it('is not ready while less is free than the reserve, and its log says how much', async () => {
    const full = await start({ LONGHAUL_ARCHIVE_RESERVE_BYTES: '900000000000000' });
    closers.push(async () => {
      full.shutdown();
      await full.stopped;
    });
    const ready = await eventually(
      async () => {
        const response = await fetch(new URL('/ready', full.healthUrl));
        const { parts } = (await response.json()) as { parts: Record<string, string> };
        return parts['temporal'] === 'ok' && parts['workers'] === 'ok' ? { status: response.status, parts } : undefined;
      },
      { ...patience, what: 'the other parts to be ready' },
    );

    expect(ready).toEqual({ status: 503, parts: { temporal: 'ok', archive: 'not ready', workers: 'ok' } });
    const said = await eventually(() =>
      log.find((line) => line.includes('"msg":"not ready"') && line.includes('reserve')),
    );
    expect(said).toMatch(/ has [\d.]+ [kMGT]?B free, .* reserve of 900\.0 TB \(LONGHAUL_ARCHIVE_RESERVE_BYTES\)/);
  });

  it('is alive and not ready while it stops', async () => {
    worker.shutdown();
    // Both at once: a worker without work stops soon, and its endpoint with it.
    const [ready, live] = await Promise.all([workerAnswers('/ready'), workerAnswers('/live')]);
    expect(ready).toMatchObject({ status: 503, parts: { workers: 'not ready' } });
    expect(live.status).toBe(200);
  });
});
