import type { App } from '../../../reference-service/apps/app-catalog';
import { Task } from '../../../reference-service/tasks/task';
import { TaskBook } from '../../../reference-service/tasks/task-book';
import { WaitingLine } from '../../../reference-service/tasks/waiting-line';
import { formatTimestamp } from '../../../reference-service/timestamp';

const app: App = { webAppId: 1, name: 'app', description: 'an app', graph: new Map() };
const newTask = (): Task =>
  new Task({ accountId: 'local', app, graph: app.graph, suppressesPreviews: false, scenarios: [] });

describe('a task', () => {
  it('moves only along the table of the specification', () => {
    const task = newTask();

    expect(() => {
      task.moveTo('Success');
    }).toThrow('cannot move from Queuing to Success');
    task.moveTo('Preparing');
    expect(() => {
      task.moveTo('Queuing');
    }).toThrow('cannot move');
    task.moveTo('Running');
    task.moveTo('Success');
    expect(() => {
      task.stop('Canceled');
    }).toThrow('cannot move from Success');
  });

  it('tells who waits for it that it has ended, and stops its work', async () => {
    const task = newTask();
    task.stop('Canceled');

    await expect(task.whenEnded).resolves.toBeUndefined();
    expect(task.abort.signal.aborted).toBe(true);
    expect(task.endedAtMs).toBe(task.updatedAtMs);
  });
});

describe('the book of tasks', () => {
  it('remembers so many ended tasks and no more: the oldest expire before their time', async () => {
    const expired: Task[] = [];
    const book = new TaskBook({ resultLifetimeMs: 60_000, keptTasks: 2, onExpired: (task) => expired.push(task) });
    const open = newTask();
    const ended = [newTask(), newTask(), newTask()];
    for (const task of [open, ...ended]) book.add(task);
    for (const task of ended) task.stop('Canceled');
    await Promise.all(ended.map((task) => task.whenEnded));
    book.close();

    expect(expired).toEqual([ended[0]]);
    expect([...book.all()]).toEqual([open, ended[1], ended[2]]);
    expect(() => book.get(ended[0]?.requestId ?? '', 'local')).toThrow('have expired');
  });
});

describe('a waiting line', () => {
  it('keeps positions right while members join, leave and are served', () => {
    const line = new WaitingLine<string>();
    for (const member of ['a', 'b', 'c', 'd']) line.join(member);

    expect(line.countAhead('d')).toBe(3);
    expect(line.leave('b')).toBe(true);
    expect(line.leave('b')).toBe(false);
    line.join('e');
    expect(['a', 'b', 'c', 'd', 'e'].map((member) => line.countAhead(member))).toEqual([0, -1, 1, 2, 3]);
    expect(line.first()).toBe('a');
    expect(line.length).toBe(4);
  });
});

describe('a timestamp', () => {
  it('is written in UTC+8', () => {
    expect(formatTimestamp(Date.UTC(2026, 11, 31, 20, 5, 9))).toBe('2027-01-01 04:05:09');
  });
});
