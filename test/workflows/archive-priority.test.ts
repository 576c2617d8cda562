import { activitiesOf, FakeService, seen } from '../support/fake-activities';
import { type StartTask, TaskEnvironment } from '../support/task-environment';
import { eventually } from '../support/eventually';

const environment = TaskEnvironment.forSuite();

const minutesLeft = { first: 600, days: 2_880, hours: 120, soon: 10 } as const;
type Name = keyof typeof minutesLeft;

/** A service whose task has succeeded, and whose results expire then. */
function succeeded(name: Name, archived: string[]): FakeService {
  const service = new FakeService({ requestId: name });
  const iso = new Date(Date.now() + minutesLeft[name] * 60_000).toISOString();
  service.script = [seen('Success', { timestamps: { expiredAt: { raw: iso, iso } } })];
  service.onArchive = () => {
    archived.push(name);
    return Promise.resolve();
  };
  return service;
}

describe('archives that wait for a free slot', () => {
  it.concurrent('come in the order in which their results expire, whenever they were asked for', async () => {
    const archived: string[] = [];
    const names = Object.keys(minutesLeft) as Name[];
    const services = new Map(names.map((name) => [`task:${name}-${Date.now()}`, succeeded(name, archived)]));
    let free = (): void => undefined;
    const isFree = new Promise<void>((resolve) => (free = resolve));
    const [first] = services.values();
    if (first !== undefined) first.onArchive = () => (archived.push('first'), isFree);

    const run = async (start: StartTask): Promise<void> => {
      const tasks = [];
      try {
        for (const workflowId of services.keys()) {
          const task = await start({ inputs: {} }, workflowId);
          await eventually(async () => {
            const { pendingActivities } = (await task.describe()).raw;
            return pendingActivities?.some(({ activityType }) => activityType?.name === 'archiveOutputs') === true;
          });
          tasks.push(task);
        }
      } finally {
        free();
      }
      for (const task of tasks) await task.result();
    };
    await environment.withWorkers(activitiesOf(services), run, { transferSlots: 1 });
    expect(archived).toEqual(['first', 'soon', 'hours', 'days']);
  });
});
