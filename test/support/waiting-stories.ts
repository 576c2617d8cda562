import type { InputValue } from '../../src/contract/task-input';
import { adoptUpdate, callbackSignal, interruptSignal, rearchiveUpdate } from '../../src/contract/task-messages';
import { eventually } from './eventually';
import { seen } from './fake-activities';
import { fastTuning, whenStatusIs } from './task-environment';
import { stopStories } from './stop-stories';
import { taskStories } from './task-stories';
import { brokenOutput, idle, story, type TaskStory, uncertain } from './task-story';
import { refusedCreate } from './refused-create';

/** Every branch of the `task` workflow since each of its waits may continue as new. */
const waitingStories: readonly TaskStory[] = [
  story('create-continued-as-new', {
    input: { inputs: {}, tuning: { ...fastTuning, continueAsNewAfterEvents: 40 } },
    begin: (service) => {
      const refused = refusedCreate(429, 'queue full');
      service.createOutcomes = [{ ...refused, retryAfterMs: 60_000 }];
      return async (task) => {
        await eventually(() => service.calls.creates.length > 0);
        const { runId } = await task.describe();
        await eventually(async () => {
          await task.signal(interruptSignal);
          return (await task.describe()).runId !== runId;
        });
      };
    },
    creates: 2,
    verbs: ['interrupt'],
  }),
  story('uncertain-continued-as-new', {
    input: { tuning: { ...fastTuning, continueAsNewAfterEvents: 40 } },
    begin: (service) => {
      service.createOutcomes = [uncertain];
      service.otherTasks = { unanswered: { seen: 'nothing', problem: 'HTTP 500' } };
      service.knownAs = ['true-id'];
      return async (task) => {
        await whenStatusIs(task, 'CreateUncertain');
        await task.signal(callbackSignal, { requestId: 'unanswered', status: 'Success' });
        const { runId } = await task.describe();
        await eventually(async () => (await task.describe()).runId !== runId);
        await task.signal(callbackSignal, { requestId: 'true-id', status: 'Success' });
      };
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
            await task.signal(callbackSignal, { requestId: `forged-${index}`, status: 'Success' });
          }
          await task.signal(callbackSignal, { requestId: 'true-id', status: 'Success' });
        };
        await task.result();
      };
    },
  }),
  story('uncertain-adopt-asked', {
    begin: (service) => {
      service.createOutcomes = [uncertain];
      service.knownAs = ['found-it'];
      return async (task) => {
        await whenStatusIs(task, 'CreateUncertain');
        await task.executeUpdate(adoptUpdate, { args: [{ requestId: 'mistyped' }] }).catch(() => undefined);
        await task.executeUpdate(adoptUpdate, { args: [{ requestId: 'found-it' }] });
      };
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
    begin: (service) => {
      service.script = [seen('Success')];
      service.archiveFailures = [brokenOutput];
      return async (task) => {
        await whenStatusIs(task, 'ArchiveIncomplete');
        const { runId } = await task.describe();
        await eventually(async () => {
          await task.signal(interruptSignal);
          return (await task.describe()).runId !== runId;
        });
        await task.executeUpdate(rearchiveUpdate);
      };
    },
  }),
  story('uncertain-with-a-timer', {
    begin: (service) => {
      service.createOutcomes = [uncertain];
      return async (task) => {
        await whenStatusIs(task, 'CreateUncertain');
        await task.executeUpdate(adoptUpdate, { args: [{ requestId: 'found-it' }] });
      };
    },
  }),
  story('activity-told', {
    input: { watch: 'activity', tuning: { ...fastTuning, watchTellMs: 20 } },
    begin: (service) => {
      service.script = [seen('Queuing')];
      return async (task) => {
        await whenStatusIs(task, 'Queuing');
        service.script = [seen('Running')];
        await whenStatusIs(task, 'Running');
        service.script = [seen('Success')];
      };
    },
  }),
];

/** Each end of a task that has a webhook sent. */
const webhookStories: readonly TaskStory[] = [
  story('webhook', { input: { webhook: 'orders' } }),
  story('webhook-of-a-failure', {
    input: { webhook: 'orders' },
    begin: (service) => {
      service.script = [seen('Running'), seen('Failed', { errorMessage: 'no memory' })];
      return idle;
    },
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
