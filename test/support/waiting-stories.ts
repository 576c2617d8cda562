import type { InputValue } from '../../src/contract/task-input';
import { adoptUpdate, callbackSignal, interruptSignal, rearchiveUpdate } from '../../src/contract/task-messages';
import { eventually } from './eventually';
import { seen } from './fake-activities';
import { fastTuning, type RunningTask, whenStatusIs } from './task-environment';
import { stopStories, taskStories } from './task-stories';
import { brokenOutput, story, type TaskStory, uncertain } from './task-story';
import { refusedCreate } from './refused-create';

/** Asks it for something again and again, until it has continued as new. */
async function untilContinued(task: RunningTask): Promise<void> {
  const { runId } = await task.describe();
  await eventually(async () => {
    await task.signal(interruptSignal);
    return (await task.describe()).runId !== runId;
  });
}

/** Every branch of the `task` workflow since each of its waits may continue as new. */
const waitingStories: readonly TaskStory[] = [
  story('create-continued-as-new', {
    input: { inputs: {}, tuning: { ...fastTuning, continueAsNewAfterEvents: 40 } },
    ways: () => ({ createOutcomes: [{ ...refusedCreate(429, 'queue full'), retryAfterMs: 60_000 }] }),
    act: async (task, service) => {
      await eventually(() => service.calls.creates.length > 0);
      await untilContinued(task);
    },
    creates: 2,
    verbs: ['interrupt'],
  }),
  story('uncertain-continued-as-new', {
    input: { tuning: { ...fastTuning, continueAsNewAfterEvents: 40 } },
    ways: () => ({
      createOutcomes: [uncertain],
      otherTasks: { unanswered: { seen: 'nothing', problem: 'HTTP 500' } },
      knownAs: ['true-id'],
    }),
    act: async (task) => {
      await whenStatusIs(task, 'CreateUncertain');
      await task.signal(callbackSignal, { requestId: 'unanswered', createNumber: 1, status: 'Success' });
      const { runId } = await task.describe();
      await eventually(async () => (await task.describe()).runId !== runId);
      await task.signal(callbackSignal, { requestId: 'true-id', createNumber: 1, status: 'Success' });
    },
  }),
  story('uncertain-many-callbacks', {
    begin: (service) => {
      service.knownAs = ['true-id'];
      service.createOutcomes = [
        async () => {
          // The create is under way: all of them are there when its outcome turns out to be unknown.
          const callBack = await eventually(() => callBackOften);
          await callBack?.();
          return uncertain;
        },
      ];
      let callBackOften: (() => Promise<void>) | undefined;
      return async (task) => {
        callBackOften = async () => {
          for (let index = 0; index < 25; index += 1) {
            await task.signal(callbackSignal, { requestId: `forged-${index}`, createNumber: 1, status: 'Success' });
          }
          await task.signal(callbackSignal, { requestId: 'true-id', createNumber: 1, status: 'Success' });
        };
        await task.result();
      };
    },
  }),
  story('uncertain-adopt-asked', {
    ways: () => ({ createOutcomes: [uncertain], knownAs: ['found-it'] }),
    act: async (task) => {
      await whenStatusIs(task, 'CreateUncertain');
      await task.executeUpdate(adoptUpdate, { args: [{ requestId: 'mistyped' }] }).catch(() => undefined);
      await task.executeUpdate(adoptUpdate, { args: [{ requestId: 'found-it' }] });
    },
  }),
  story('stop-with-cost-times', {
    begin: (service) => {
      service.script = [seen('Running')];
      service.onVerb = () => {
        service.script = [seen('Canceled', { costTimes: { inference_cost_time: 7 }, timestamps: {} })];
        return { taken: true };
      };
      return async (task) => {
        await whenStatusIs(task, 'Running');
        await task.cancel();
      };
    },
    execution: 'CANCELLED',
    verbs: ['interrupt'],
  }),
  story('archive-continued-as-new', {
    input: { inputs: {}, tuning: { ...fastTuning, continueAsNewAfterEvents: 60 } },
    ways: () => ({ script: [seen('Success')], archiveFailures: [brokenOutput] }),
    act: async (task) => {
      await whenStatusIs(task, 'ArchiveIncomplete');
      await untilContinued(task);
      await task.executeUpdate(rearchiveUpdate);
    },
  }),
  story('uncertain-with-a-timer', {
    ways: () => ({ createOutcomes: [uncertain] }),
    act: async (task) => {
      await whenStatusIs(task, 'CreateUncertain');
      await task.executeUpdate(adoptUpdate, { args: [{ requestId: 'found-it' }] });
    },
  }),
  story('activity-told', {
    input: { watch: 'activity', tuning: { ...fastTuning, watchTellMs: 20 } },
    ways: () => ({ script: [seen('Queuing')] }),
    act: async (task, service) => {
      await whenStatusIs(task, 'Queuing');
      service.script = [seen('Running')];
      await whenStatusIs(task, 'Running');
      service.script = [seen('Success')];
    },
  }),
];

/** Each end of a task that has a webhook sent. */
const webhookStories: readonly TaskStory[] = [
  story('webhook', { input: { webhook: 'orders' } }),
  story('webhook-of-a-failure', {
    input: { webhook: 'orders' },
    ways: () => ({ script: [seen('Running'), seen('Failed', { errorMessage: 'no memory' })] }),
    execution: 'FAILED',
  }),
  story('webhook-of-a-refused-input', { input: { webhook: 'orders', webAppId: 0 }, execution: 'FAILED', creates: 0 }),
];

/** An input that is refused by a patch. */
const refusedStories: readonly TaskStory[] = [
  story('unknown-field-refused', {
    input: { inputs: { '1:LoadImage.image': { file: 'photo.png', names: 'front' } as InputValue } },
    execution: 'FAILED',
    creates: 0,
  }),
];

/** The stories of all modules. */
export const allTaskStories: readonly TaskStory[] = [
  ...taskStories,
  ...stopStories,
  ...waitingStories,
  ...webhookStories,
  ...refusedStories,
];
