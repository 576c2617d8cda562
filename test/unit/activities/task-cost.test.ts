import { toPollResult } from '../../../src/activities/poll-task';
import { readPrices } from '../../../src/config/prices';
import { noUploads, type TaskEnding, toRowEnd } from '../../../src/contract/batch-rows';
import type { TaskResult } from '../../../src/contract/task-result';

const listed = [
  { webAppId: 5, currency: 'EUR', perTask: '0.02', perMillisecond: '0.000003', costTime: 'total_cost_time' },
  { webAppId: 5, currency: 'EUR', perTask: '0.03', validFrom: '2026-03-01T00:00:00+08:00' },
];
const prices = readPrices('prices.json', () => JSON.stringify({ prices: listed }), []);

const detail = { status: 'Success', costTimes: { total_cost_time: 8_123 } };
const task = { account: 'default', webAppId: 5 };

describe('the poll that sees the end of a task', () => {
  it('tells its cost, by the price of the moment at which the service created it', () => {
    expect(toPollResult({ ...detail, createdAt: '2026-02-28 23:59:59' }, task, prices)).toMatchObject({
      cost: { currency: 'EUR', micros: 44_369 },
    });
    expect(toPollResult({ ...detail, createdAt: '2026-03-01 00:00:00' }, task, prices)).toMatchObject({
      cost: { currency: 'EUR', micros: 30_000 },
    });
  });

  it.each([
    ['before the end', { ...detail, status: 'Running' }, task],
    ['of an app without a price', detail, { ...task, webAppId: 6 }],
    ['of an adopted task, whose app is not known', detail, { ...task, webAppId: null }],
    ['without the cost time that it is for', { ...detail, costTimes: {}, createdAt: '2026-02-01 00:00:00' }, task],
  ])('tells none %s', (_, seen, of) => {
    expect(toPollResult(seen, of, prices)).not.toHaveProperty('cost');
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
    ...{ key: 'a', requestId: 'r-1', createNumber: 1, uploads: noUploads },
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
});
