import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseCreateRecord } from '../../../src/archive/create-record';
import { Longhaul } from '../../../src/client/longhaul';
import { createRecordName, taskWorkflowId } from '../../../src/contract/workflow-ids';
import { ServiceClient } from '../../../src/service';
import { compareAll } from '../reconcile/compare-all';
import { statusQuery } from '../../../src/contract/task-messages';
import type { TaskInput } from '../../../src/contract/task-input';
import type { TaskResult } from '../../../src/contract/task-result';
import { descriptionOf, type Evidence, filesOf, historyOf, metadataOf } from '../../support/evidence';
import { eventually } from '../../support/eventually';
import { findForbidden } from '../../support/find-forbidden';
import { fastTuning, type RunningTask } from '../../support/task-environment';
import { TaskStack } from '../../support/task-stack';
import { watchWays } from '../../support/watch-ways';
import { ReceiverUnderTest } from './receiver-under-test';

/** Longer than a test may take: only a callback ends such a watch. */
const seldom = { ...fastTuning, poll: { minMs: 600_000, maxMs: 600_000 } };
const swatch: TaskInput = { webAppId: 5, inputs: { '2:Wait.seconds': 0.5 }, tuning: seldom };

let receiver: ReceiverUnderTest;
let stack: TaskStack;
const tasks: RunningTask[] = [];

beforeAll(async () => {
  receiver = await ReceiverUnderTest.open();
  stack = await TaskStack.open({
    service: { callbacks: { timeoutMs: 10_000, retryEveryMs: 300, maxAttempts: 40 } },
    env: receiver.workerEnv,
  });
});
afterAll(async () => {
  await stack.close();
  await receiver.close();
});

async function start(input: TaskInput): Promise<RunningTask> {
  const task = await stack.start(input);
  tasks.push(task);
  return task;
}

/** What became of the service's attempts to call back. */
function outcomesOf({ requestId }: TaskResult): readonly unknown[] {
  return (stack.service.tasks.find(requestId ?? '')?.callbackAttempts ?? []).map(({ outcome }) => outcome);
}

describe('a callback', () => {
  it.each(watchWays)('ends the watch of its task by %s at once', async (watch) => {
    const task = await start({ ...swatch, watch });
    const result = await task.result();

    expect(result.status).toBe('Success');
    expect(result.outputs).toHaveLength(1);
    expect(await task.query(statusQuery)).toMatchObject({ polls: 1, createRequests: 1 });
    const endedAtMs = stack.service.tasks.find(result.requestId ?? '')?.endedAtMs ?? 0;
    const { closeTime } = await task.describe();
    // Archived and finished as well; the next poll would have been in ten minutes.
    expect((closeTime?.getTime() ?? Infinity) - endedAtMs).toBeLessThan(10_000);
    expect(outcomesOf(result)).toEqual([200]);
  });

  it('is in the history with the request id and the status, and with nothing else', async () => {
    const task = await start(swatch);
    const { requestId } = await task.result();

    const { events } = await task.fetchHistory();
    const signals = (events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: signal }) => signal ?? []);
    const [payload] = signals[0]?.input?.payloads ?? [];
    expect(signals.map(({ signalName }) => signalName)).toEqual(['callback']);
    expect(JSON.parse(Buffer.from(payload?.data ?? []).toString('utf8'))).toEqual({
      requestId,
      status: 'Success',
      createNumber: 1,
    });
  });

  it('may come again and again, also when the workflow is over', async () => {
    stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'repeat-callbacks', count: 3 } });
    const task = await start(swatch);
    const result = await task.result();
    await eventually(() => outcomesOf(result).length === 4);

    expect(outcomesOf(result)).toEqual([200, 200, 200, 200]);
    expect(await receiver.callBack(task.workflowId, result.requestId ?? '')).toBe(200);
    expect(receiver.log.at(-1)).toContain('"workflow is over"');
    expect(stack.service.ledger.entries({ endpoint: 'create', requestId: result.requestId ?? '' })).toHaveLength(1);
  });

  it('reaches its task although the receiver was away: the service calls again', async () => {
    await receiver.stop();
    const task = await start(swatch);
    const requestId = await eventually(async () => (await task.query(statusQuery)).requestId);
    await eventually(() => (stack.service.tasks.find(requestId ?? '')?.callbackAttempts ?? []).length >= 2);
    await receiver.start();

    const result = await task.result();

    expect(result.status).toBe('Success');
    const outcomes = outcomesOf(result);
    expect(outcomes.slice(0, -1)).toEqual(outcomes.slice(0, -1).map(() => 'unreachable'));
    expect(outcomes.at(-1)).toBe(200);
  });

  it('about another task disturbs nothing', async () => {
    const task = await start({ ...swatch, inputs: { '2:Wait.seconds': 2 } });
    const requestId = await eventually(async () => (await task.query(statusQuery)).requestId);

    expect(await receiver.callBack(task.workflowId, 'another-task')).toBe(200);

    expect(await task.query(statusQuery)).toMatchObject({ status: 'Queuing', polls: 0, requestId });
    expect(await task.result()).toMatchObject({ status: 'Success', requestId });
  });
});

describe('a create whose reply was lost', () => {
  it('is settled by the callback alone: one create, and its output is archived', async () => {
    stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'drop-reply' } });
    const task = await start(swatch);
    const result = await task.result();

    const creates = stack.service.ledger.entries({ endpoint: 'create', correlation: task.workflowId });
    expect(creates).toMatchObject([{ status: null, requestId: result.requestId }]);
    expect(result.status).toBe('Success');
    const [output] = result.outputs;
    const archived = await readFile(output?.path ?? '');
    expect(createHash('sha256').update(archived).digest('hex')).toBe(output?.sha256);
    expect(await task.query(statusQuery)).toMatchObject({ createRequests: 1, polls: 1 });
  });

  it('is not settled by a request id that the service does not know', async () => {
    stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'drop-reply' } });
    const task = await start({ ...swatch, inputs: { '2:Wait.seconds': 3 } });
    await eventually(async () => (await task.query(statusQuery)).status === 'CreateUncertain');

    expect(await receiver.callBack(task.workflowId, 'made-up')).toBe(200);
    const asked = { endpoint: 'detail', requestId: 'made-up' } as const;
    await eventually(() => stack.service.ledger.entries(asked).length > 0, { what: 'the service to be asked' });

    expect(await task.query(statusQuery)).toMatchObject({ status: 'CreateUncertain', requestId: null });
    const result = await task.result();
    expect(result).toMatchObject({ status: 'Success' });
    expect(result.requestId).not.toBe('made-up');
    expect(stack.service.ledger.entries({ endpoint: 'create', correlation: task.workflowId })).toHaveLength(1);
  });
});

describe('a late callback of the first create of a key', () => {
  it('settles nothing of the second: that waits for its own, and reconcile counts it as uncertain meanwhile', async () => {
    const { client, taskQueue, archive, service } = stack;
    const longhaul = new Longhaul({ client, taskQueue });
    const api = new ServiceClient({ baseUrl: service.url, apiKey: () => service.apiKey });
    const input = { ...swatch, key: randomUUID(), inputs: { '2:Wait.seconds': 6 }, tuning: fastTuning };
    service.scenarios.add({ endpoint: 'create', scenario: { name: 'fail' } });
    const first = await (await longhaul.start(input)).result().catch((error: unknown) => error);
    const failed = service.ledger.entries({ endpoint: 'create', correlation: taskWorkflowId(input.key) })[0]?.requestId;
    expect(first).toMatchObject({ failureType: 'TaskFailed' });
    service.scenarios.add({ endpoint: 'create', scenario: { name: 'drop-reply' } });
    const second = await longhaul.start(input, { retry: true });
    await eventually(async () => (await second.status()).status === 'CreateUncertain');

    for (const createNumber of [1, 2]) {
      expect(await receiver.callBack(second.workflowId, failed ?? '', { status: 'Failed', createNumber })).toBe(200);
    }
    const record = join(archive, createRecordName(second.workflowId, 2));
    const asked = { endpoint: 'detail', requestId: failed ?? '' } as const;
    await eventually(() => service.ledger.entries(asked).length > 1, { what: 'the service to be asked about it' });
    await eventually(async () => (await second.status()).waitingFor?.startsWith('your decision'));
    expect(parseCreateRecord(await readFile(record))).toMatchObject({ createNumber: 2, requestId: null });
    const { findings } = await compareAll({ longhaul, client: api, archive, taskQueue }, {});
    expect(findings).toMatchObject([{ kind: 'uncertain', workflowId: second.workflowId }]);
    await expect(second.adopt(failed ?? '')).rejects.toThrow(`${second.workflowId}/1`);
    await api.close();

    const result = await second.result();
    const own = service.ledger.entries({ endpoint: 'create', correlation: `${second.workflowId}/2` });
    expect(own).toMatchObject([{ requestId: result.requestId }]);
    expect(result).toMatchObject({ status: 'Success' });
    expect(parseCreateRecord(await readFile(record))).toMatchObject({ requestId: result.requestId });
  });
});

describe('the callback token', () => {
  it('is in no history, no description, no log and no file', async () => {
    const evidence: Evidence[] = filesOf(stack.archive);
    for (const task of tasks) {
      evidence.push(...(await historyOf(task)), ...(await descriptionOf(task)), ...(await metadataOf(task)));
    }
    evidence.push({ where: 'the worker’s log', text: stack.log.join('') });
    evidence.push({ where: 'the receiver’s log', text: receiver.log.join('') });

    const forbidden = [
      { name: 'the callback token', what: receiver.token },
      { name: 'a bearer token', what: /Bearer\s+(?!\[redacted\])\S/i },
    ];
    expect(findForbidden(evidence, forbidden)).toEqual([]);
    expect(tasks.length).toBeGreaterThan(5);
    const isSeen = (text: string): boolean => evidence.some((one) => one.text.includes(text));
    expect(['callback', '"signaled"', 'worker started', '"sentAt"'].filter((text) => !isSeen(text))).toEqual([]);
  });
});
