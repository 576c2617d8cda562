import { cancelSignal } from '../../src/contract/task-messages';
import { eventually } from './eventually';
import { seen, untilCancelled } from './fake-activities';
import { fastTuning, whenRequestIs, whenStatusIs } from './task-environment';
import { idle, story, type TaskStory } from './task-story';

/** It runs, so that a verb applies, only once it is seen to be stopped. */
const stopWhilePreparing: TaskStory['begin'] = (service) => {
  service.script = [seen('Preparing')];
  return async (task) => {
    await whenStatusIs(task, 'Preparing');
    await task.cancel();
    await whenStatusIs(task, 'Stopping');
    service.script = [seen('Running')];
  };
};

/** Branches of the `task` workflow in which a task is asked to end. */
export const stopStories: readonly TaskStory[] = [
  story('stop-during-upload', {
    ways: () => ({ onUpload: untilCancelled }),
    act: async (task, service) => {
      await eventually(() => service.calls.uploads.length > 0);
      await task.cancel();
    },
    execution: 'CANCELLED',
    creates: 0,
  }),
  story('stop-while-preparing', { begin: stopWhilePreparing, execution: 'CANCELLED', verbs: ['interrupt'] }),
  story('stop-sent-late', {
    input: { tuning: { ...fastTuning, poll: { minMs: 5_000, maxMs: 5_000 }, stopGraceMs: 500 } },
    begin: stopWhilePreparing,
    execution: 'CANCELLED',
    verbs: ['interrupt'],
  }),
  story('cancel-while-queuing', {
    ways: () => ({ script: [seen('Queuing')] }),
    act: async (task) => {
      await whenStatusIs(task, 'Queuing');
      await task.signal(cancelSignal);
    },
    verbs: ['cancel'],
  }),
  story('cancel-while-running', {
    ways: () => ({ script: [seen('Running')] }),
    act: async (task, service) => {
      await whenStatusIs(task, 'Running');
      await task.signal(cancelSignal);
      await whenRequestIs(task, 'cancel', 'notApplicable');
      service.script = [seen('Success')];
    },
  }),
  story('deadline', {
    input: { deadlines: { run: 200 } },
    ways: () => ({ script: [seen('Running')] }),
    execution: 'FAILED',
    verbs: ['interrupt'],
  }),
];
