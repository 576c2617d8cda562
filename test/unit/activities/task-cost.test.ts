import { recordEnd, toPollResult, toPricedResult } from '../../../src/activities/poll-task';
import { Environment } from '../../../src/config/environment';
import { readPrices } from '../../../src/config/prices';
import type { PollResult } from '../../../src/contract/activities';
import { type TaskEnding, toRowEnd } from '../../../src/contract/batch/batch-rows';
import type { TaskResult } from '../../../src/contract/task-result';
import { createRecordName } from '../../../src/contract/workflow-ids';
import { toServiceTimestamp } from '../../../src/core/time';
import { parseCreateRecord } from '../../../src/archive/create-record';
import type { Archive } from '../../../src/storage/archive/archive';
import { FolderArchive } from '../../../src/storage/archive/folder-archive';
import { temporaryFolder } from '../../support/temporary-folder';
import { ActivityEnvironment } from '../../support/activity-environment';

const listed = [
  { webAppId: 5, currency: 'EUR', perTask: '0.02', perMillisecond: '0.000003', costTime: 'total_cost_time' },
  { webAppId: 5, currency: 'EUR', perTask: '0.03', validFrom: '2026-03-01T00:00:00+08:00' },
];
const env = { LONGHAUL_PRICES_FILE: 'prices.json' };
const prices = readPrices(new Environment(env, ['LONGHAUL_PRICES_FILE'], () => JSON.stringify({ prices: listed })));

const detail = { status: 'Success', costTimes: { total_cost_time: 8_123 } };
const task = { account: 'default', webAppId: 5 };

describe('the poll that sees the end of a task', () => {
  it('tells its cost, by the price of the moment at which the service created it', () => {
    expect(
      toPollResult({ ...detail, createdAt: toServiceTimestamp('2026-02-28 23:59:59') }, task, prices),
    ).toMatchObject({
      cost: { currency: 'EUR', micros: 44_369 },
    });
    expect(
      toPollResult({ ...detail, createdAt: toServiceTimestamp('2026-03-01 00:00:00') }, task, prices),
    ).toMatchObject({
      cost: { currency: 'EUR', micros: 30_000 },
    });
  });

  it.each([
    ['before the end', { ...detail, status: 'Running' }, task],
    ['of an app without a price', detail, { ...task, webAppId: 6 }],
    ['of an adopted task, whose app is not known', detail, { ...task, webAppId: null }],
    [
      'without the cost time that it is for',
      { ...detail, costTimes: {}, createdAt: toServiceTimestamp('2026-02-01 00:00:00') },
      task,
    ],
  ])('tells none %s', (_, seen, of) => {
    expect(Reflect.get(toPollResult(seen, of, prices), 'cost')).toBeUndefined();
  });
});

describe('the poll that sees the end of a task that was taken over', () => {
  const name = createRecordName('test', 2);
  const taken = { account: 'default', requestId: 'r-1', webAppId: null, createNumber: 2 };
  const poll = async (archive: Archive, of: object = taken, withinMs = 30_000): Promise<PollResult> => {
    const seen = { ...detail, createdAt: toServiceTimestamp('2026-02-28 23:59:59') };
    const activity = (): Promise<PollResult> =>
      toPricedResult({ archive, prices }, seen, { ...taken, ...of }, withinMs);
    return await new ActivityEnvironment({ workflowExecution: { workflowId: 'test', runId: 'r' } }).run(activity);
  };

  it('takes its app from the create record, unless that is of another task, is not there, or is too slow', async () => {
    const folder = temporaryFolder();
    try {
      const archive = new FolderArchive(folder.path);
      expect(Reflect.get(await poll(archive), 'cost')).toBeUndefined();
      await archive.replace(
        name,
        JSON.stringify({ workflowId: 'test', createNumber: 2, requestId: 'r-1', webAppId: 5 }),
      );
      expect(await poll(archive)).toMatchObject({ cost: { currency: 'EUR', micros: 44_369 } });
      expect(Reflect.get(await poll(archive, { requestId: 'r-2' }), 'cost')).toBeUndefined();
      expect(Reflect.get(await poll(archive, { createNumber: 1 }), 'cost')).toBeUndefined();
      expect(Reflect.get(await poll(archive, { webAppId: 6 }), 'cost')).toBeUndefined();
      const hanging = Object.assign(Object.create(archive) as FolderArchive, {
        read: () => new Promise(() => undefined),
      });
      expect(Reflect.get(await poll(hanging, taken, 100), 'cost')).toBeUndefined();
    } finally {
      folder.remove();
    }
  });
});

describe('the end of a task', () => {
  const seen = { seen: 'task', status: 'Success', costTimes: {}, cost: { currency: 'EUR', micros: 7 } } as const;
  const name = createRecordName('test', 2);
  const record = async (archive: Archive, result: PollResult = seen, withinMs = 30_000): Promise<void> => {
    const activity = (): Promise<boolean> =>
      recordEnd({ archive }, { account: 'default', createNumber: 2, requestId: 'r-1' }, result, withinMs);
    await new ActivityEnvironment({ workflowExecution: { workflowId: 'test', runId: 'r' } }).run(activity);
  };

  it('stands in the create record of its own create, and nothing does before', async () => {
    const folder = temporaryFolder();
    try {
      const archive = new FolderArchive(folder.path);
      await archive.replace(name, JSON.stringify({ workflowId: 'test', createNumber: 2, requestId: 'r-1' }));
      await record(archive, { seen: 'task', status: 'Running' });
      expect(parseCreateRecord(await archive.read(name)).end).toBeUndefined();
      await record(archive);
      expect(parseCreateRecord(await archive.read(name))).toMatchObject({
        requestId: 'r-1',
        end: { status: 'Success', cost: { currency: 'EUR', micros: 7 } },
      });
    } finally {
      folder.remove();
    }
  });

  it('is written once, although a callback and the watch see it at once', async () => {
    const folder = temporaryFolder();
    try {
      const archive = new FolderArchive(folder.path);
      await archive.replace(name, JSON.stringify({ workflowId: 'test', createNumber: 2, requestId: 'r-1' }));
      await Promise.all([record(archive), record(archive)]);
      await record(archive);
      const lines = String(await archive.read(name)).match(/"end":/g);
      expect(lines).toHaveLength(1);
      const dearer = { ...seen, cost: { currency: 'EUR', micros: 8 } };
      await record(archive, dearer);
      expect(parseCreateRecord(await archive.read(name)).end?.cost?.micros).toBe(8);
    } finally {
      folder.remove();
    }
  });

  it.each([
    ['does not answer', () => new Promise<boolean>(() => undefined)],
    ['fails', () => Promise.reject(new Error('no disk'))],
  ])('is told all the same while the archive %s', async (_how, append) => {
    const archive = Object.assign(new FolderArchive('/nowhere'), { append });
    await expect(record(archive, seen, 100)).resolves.toBeUndefined();
  });
});

describe('the end of a row', () => {
  const result: Partial<TaskResult> = {
    status: 'Canceled',
    costTimes: { total_cost_time: 8_123 },
    cost: { currency: 'EUR', micros: 44_369 },
    timestamps: {
      createdAt: { iso: '2026-03-01T00:00:00.000Z', raw: '2026-03-01 08:00:00' },
      runningAt: { iso: '2026-03-01T00:00:07.000Z', raw: '2026-03-01 08:00:07' },
    },
  };
  const facts = {
    ...{ key: 'a', requestId: 'r-1', createNumber: 1 },
    ...{ startedAt: '2026-03-01T00:00:00.000Z', endedAt: '2026-03-01T00:01:00.000Z' },
  };

  it.each<[string, TaskEnding]>([
    ['failed', { kind: 'failure', type: 'TaskFailed', message: 'no memory', details: { result } }],
    ['was stopped', { kind: 'canceled', details: { result } }],
  ])('tells what a task that %s cost, and how long it queued', (_, ending) => {
    expect(toRowEnd(facts, ending)).toMatchObject({
      cost: { currency: 'EUR', micros: 44_369 },
      costTimes: { total_cost_time: 8_123 },
      queuedMs: 7_000,
    });
  });

  it.each([
    { currency: 'EUR', micros: -1_000_000 },
    { currency: 'EUR', micros: 0.5 },
    { currency: 'EUR', micros: Number.MAX_VALUE },
    { currency: '__proto__', micros: 1 },
  ])('has no cost where the workflow, ended by another program, tells %p', (cost) => {
    const forged = { kind: 'result', result: { ...result, status: 'Success', cost } } as TaskEnding;
    expect(toRowEnd(facts, forged)).not.toHaveProperty('cost');
  });

  it('has none of it where nothing is known', () => {
    const end = toRowEnd(facts, { kind: 'cutOff', message: 'It was terminated.' });
    for (const field of ['cost', 'costTimes', 'queuedMs']) expect(end).not.toHaveProperty(field);
  });

  const told = { startedAt: '2026-02-28T00:00:00.000Z', createNumber: 3, uploads: { files: 2, bytes: 9, shared: 1 } };

  it.each<[string, TaskEnding]>([
    ['succeeded', { kind: 'result', result: { ...result, ...told, status: 'Success' } as TaskResult }],
    [
      'failed with a result',
      { kind: 'failure', type: 'TaskFailed', message: '', details: { result: { ...result, ...told } } },
    ],
    ['failed without one', { kind: 'failure', type: 'TaskRejected', message: '', details: told }],
    ['was stopped', { kind: 'canceled', details: { result: { ...result, ...told } } }],
  ])('has the start, the number of the create and the uploads as the task that %s told them', (_, ending) => {
    expect(toRowEnd(facts, ending)).toMatchObject(told);
  });

  it.each([undefined, null, 'text', [], { startedAt: 7, createNumber: -1, uploads: { files: 'x' } }])(
    'has the start and the number of the create as Temporal knows them where the task tells %j',
    (details) => {
      const end = toRowEnd(facts, { kind: 'failure', type: 'TaskFailed', message: '', details });
      expect(end).toMatchObject({ startedAt: facts.startedAt, createNumber: 1, uploads: null });
    },
  );
});
