import { randomUUID } from 'node:crypto';
import { heartbeat } from '@temporalio/activity';
import { eachView } from '../../../src/client/task/task-events';
import type { TaskEvent } from '../../../src/index';
import { seen } from '../../support/fake-activities';
import { ClientEnvironment, smallInput } from './client-environment';

let environment: ClientEnvironment;

beforeAll(async () => {
  environment = await ClientEnvironment.open();
  await environment.startWorkers();
});
afterAll(() => environment.close());

beforeEach(() => {
  environment.service.onUpload = () => Promise.resolve();
  environment.service.requestId = randomUUID();
});

const quick = { everyMs: 30, quietEveryMs: 30 };

describe('the events of a task', () => {
  it.each(['timer', 'activity'] as const)(
    'are its upload, its place in the queue, its states and its end, watched by %s',
    async (watch) => {
      let finish: () => void = () => undefined;
      environment.service.onUpload = () => {
        heartbeat({ transfer: 'upload', name: 'cat.jpg', bytes: 40, totalBytes: 100 });
        return new Promise((resolve) => (finish = resolve));
      };
      environment.service.script = [seen('Queuing', { queuePosition: 2 })];
      const task = await environment.longhaul.start({
        ...{ ...smallInput, watch, inputs: { '1:LoadImage.image': { file: '/photos/cat.jpg' } } },
      });

      const events: TaskEvent[] = [];
      for await (const event of task.events(quick)) {
        events.push(event);
        if (event.kind === 'transfer') finish();
        if (event.kind === 'queue' && event.position === 2) environment.service.script = [seen('Running')];
        if (event.kind === 'state' && event.serviceStatus === 'Running') environment.service.script = [seen('Success')];
      }

      const [first] = events;
      expect(first).toMatchObject({ kind: 'state', status: 'PreparingInputs' });
      expect(events).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ kind: 'transfer', transfer: expect.objectContaining({ bytes: 40 }) as unknown }),
          expect.objectContaining({ kind: 'queue', position: 2 }),
          expect.objectContaining({ kind: 'state', serviceStatus: 'Running' }),
        ]),
      );
      expect(events.at(-1)).toMatchObject({ kind: 'end', status: 'Success', view: { isOver: true } });
      expect(Date.parse(events.at(-1)?.at ?? '')).toBeGreaterThanOrEqual(Date.parse(first?.at ?? ''));
    },
  );

  it('cost no event of the history, however often is looked', async () => {
    environment.service.script = [seen('Running')];
    const task = await environment.longhaul.start({ ...smallInput, watch: 'activity' });
    const handle = environment.temporal.workflow.getHandle(task.workflowId);
    const lengths: number[] = [];
    for await (const view of eachView(task, quick)) {
      if (view.serviceStatus !== 'Running') continue;
      lengths.push((await handle.describe()).historyLength);
      if (lengths.length === 20) break;
    }
    expect(new Set(lengths).size).toBe(1);
    environment.service.script = [seen('Success')];
    await task.result();
  });

  it('end while the loop looks seldom', async () => {
    environment.service.script = [seen('Running')];
    const task = await environment.longhaul.start(smallInput);
    const kinds: string[] = [];
    for await (const { kind } of task.events({ everyMs: 600_000 })) {
      if (kinds.length === 0) environment.service.script = [seen('Success')];
      kinds.push(kind);
    }
    expect(kinds.at(-1)).toBe('end');
  });

  it('of an unknown task throw, and of an ended one tell its end', async () => {
    const readAll = async (key: string): Promise<TaskEvent[]> => {
      const events: TaskEvent[] = [];
      for await (const event of environment.longhaul.task(key).events(quick)) events.push(event);
      return events;
    };
    await expect(readAll(randomUUID())).rejects.toMatchObject({ name: 'UnknownTaskError' });
    environment.service.script = [seen('Failed')];
    const key = randomUUID();
    const task = await environment.longhaul.start({ ...smallInput, key });
    await expect(task.result()).rejects.toMatchObject({ failureType: 'TaskFailed' });
    expect(await readAll(key)).toMatchObject([{ kind: 'state', status: 'Failed' }, { kind: 'end' }]);
  });
});
