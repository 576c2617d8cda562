import { noopMetricMeter } from '@temporalio/common';
import { createLogger } from '../../src/worker/logger';
import { replaySinks } from '../../src/worker/telemetry';
import { eventually } from '../support/eventually';
import { activitiesOf, FakeService, seen } from '../support/fake-activities';
import { executionOf, TaskEnvironment, testWorkflowId } from '../support/task-environment';
import type { TaskStory } from '../support/task-story';
import { allTaskStories } from '../support/waiting-stories';

const environment = TaskEnvironment.forSuite();

type Ending = Pick<TaskStory, 'name' | 'execution' | 'creates' | 'verbs'>;

/** Lives these stories side by side on workers that remember one workflow: the others are replayed, again and again. */
async function liveAll(stories: readonly TaskStory[]): Promise<Ending[]> {
  const lives = stories.map((story) => ({ story, id: testWorkflowId(story.input), service: new FakeService() }));
  const activities = activitiesOf(new Map(lives.map(({ id, service }) => [id, service])));
  return environment.withWorkers(
    activities,
    (start) =>
      Promise.all(
        lives.map(async ({ story: { name, input, begin }, id, service }) => {
          const act = begin(service);
          const task = await start(input, id);
          await act(task);
          const execution = (await executionOf(task)) as TaskStory['execution'];
          return { name, execution, creates: service.calls.creates.length, verbs: service.calls.verbs };
        }),
      ),
    { maxCachedWorkflows: 1 },
  );
}

describe('tasks side by side, on a worker that remembers one of them', () => {
  it.each([0, 1, 2, 3, 4, 5])('end as they do alone (stories %#)', async (part) => {
    const stories = allTaskStories.filter((_story, index) => index % 6 === part);
    const expected = stories.map(({ name, execution, creates, verbs }) => ({ name, execution, creates, verbs }));
    expect(await liveAll(stories)).toEqual(expected);
  });
});

it('a worker whose cache holds fewer tasks than it watches says so once', async () => {
  const lines: string[] = [];
  const logger = createLogger({ level: 'warn', destination: { write: (line: string) => void lines.push(line) } });
  const service = new FakeService({ script: [seen('Running')] });
  const polls = (): number => service.calls.polls;
  await environment.withWorkers(
    service.activities,
    async (start) => {
      const tasks = await Promise.all([1, 2, 3].map(() => start({ inputs: {} })));
      await eventually(() => polls() > 20);
      service.script = [seen('Success')];
      await Promise.all(tasks.map((task) => task.result()));
    },
    { maxCachedWorkflows: 1, sinks: replaySinks(logger, noopMetricMeter, 1) },
  );
  expect(lines.filter((line) => line.includes('more workflows run than the cache'))).toHaveLength(1);
});
