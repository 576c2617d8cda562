import { randomBytes, randomUUID } from 'node:crypto';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StartTaskInput } from '../../src/index';
import { traceHeader, traceIdOfRun } from '../../src/contract/traces';
import { formatTraceparent } from '../../src/core/trace-context';
import { eventually } from '../support/eventually';
import { ProcessStack } from '../support/process-stack';
import { workflowBundle } from '../support/product-build';
import { quietRuntime } from '../support/quiet-runtime';
import { replayHistory } from '../support/replay-history';
import { fastTuning } from '../support/task-environment';
import { photoFolder } from '../support/task-stack';
import { type ReceivedSpan, TraceSink, watchRequests } from '../support/trace-sink';

/** Long enough that a busy worker polls more than once, too. */
const timings = { queueDelayMs: 500, preparingMs: 500, minimumRunningMs: 8_000 };

let stack: ProcessStack;
let sink: TraceSink;
beforeAll(async () => {
  quietRuntime();
  [stack, sink] = await Promise.all([ProcessStack.open({ service: { timings } }), TraceSink.start()]);
  copyFileSync(join(photoFolder, 'rocket.jpg'), join(stack.inputs, 'rocket.jpg'));
  await stack.startWorker({ ...stack.env, LONGHAUL_TRACES_OTLP_URL: sink.url, OTEL_RESOURCE_ATTRIBUTES: 'zone=north' });
});
afterAll(async () => {
  await stack.close();
  await sink.close();
});

function newParent() {
  return { traceId: randomBytes(16).toString('hex'), spanId: randomBytes(8).toString('hex'), isSampled: true };
}

function photoTask(watch: 'timer' | 'activity'): StartTaskInput {
  const inputs = { '1:LoadImage.image': { file: join(stack.inputs, 'rocket.jpg') } };
  return { key: randomUUID(), webAppId: 1, inputs, watch, tuning: { ...fastTuning, poll: { minMs: 500, maxMs: 700 } } };
}

/** The spans of a trace once its run is among them. */
async function traceOf(traceId: string): Promise<ReceivedSpan[]> {
  await eventually(() => sink.trace(traceId).some(({ name }) => name.startsWith('RunWorkflow')), {
    what: 'the span of the run',
  });
  return sink.trace(traceId);
}

function namesOf(spans: readonly ReceivedSpan[]): string[] {
  return spans.map(({ name }) => name);
}

/** Spans whose parent is neither in the trace nor the caller's. */
function orphansIn(spans: readonly ReceivedSpan[], callerSpanId: string | undefined): string[] {
  const known = new Set([callerSpanId, ...spans.map(({ spanId }) => spanId)]);
  return namesOf(spans.filter(({ parentSpanId }) => !known.has(parentSpanId)));
}

describe('the trace of a task', () => {
  it.each(['timer', 'activity'] as const)(
    'leads from the caller through workflow and activities to the headers of each request, watched by %s',
    async (watch) => {
      const parent = newParent();
      const requests = watchRequests(stack.service.url);
      const before = stack.service.ledger.total('detail');
      const task = await stack.longhaul.start(photoTask(watch), { traceparent: formatTraceparent(parent) });
      await task.result().finally(requests.stop);
      const polls = stack.service.ledger.total('detail') - before;
      const spans = await traceOf(parent.traceId);
      const run = spans.find(({ name }) => name === 'RunWorkflow:task');

      expect(run).toMatchObject({ parentSpanId: parent.spanId, attributes: { temporalWorkflowId: task.workflowId } });
      expect(orphansIn(spans, parent.spanId)).toEqual([]);
      const activities = ['RunActivity:storeInput', 'RunActivity:createTask'];
      const calls = ['POST w/v1/webapp/task/openapi/create', 'GET x/v1/upload/token', 'upload', 'download'];
      expect(namesOf(spans)).toEqual(expect.arrayContaining([...activities, ...calls]));
      // A watch by activity archives what it saw end.
      expect(namesOf(spans).includes('RunActivity:archiveOutputs')).toBe(watch === 'timer');
      const ids = new Set(spans.map(({ spanId }) => spanId));
      // A worker tries its keys when it starts, which belongs to no task.
      const ofTask = requests.seen.filter(({ path }) => !path.endsWith('/user/metadata'));
      expect(ofTask.filter(({ traceparent = '' }) => !traceparent.startsWith(`00-${parent.traceId}-`))).toEqual([]);
      expect(ofTask.filter(({ traceparent = '' }) => !ids.has(traceparent.split('-')[2] ?? ''))).toEqual([]);

      // One span for the whole watch, with an event for each state, however often the service is asked.
      const watches = spans.filter(({ name }) => name === (watch === 'timer' ? 'Watch' : 'RunActivity:watchTask'));
      expect(polls).toBeGreaterThan(2);
      expect(watches.map(({ events }) => events.at(-1))).toEqual(['Success']);
      expect(namesOf(spans).filter((name) => /pollTask|detail/.test(name))).toEqual([]);

      // The lines of the log have its ids: of the workflow, of activities and of requests to the service.
      const lines = stack.logFiles
        .flatMap((file) => readFileSync(file, 'utf8').trim().split('\n'))
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter(({ trace_id }) => trace_id === parent.traceId);
      expect(lines.filter(({ span_id }) => !ids.has(String(span_id)))).toEqual([]);
      const messages = lines.map(({ msg }) => String(msg));
      expect(messages).toEqual(expect.arrayContaining(['request to the service', 'state', 'archived']));
    },
  );

  it('begins with the workflow without one from the caller, and is named by its run', async () => {
    const task = await stack.longhaul.start(photoTask('activity'));
    const { runId } = await stack.client.workflow.getHandle(task.workflowId).describe();
    await task.result();
    const spans = await traceOf(traceIdOfRun(runId));

    expect(orphansIn(spans, undefined)).toEqual([]);
    expect(spans.filter(({ parentSpanId }) => parentSpanId === undefined).map(({ name }) => name)).toEqual([
      'RunWorkflow:task',
    ]);
    expect(spans[0]?.resource).toMatchObject({ 'service.name': 'longhaul-worker', zone: 'north' });
  });

  it('tells a failure by its type, and none of its words', async () => {
    const parent = newParent();
    const inputs = { '2:ImageScale.colour': 'an-input-of-red' };
    const options = { traceparent: formatTraceparent(parent) };
    const task = await stack.longhaul.start({ key: randomUUID(), webAppId: 1, inputs }, options);
    await expect(task.result()).rejects.toMatchObject({ failureType: 'TaskRejected' });
    const spans = await traceOf(parent.traceId);

    expect(spans.find(({ name }) => name === 'RunWorkflow:task')?.failure).toBe('TaskRejected');
    expect(JSON.stringify(spans)).not.toMatch(/colour|an-input-of-red/);
  });

  it('stands in the history as a traceparent and nothing else, and the history is replayed without traces', async () => {
    const parent = newParent();
    const task = await stack.longhaul.start(photoTask('timer'), { traceparent: formatTraceparent(parent) });
    await task.result();
    const history = await stack.client.workflow.getHandle(task.workflowId).fetchHistory();
    const headers = (history.events ?? []).flatMap(
      ({ workflowExecutionStartedEventAttributes: started, activityTaskScheduledEventAttributes: scheduled }) =>
        started?.header ?? scheduled?.header ?? [],
    );
    const carried = headers.map(({ fields }) => Buffer.from(fields?.[traceHeader]?.data ?? []).toString());

    expect(headers.map(({ fields }) => Object.keys(fields ?? {}))).toEqual(headers.map(() => [traceHeader]));
    expect(new Set(carried.map((text) => text.replace(/-[0-9a-f]{16}-/, '-S-')))).toEqual(
      new Set([`{"traceparent":"00-${parent.traceId}-S-01"}`]),
    );
    const failure = await replayHistory(await workflowBundle(), history as never).catch((error: unknown) => error);
    expect(failure).toBeUndefined();
  });
});

describe('a caller that does not record its trace', () => {
  it('is continued without a span, and tells the service so', async () => {
    const parent = { ...newParent(), isSampled: false };
    const requests = watchRequests(stack.service.url);
    const task = await stack.longhaul.start(photoTask('timer'), { traceparent: formatTraceparent(parent) });
    await task.result().finally(requests.stop);
    await (await stack.longhaul.start(photoTask('timer'), { traceparent: formatTraceparent(newParent()) })).result();

    expect(sink.trace(parent.traceId)).toEqual([]);
    const flags = requests.seen.map(({ traceparent }) => traceparent?.slice(-3));
    expect(new Set(flags)).toEqual(new Set(['-00']));
  });
});

describe('a command', () => {
  it('continues the trace of TRACEPARENT, and sends its spans before it ends', async () => {
    const parent = newParent();
    const env = { ...stack.env, LONGHAUL_TRACES_OTLP_URL: sink.url, TRACEPARENT: formatTraceparent(parent) };
    Object.assign(stack.env, env);
    const run = await stack.run('run', '5', '--task-queue', stack.taskQueue, '--json').finally(() => {
      delete stack.env['TRACEPARENT'];
      delete stack.env['LONGHAUL_TRACES_OTLP_URL'];
    });
    expect(run).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining('warning') as unknown });
    const spans = await traceOf(parent.traceId);

    expect(orphansIn(spans, parent.spanId)).toEqual([]);
    expect(spans.find(({ name }) => name === 'StartWorkflow:task')).toMatchObject({
      parentSpanId: parent.spanId,
      resource: { 'service.name': 'longhaul' },
    });
  });
});

describe('a batch', () => {
  it('gives each row a trace of its own, linked to the trace of the batch', async () => {
    const parent = newParent();
    const id = `traced-${randomUUID()}`;
    const file = join(stack.inputs, `${id}.jsonl`);
    writeFileSync(file, ['a', 'b', 'c'].map((key) => `${JSON.stringify({ key })}\n`).join(''));
    Object.assign(stack.env, { LONGHAUL_TRACES_OTLP_URL: sink.url, TRACEPARENT: formatTraceparent(parent) });
    const args = ['batch', 'run', file, '--app', '5', '--id', id, '--task-queue', stack.taskQueue, '--json'];
    const run = await stack.run(...args).finally(() => {
      delete stack.env['TRACEPARENT'];
      delete stack.env['LONGHAUL_TRACES_OTLP_URL'];
    });
    expect(run.exitCode).toBe(0);
    const ofBatch = await traceOf(parent.traceId);
    const starts = await eventually(() => {
      const rows = sink.spans.filter(({ name, attributes }) => {
        return name === 'StartWorkflow:task' && String(attributes['temporalWorkflowId']).startsWith(`batch:${id}:`);
      });
      return rows.length === 3 && rows;
    });

    expect(orphansIn(ofBatch, parent.spanId)).toEqual([]);
    expect(namesOf(ofBatch).filter((name) => name.endsWith(':task'))).toEqual([]);
    const rows = starts || [];
    expect(new Set(rows.map(({ traceId }) => traceId)).size).toBe(3);
    expect(rows.map(({ links }) => links.map(({ traceId }) => traceId))).toEqual(rows.map(() => [parent.traceId]));
    for (const { traceId, spanId } of rows) {
      const run = (await traceOf(traceId)).find(({ name }) => name === 'RunWorkflow:task');
      expect(run?.parentSpanId).toBe(spanId);
    }
  });
});
