import { randomBytes, randomUUID } from 'node:crypto';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, type WorkflowClientInterceptor } from '@temporalio/client';
import type { SupervisedProcess } from '../../tools/supervise';
import { traceHeader } from '../../src/contract/traces';
import { eventually } from '../support/eventually';
import { ProcessStack } from '../support/process-stack';
import { fastTuning } from '../support/task-environment';
import { photoFolder } from '../support/task-stack';
import { temporaryFolder } from '../support/temporary-folder';
import { TraceSink } from '../support/trace-sink';

let stack: ProcessStack;
let sink: TraceSink;
const folder = temporaryFolder();
beforeAll(async () => {
  [stack, sink] = await Promise.all([ProcessStack.open(), TraceSink.start()]);
  copyFileSync(join(photoFolder, 'rocket.jpg'), join(stack.inputs, 'rocket.jpg'));
});
afterAll(async () => {
  await stack.close();
  await sink.close();
  folder.remove();
});

/** A worker on a queue of its own, that writes at its end which modules it loaded. */
async function startWorker(env: NodeJS.ProcessEnv): Promise<{
  readonly worker: SupervisedProcess;
  readonly taskQueue: string;
  readonly loaded: () => string[];
  readonly log: () => string;
}> {
  const file = join(folder.path, `${randomUUID()}.json`);
  const program = join(folder.path, 'tell-modules.cjs');
  writeFileSync(
    program,
    `if (require('node:worker_threads').isMainThread) process.once('exit', () =>
      require('node:fs').writeFileSync(process.env.TELL_MODULES, JSON.stringify(Object.keys(require.cache))));`,
  );
  const taskQueue = `traces-${randomUUID()}`;
  const telling = { NODE_OPTIONS: `--require ${program}`, TELL_MODULES: file };
  const worker = await stack.startWorker({ ...stack.env, ...telling, ...env }, taskQueue);
  const logFile = stack.logFiles.at(-1) ?? '';
  return {
    worker,
    taskQueue,
    loaded: () => JSON.parse(readFileSync(file, 'utf8')) as string[],
    log: () => readFileSync(logFile, 'utf8'),
  };
}

async function runTask(taskQueue: string, args: object = {}): Promise<string> {
  const workflowId = `task:${randomUUID()}`;
  const inputs = { '1:LoadImage.image': { file: 'rocket.jpg' } };
  const input = { webAppId: 1, inputs, tuning: fastTuning, ...args };
  const task = await stack.client.workflow.start('task', {
    ...{ taskQueue, workflowId, args: [input] },
    workflowExecutionTimeout: '90 seconds',
  });
  await task.result();
  return workflowId;
}

describe('a worker without traces', () => {
  it('loads nothing of OpenTelemetry, runs no interceptor, and leaves no header in a history', async () => {
    // Set for every program of a machine: it turns nothing on.
    const { worker, taskQueue, loaded } = await startWorker({ OTEL_EXPORTER_OTLP_ENDPOINT: sink.url });
    const before = sink.requestCount;
    const workflowId = await runTask(taskQueue);
    const { events } = await stack.client.workflow.getHandle(workflowId).fetchHistory();
    await worker.stop();

    expect(loaded().length).toBeGreaterThan(100);
    expect(loaded().filter((path) => /@opentelemetry|lib\/traces\/|trace-interceptors/.test(path))).toEqual([]);
    expect(JSON.stringify(events)).not.toContain(traceHeader);
    expect(sink.requestCount).toBe(before);
  });
});

describe('a worker with traces', () => {
  it.each<[string, (traces: TraceSink) => string]>([
    [
      'refuses them',
      (traces) => {
        traces.mood = 'refuses';
        return traces.url;
      },
    ],
    [
      'never answers',
      (traces) => {
        traces.mood = 'hangs';
        return traces.url;
      },
    ],
    ['is not there', () => 'http://127.0.0.1:9'],
  ])('runs its tasks, says so once, and ends in time when the collector %s', async (_what, prepare) => {
    const url = prepare(sink);
    const { worker, taskQueue, log, loaded } = await startWorker({ LONGHAUL_TRACES_OTLP_URL: url });
    await runTask(taskQueue);
    await runTask(taskQueue, { watch: 'timer' });
    await eventually(() => log().includes('the collector of traces takes no spans'), { what: 'the line in the log' });
    await runTask(taskQueue);
    await worker.stop();
    const { code } = await worker.ended;
    sink.mood = 'takes';

    expect(code).toBe(0);
    expect(log().split('the collector of traces takes no spans')).toHaveLength(2);
    expect(loaded().some((path) => path.includes('@opentelemetry'))).toBe(true);
  });

  it('goes on with a task whose trace is anything', async () => {
    const { worker, taskQueue } = await startWorker({ LONGHAUL_TRACES_OTLP_URL: sink.url });
    const json = (value: unknown) => ({
      metadata: { encoding: Buffer.from('json/plain') },
      data: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
    });
    const headers = [
      json('not JSON {'),
      json({ traceparent: 7 }),
      json({ traceparent: `00-${'z'.repeat(32)}-${'0'.repeat(16)}-01` }),
      json([]),
      json(null),
      { metadata: { encoding: Buffer.from('binary/of-another-program') }, data: randomBytes(64) },
      { metadata: {}, data: Buffer.alloc(0) },
    ];
    for (const payload of headers) {
      const workflowId = `task:${randomUUID()}`;
      const args = [{ webAppId: 5, inputs: {}, tuning: fastTuning }];
      const forged: WorkflowClientInterceptor = {
        startWithDetails: (input, next) => next({ ...input, headers: { [traceHeader]: payload } }),
      };
      const { connection } = stack.client;
      const { workflow } = new Client({ connection, interceptors: { workflow: [forged] } });
      const task = await workflow.start('task', {
        taskQueue,
        workflowId,
        args,
        workflowExecutionTimeout: '60 seconds',
      });
      await expect(task.result()).resolves.toMatchObject({ status: 'Success' });
    }
    await worker.stop();
  });

  it('takes up a task of a worker without, and hands it on to one, each with the history of the other', async () => {
    const first = await startWorker({});
    stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'hold' }, times: 1 });
    const { taskQueue } = first;
    const workflowId = `task:${randomUUID()}`;
    const args = [{ webAppId: 5, inputs: {}, tuning: fastTuning }];
    const task = await stack.client.workflow.start('task', { taskQueue, workflowId, args });
    const polled = (): number => stack.service.ledger.total('detail');
    const whenPolledAnew = async (): Promise<void> => {
      const before = polled();
      await eventually(() => polled() > before + 2, { what: 'further queries' });
    };
    await whenPolledAnew();
    await first.worker.stop();
    const second = await stack.startWorker({ ...stack.env, LONGHAUL_TRACES_OTLP_URL: sink.url }, taskQueue);
    await whenPolledAnew();
    await second.stop();
    const third = await stack.startWorker(stack.env, taskQueue);
    await whenPolledAnew();
    const { requestId } = stack.service.ledger.entries({ endpoint: 'create' }).at(-1) ?? {};
    stack.service.release(requestId ?? '');

    await expect(task.result()).resolves.toMatchObject({ status: 'Success' });
    await third.stop();
  });
});
