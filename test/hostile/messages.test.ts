import { randomUUID } from 'node:crypto';
import { activityInfo } from '@temporalio/activity';
import { isGrpcServiceError } from '@temporalio/client';
import fc from 'fast-check';
import { describeWorkflow, isClosed } from '../../src/client/workflow-info';
import type { Activities } from '../../src/contract/activities';
import { eventually } from '../support/eventually';
import { fakeBatchOf } from '../support/fake-batch';
import { FakeService, seen } from '../support/fake-activities';
import { fuzzSeed } from '../support/fuzz-seed';
import { jsonPayload, RawMessages, type RawPayload, rawPayload, undecodablePayloads } from '../support/raw-messages';
import { fastTuning, type StartedTask, TaskEnvironment, whenStatusIs } from '../support/task-environment';
import { uncertain } from '../support/uncertain-create';

/*
 * Messages that any program with access to Temporal could send, made of SEED: signals, updates, queries and starts with
 * any payload. `MESSAGES=N` sends another number of them.
 */

const count = Number(process.env['MESSAGES'] ?? 500);
/** Under way at the same time. */
const atATime = 16;
const stopWithinMs = 60_000;
const testTimeoutMs = 300_000;

const environment = TaskEnvironment.forSuite();

/** A message to one of the targets, or a start of its own. */
interface Message {
  readonly kind: 'signal' | 'update' | 'query' | 'start';
  /** Which of the targets. */
  readonly target: number;
  readonly name: string;
  readonly args: readonly RawPayload[];
  readonly fields: Readonly<Record<string, RawPayload>>;
}

/** Names of fields that the parsers look for, with values that they do not. */
const almostRight = fc.record(
  {
    requestId: fc.oneof(fc.string(), fc.jsonValue()),
    key: fc.constantFrom('row-0', 'row-1', 'nobody', '', 7),
    status: fc.constantFrom('Success', 'Failed', 'Running', null, 3),
    failure: fc.oneof(fc.jsonValue(), fc.constant({ type: '__proto__', message: 'x'.repeat(300) })),
    outputs: fc.oneof(fc.jsonValue(), fc.constant([{ path: 'x'.repeat(50_000), sha256: '', bytes: 1 }])),
    outputCount: fc.oneof(fc.integer(), fc.double()),
    createNumber: fc.oneof(fc.integer(), fc.jsonValue()),
    manifest: fc.oneof(fc.string(), fc.jsonValue()),
    startedAt: fc.oneof(fc.string(), fc.constant('2026-03-01T12:00:00.000Z')),
    endedAt: fc.oneof(fc.string(), fc.constant('2026-03-01T12:00:00.000Z')),
    rows: fc.oneof(fc.jsonValue(), fc.integer(), fc.constant({ location: 'l', digest: 'd', rows: 1e9, pages: 1e9 })),
    id: fc.oneof(fc.string(), fc.jsonValue()),
    webAppId: fc.oneof(fc.integer(), fc.jsonValue()),
    inputs: fc.oneof(fc.jsonValue(), fc.dictionary(fc.string(), fc.jsonValue())),
    tuning: fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom(...Object.keys(fastTuning)), fc.jsonValue())),
    deadlines: fc.dictionary(fc.constantFrom('queue', 'run', 'total', '__proto__'), fc.jsonValue()),
    batch: fc.oneof(fc.jsonValue(), fc.constant({ id: 'b', key: 'k', names: { template: '{', columns: {} } })),
    adopt: fc.oneof(fc.jsonValue(), fc.record({ requestId: fc.string() })),
    continueAsNewState: fc.jsonValue(),
  },
  { requiredKeys: [] },
);

const payload: fc.Arbitrary<RawPayload> = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(...Object.values(undecodablePayloads)) },
  { weight: 4, arbitrary: almostRight.map(jsonPayload) },
  { weight: 2, arbitrary: fc.jsonValue().map(jsonPayload) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom('json/plain', 'binary/plain', 'binary/null', 'json/protobuf', '', 'é'), fc.uint8Array())
      .map(([encoding, data]) => rawPayload(encoding, data)),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('x'.repeat(300_000), '['.repeat(50_000), `"${'\\u0000'.repeat(20_000)}"`, '1e999', '-0')
      .map((text) => rawPayload('json/plain', text)),
  },
);

const anyName = fc.oneof(fc.string({ minLength: 1, maxLength: 30, unit: 'grapheme' }), fc.constant('__proto__'));
const names: Readonly<Record<Message['kind'], fc.Arbitrary<string>>> = {
  signal: fc.oneof(fc.constantFrom('callback', 'rowEnded', '__temporal_x', '__stack_trace'), anyName),
  // A decision that means what it says is no rubbish: `recreate` may well be paid twice.
  update: fc.oneof(
    fc.constantFrom('adopt', 'pause', 'resume', 'setConcurrency', 'retryFailed', '__temporal_x'),
    anyName,
  ),
  query: fc.oneof(fc.constantFrom('status', 'progress', '__temporal_workflow_metadata', '__stack_trace'), anyName),
  start: fc.constantFrom('task', 'batch'),
};

/** Beyond what any handler takes, and below what Temporal refuses. */
const manyArguments = fc.jsonValue().map((value) => Array.from({ length: 100 }, () => jsonPayload(value)));

const message: fc.Arbitrary<Message> = fc
  .constantFrom<Message['kind'][]>('signal', 'signal', 'signal', 'update', 'query', 'start')
  .chain((kind) => {
    return fc.record({
      kind: fc.constant(kind),
      target: fc.nat(),
      name: names[kind],
      args: fc.oneof(fc.array(payload, { maxLength: 3 }), manyArguments),
      fields: fc.dictionary(fc.constantFrom('inputDigest', 'startId', 'createNumber', 'x'), payload, { maxKeys: 2 }),
    });
  });

/** Counts the creates of each workflow. */
function counted(service: FakeService, creates: Map<string, number>): Activities {
  return {
    ...service.activities,
    createTask: (input) => {
      const workflowId = activityInfo().workflowExecution?.workflowId ?? '';
      creates.set(workflowId, (creates.get(workflowId) ?? 0) + 1);
      return service.activities.createTask(input);
    },
  };
}

/** Sends all of them, some at a time; resolves with those that Temporal did not answer in time. */
async function sendAll(
  messages: readonly Message[],
  targets: readonly string[],
  raw: RawMessages,
): Promise<{ readonly started: string[]; readonly unanswered: Message[] }> {
  const started: string[] = [];
  const unanswered: Message[] = [];
  const queue = [...messages];
  const send = async (one: Message): Promise<void> => {
    const workflowId = targets[one.target % targets.length] ?? '';
    if (one.kind === 'signal') await raw.signal(workflowId, one.name, [...one.args]);
    else if (one.kind === 'update') await raw.update(workflowId, one.name, [...one.args]);
    else if (one.kind === 'query') await raw.query(workflowId, one.name, [...one.args]);
    else {
      const id = `${one.name}:${randomUUID()}`;
      await raw.start(one.name, id, [...one.args], { memo: { fields: one.fields }, header: { fields: one.fields } });
      started.push(id);
    }
  };
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const current = next;
      await environment.client
        .withDeadline(Date.now() + 100_000, () => send(current))
        .catch((error: unknown) => {
          if (!isGrpcServiceError(error)) throw error;
          const code: number = error.code;
          if (code === 4) unanswered.push(current);
        });
    }
  };
  await Promise.all(Array.from({ length: atATime }, worker));
  return { started, unanswered };
}

/** Workflows that still run a minute after they were asked to stop. */
async function stillRunning(workflowIds: readonly string[]): Promise<string[]> {
  const open = new Set(workflowIds);
  const { client } = environment;
  await Promise.all(workflowIds.map((id) => client.workflow.getHandle(id).cancel()));
  const look = async (id: string): Promise<void> => {
    if (isClosed((await describeWorkflow(client, id)).execution)) open.delete(id);
  };
  const untilMs = Date.now() + stopWithinMs;
  while (open.size > 0 && Date.now() < untilMs) await Promise.all([...open].map(look));
  return [...open];
}

describe(`${count} rubbish messages (SEED=${fuzzSeed})`, () => {
  it(
    'end no worker, keep no task and no batch from being stopped within a minute, and create nothing twice',
    async () => {
      const messages = fc.sample(message, { numRuns: count, seed: fuzzSeed });
      const creates = new Map<string, number>();
      const service = new FakeService({ script: [seen('Running')] });
      const tuning = { ...fastTuning, poll: { minMs: 500, maxMs: 1_000 } };
      const fake = fakeBatchOf(environment.client, 50, { concurrency: 5 });

      await environment.withBatch(fake.activities, fake.input, async (batch) => {
        await environment.withWorkers(
          counted(service, creates),
          async (start, taskQueue) => {
            const running = await Promise.all([1, 2].map(() => start({ tuning, inputs: {} })));
            running.push(await start({ tuning, inputs: {}, watch: 'activity' }));
            await Promise.all(running.map((task) => eventually(() => creates.has(task.workflowId))));
            service.createOutcomes = [uncertain];
            const parked: StartedTask = await start({ tuning, inputs: {} });
            await whenStatusIs(parked, 'CreateUncertain');
            await eventually(() => fake.running.size === 5);

            const targets = [...running, parked, batch, batch].map(({ workflowId }) => workflowId);
            const raw = new RawMessages(environment.client, taskQueue);
            const { started, unanswered } = await sendAll(messages, targets, raw);
            expect(unanswered).toEqual([]);
            expect(await stillRunning([...targets, ...started])).toEqual([]);
            expect([...creates].filter(([, times]) => times > 1)).toEqual([]);
            expect(running.every(({ workflowId }) => creates.get(workflowId) === 1)).toBe(true);
          },
          { executionTimeout: '300 seconds' },
        );
      });
    },
    testTimeoutMs,
  );
});
