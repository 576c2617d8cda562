import { statusQuery } from '../../../src/contract/task-messages';
import { descriptionOf, historyOf } from '../../support/evidence';
import { fastTuning } from '../../support/task-environment';
import { TaskStack } from '../../support/task-stack';
import { watchEventsOf, whenSeenAs } from '../../support/watch-ways';

let stack: TaskStack;
beforeAll(async () => {
  stack = await TaskStack.open();
});
afterAll(() => stack.close());

const input = { webAppId: 5, inputs: { '2:Wait.seconds': 1 }, watch: 'activity', tuning: fastTuning } as const;

describe('the watch by activity at the real service', () => {
  it('follows a task to its archived output, at no more than 12 events', async () => {
    const task = await stack.start(input);
    expect(await task.result()).toMatchObject({ status: 'Success', outputs: [{ ext: '.png' }] });
    expect(watchEventsOf((await task.fetchHistory()).events ?? []).length).toBeLessThanOrEqual(12);
    expect((await task.query(statusQuery)).polls).toBeGreaterThan(3);
  });

  it.each([
    { name: 'drop-request' },
    { name: 'answer-error', status: 502 },
    { name: 'rubbish' },
    { name: 'refuse', reason: 'rateLimited' },
  ] as const)('outlives queries that fail: $name', async (scenario) => {
    stack.service.scenarios.add({ endpoint: 'detail', scenario, times: 3 });
    const task = await stack.start(input);
    expect(await task.result()).toMatchObject({ status: 'Success' });
    expect((await task.query(statusQuery)).failedPolls).toBeGreaterThanOrEqual(3);
  });

  it('tells the place in the queue and the state in its heartbeat, and nothing that is secret', async () => {
    stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'hold' } });
    const task = await stack.start(input);
    await whenSeenAs(task, 'activity', 'Queuing');
    const { requestId } = await task.query(statusQuery);
    const evidence = [...(await descriptionOf(task)), ...(await historyOf(task))];
    expect(evidence.filter(({ text }) => text.includes(stack.service.apiKey))).toEqual([]);
    expect(evidence.filter(({ text }) => text.includes(stack.service.url))).toEqual([]);
    stack.service.release(requestId ?? '');
    expect(await task.result()).toMatchObject({ status: 'Success' });
  });
});
