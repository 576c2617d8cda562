import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import type { TaskDetail } from '../../../src/service';
import { Poller, type PolledTask } from '../../../src/service/poller';
import { eventually } from '../../support/eventually';

const soon = { minMs: 1, maxMs: 1 };
const hours = { minMs: 3_600_000, maxMs: 3_600_000 };

/** A service that answers when the test says so. */
class SlowService {
  readonly asked: string[] = [];
  mostAtOnce = 0;
  private readonly waiting: ((detail: TaskDetail | Error) => void)[] = [];

  readonly getTask = async (requestId: string): Promise<TaskDetail> => {
    this.asked.push(requestId);
    const answer = await new Promise<TaskDetail | Error>((resolve) => {
      this.waiting.push(resolve);
      this.mostAtOnce = Math.max(this.mostAtOnce, this.waiting.length);
    });
    if (answer instanceof Error) throw answer;
    return answer;
  };

  async answer(detail: TaskDetail | Error = running): Promise<void> {
    this.waiting.shift()?.(detail);
    await turnOfTheLoop();
  }
}

/** A service that answers at once. */
function quickService(asked: string[]): { getTask: (requestId: string) => Promise<TaskDetail> } {
  return {
    getTask: (requestId) => {
      asked.push(requestId);
      return Promise.resolve(running);
    },
  };
}

const running: TaskDetail = { status: 'Running', costTimes: {} };
const options = { timeoutMs: 1_000 };

function task(requestId: string, parts: Partial<PolledTask> = {}): PolledTask {
  return {
    requestId,
    bounds: soon,
    situation: () => ({ status: 'Running', queuePosition: undefined, inStateMs: 0 }),
    onDetail: () => undefined,
    onFailure: () => undefined,
    ...parts,
  };
}

const pollers: Poller[] = [];
function open(...parameters: ConstructorParameters<typeof Poller>): Poller {
  const poller = new Poller(...parameters);
  pollers.push(poller);
  return poller;
}
afterEach(() => {
  for (const poller of pollers.splice(0)) poller.close();
});

describe('a poller', () => {
  it('asks about a task again and again, and tells what it hears', async () => {
    const asked: string[] = [];
    const heard: TaskDetail[] = [];
    open(quickService(asked), options).follow(task('a', { onDetail: (detail) => heard.push(detail) }), 0);
    await eventually(() => heard.length >= 3);
    expect(heard[0]).toBe(running);
    expect(new Set(asked)).toEqual(new Set(['a']));
  });

  it('asks about each task at its own cadence', async () => {
    const asked: string[] = [];
    const poller = open(quickService(asked), options);
    poller.follow(task('seldom', { bounds: hours }), 0);
    poller.follow(task('often'), 0);
    await eventually(() => asked.filter((id) => id === 'often').length >= 5);
    expect(asked.filter((id) => id === 'seldom')).toHaveLength(1);
  });

  it('asks in the order in which tasks are due, not in which they came', async () => {
    const asked: string[] = [];
    const poller = open(quickService(asked), options);
    poller.follow(task('third', { bounds: hours }), 60);
    poller.follow(task('second', { bounds: hours }), 40);
    poller.follow(task('first', { bounds: hours }), 20);
    await eventually(() => asked.length === 3);
    expect(asked).toEqual(['first', 'second', 'third']);
  });

  it('has no more queries on their way than it may, and asks about the others afterwards', async () => {
    const service = new SlowService();
    const poller = open(service, { ...options, maxInFlight: 2 });
    for (const id of ['a', 'b', 'c', 'd']) poller.follow(task(id, { bounds: hours }), 0);
    await turnOfTheLoop();
    expect(service.asked).toEqual(['a', 'b']);
    await service.answer();
    expect(service.asked).toEqual(['a', 'b', 'c']);
    for (let more = 0; more < 3; more += 1) await service.answer();
    expect(service.asked).toEqual(['a', 'b', 'c', 'd']);
    expect(service.mostAtOnce).toBe(2);
  });

  it('goes on after a query that failed, and tells of it', async () => {
    const service = new SlowService();
    const failures: unknown[] = [];
    open(service, options).follow(task('a', { onFailure: (error) => failures.push(error) }), 0);
    await turnOfTheLoop();
    await service.answer(new Error('HTTP 502'));
    expect(failures).toEqual([new Error('HTTP 502')]);
    await eventually(() => service.asked.length === 2);
    await service.answer();
  });

  it('asks no more about a task that was dropped, and throws away what is on its way', async () => {
    const service = new SlowService();
    const heard: TaskDetail[] = [];
    const poller = open(service, options);
    const drop = poller.follow(task('a', { onDetail: (detail) => heard.push(detail) }), 0);
    await turnOfTheLoop();
    drop();
    await service.answer();
    poller.follow(task('b'), 0);
    await eventually(() => service.asked.includes('b'));
    expect({ asked: service.asked, heard }).toEqual({ asked: ['a', 'b'], heard: [] });
    await service.answer();
  });

  it('drops a task from within its own answer', async () => {
    const asked: string[] = [];
    const poller = open(quickService(asked), options);
    const drop = poller.follow(
      task('a', {
        onDetail: () => {
          drop();
        },
      }),
      0,
    );
    poller.follow(task('b'), 0);
    await eventually(() => asked.filter((id) => id === 'b').length >= 3);
    expect(asked.filter((id) => id === 'a')).toHaveLength(1);
  });

  it('sends every query the way it is given, which may hold it back', async () => {
    const asked: string[] = [];
    let letPass = (): void => undefined;
    const gate = new Promise<void>((resolve) => (letPass = resolve));
    const send = (query: () => Promise<TaskDetail>): Promise<TaskDetail> => gate.then(query);
    open(quickService(asked), { ...options, send }).follow(task('a'), 0);
    await turnOfTheLoop();
    expect(asked).toEqual([]);
    letPass();
    await eventually(() => asked.length > 1);
  });

  it('is quiet once it is closed', async () => {
    const asked: string[] = [];
    const poller = open(quickService(asked), options);
    poller.follow(task('a'), 0);
    await eventually(() => asked.length > 0);
    poller.close();
    open(quickService(asked), options).follow(task('b'), 0);
    const sofar = asked.filter((id) => id === 'a').length;
    await eventually(() => asked.filter((id) => id === 'b').length >= 5);
    // One query may have been on its way.
    expect(asked.filter((id) => id === 'a').length - sofar).toBeLessThanOrEqual(1);
  });
});
