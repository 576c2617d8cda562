import { heartbeat } from '@temporalio/activity';
import {
  abandonUpdate,
  adoptUpdate,
  callbackSignal,
  cancelSignal,
  interruptSignal,
  rearchiveUpdate,
  recreateUpdate,
} from '../../src/contract/task-messages';
import { eventually } from './eventually';
import { passingFailure, seen, untilCancelled } from './fake-activities';
import { fastTuning, type RunningTask, whenRequestIs, whenStatusIs } from './task-environment';
import { brokenOutput, idle, story, type TaskStory, uncertain } from './task-story';
import { whenSeenAs } from './watch-ways';
import { refusedCreate } from './refused-create';

const parkedShortly = { tuning: { ...fastTuning, archivePauseMs: 50 } };
/** So rare that the task is polled only when a message comes in. */
const seldom = { ...fastTuning, poll: { minMs: 600_000, maxMs: 600_000 } };

const queueFull = refusedCreate(429, 'queue full');

async function decideOnArchive(task: RunningTask, decision: typeof abandonUpdate): Promise<void> {
  await whenStatusIs(task, 'ArchiveIncomplete');
  await task.executeUpdate(decision);
}

/** Every branch of the `task` workflow that leaves events of another kind or in another order. */
export const taskStories: readonly TaskStory[] = [
  story('main-line', {}),
  story('files-of-one-content', {
    input: {
      webAppId: 7,
      inputs: { '1:A.x': { file: 'a.png' }, '2:A.x': { file: 'b.png', as: 'id' }, '3:A.x': { file: 'c.png' } },
    },
    ways: () => ({ contents: { 'a.png': 'same', 'b.png': 'same' } }),
  }),
  story('adopted', { input: { adopt: { requestId: 'made-elsewhere' } }, creates: 0 }),
  story('failed', {
    ways: () => ({ script: [seen('Running'), seen('Failed', { errorMessage: 'no memory' })] }),
    execution: 'FAILED',
  }),
  story('create-tried-again', {
    ways: () => ({
      createOutcomes: [
        { outcome: 'notSent', reason: 'ECONNREFUSED' },
        { ...queueFull, retryAfterMs: 90 },
      ],
    }),
    creates: 3,
  }),
  story('create-stopped-between-tries', {
    ways: () => ({ createOutcomes: [{ ...queueFull, retryAfterMs: 60_000 }] }),
    act: async (task, service) => {
      await eventually(() => service.calls.creates.length > 0);
      await task.cancel();
    },
    execution: 'CANCELLED',
  }),
  story('create-past-its-deadline', {
    input: { inputs: {}, deadlines: { total: 2_000 } },
    ways: () => ({ createOutcomes: [{ ...queueFull, retryAfterMs: 60_000 }] }),
    execution: 'FAILED',
  }),
  story('create-lost', {
    input: { tuning: { ...fastTuning, createTimeoutMs: 1_000 } },
    ways: () => ({
      createOutcomes: [
        () => {
          heartbeat({ archiveId: 'archive-of-all' });
          return untilCancelled();
        },
      ],
      onLostCreate: ({ reason }) => Promise.resolve({ outcome: 'notSent', reason }),
    }),
    creates: 2,
  }),
  story('create-rejected', {
    ways: () => ({ createOutcomes: [refusedCreate(404, 'no such app')] }),
    execution: 'FAILED',
  }),
  story('uncertain-adopt', {
    ways: () => ({ createOutcomes: [uncertain] }),
    act: async (task) => {
      await whenStatusIs(task, 'CreateUncertain');
      await task.executeUpdate(adoptUpdate, { args: [{ requestId: 'found-it' }] });
    },
  }),
  story('uncertain-recreate', {
    ways: () => ({ createOutcomes: [uncertain] }),
    act: async (task) => {
      await whenStatusIs(task, 'CreateUncertain');
      await task.executeUpdate(recreateUpdate);
    },
    creates: 2,
  }),
  story('uncertain-called-back', {
    ways: () => ({ createOutcomes: [uncertain] }),
    act: async (task) => {
      await whenStatusIs(task, 'CreateUncertain');
      await task.signal(callbackSignal, { requestId: 'called-back', createNumber: 1, status: 'Success' });
    },
  }),
  story('uncertain-policy-recreate', {
    input: { onUncertain: 'recreate' },
    ways: () => ({ createOutcomes: [uncertain] }),
    creates: 2,
  }),
  story('continued-as-new', {
    input: { inputs: {}, tuning: { ...fastTuning, continueAsNewAfterEvents: 40 } },
    ways: () => ({ script: [...Array.from({ length: 15 }, () => seen('Queuing')), seen('Running')] }),
    act: (task) => task.signal(interruptSignal),
    verbs: ['interrupt'],
  }),
  story('archive-tried-again', {
    ways: () => ({ archiveFailures: [passingFailure('disk full'), brokenOutput] }),
    act: (task) => decideOnArchive(task, rearchiveUpdate),
  }),
  story('archive-that-takes-long', {
    begin: (service) => {
      service.archiveFailures = Array.from({ length: 4 }, () => passingFailure('disk full'));
      return idle;
    },
  }),
  story('archive-tried-again-before-expiry', {
    begin: (service) => {
      const expiredAt = { iso: new Date(Date.now() + 3_600_000).toISOString(), raw: '' };
      service.script = [seen('Success', { timestamps: { expiredAt } })];
      service.archiveFailures = [brokenOutput];
      return (task) => decideOnArchive(task, rearchiveUpdate);
    },
  }),
  story('archive-tried-again-by-itself', {
    input: parkedShortly,
    ways: () => ({ archiveFailures: [brokenOutput, brokenOutput] }),
  }),
  story('archive-abandoned-while-tried-again', {
    input: parkedShortly,
    begin: (service) => {
      service.archiveFailures = [brokenOutput];
      service.onArchive = () => (service.calls.archives.length > 1 ? untilCancelled() : idle());
      return async (task) => {
        // On a worker that remembers one of many tasks the pause is long over when this one's turn comes.
        await eventually(() => service.calls.archives.length > 1, { withinMs: 90_000 });
        await task.executeUpdate(abandonUpdate);
      };
    },
    execution: 'FAILED',
  }),
  story('archive-abandoned', {
    ways: () => ({ archiveFailures: [brokenOutput] }),
    act: (task) => decideOnArchive(task, abandonUpdate),
    execution: 'FAILED',
  }),
  story('activity-main-line', { input: { watch: 'activity' } }),
  story('activity-called-back', {
    input: { watch: 'activity', tuning: seldom },
    ways: () => ({ script: [seen('Success')] }),
    act: async (task) => {
      await whenStatusIs(task, 'Watching');
      await task.signal(callbackSignal, { requestId: 'request-1', createNumber: 1, status: 'Success' });
    },
  }),
  story('activity-stop-while-running', {
    input: { watch: 'activity' },
    ways: () => ({ script: [seen('Running')] }),
    act: async (task) => {
      await whenSeenAs(task, 'activity', 'Running');
      await task.cancel();
    },
    execution: 'CANCELLED',
    verbs: ['interrupt'],
  }),
  story('activity-interrupt-kept', {
    input: { watch: 'activity' },
    ways: () => ({ script: [seen('Queuing')] }),
    act: async (task, service) => {
      await whenSeenAs(task, 'activity', 'Queuing');
      await task.signal(interruptSignal);
      await whenRequestIs(task, 'interrupt', 'waiting');
      service.script = [seen('Preparing'), seen('Running')];
    },
    verbs: ['interrupt'],
  }),
  story('activity-deadline', {
    input: { watch: 'activity', deadlines: { run: 200 } },
    ways: () => ({ script: [seen('Running')] }),
    execution: 'FAILED',
    verbs: ['interrupt'],
  }),
  story('activity-lost', {
    input: { watch: 'activity' },
    ways: () => ({ script: [{ seen: 'notFound' }] }),
    execution: 'FAILED',
  }),
  story('activity-continued-as-new', {
    input: { inputs: {}, watch: 'activity', tuning: { ...seldom, continueAsNewAfterEvents: 40 } },
    ways: () => ({ script: [seen('Running')] }),
    act: async (task, service) => {
      for (let polls = 1; polls <= 6; polls += 1) {
        await task.signal(callbackSignal, { requestId: 'request-1', createNumber: 1, status: 'Success' });
        await eventually(() => service.calls.polls >= polls);
      }
      service.script = [seen('Success')];
      await task.signal(callbackSignal, { requestId: 'request-1', createNumber: 1, status: 'Success' });
    },
  }),
  story('row-of-a-batch', { input: { inputs: {}, batch: { id: 'nobody-runs-it', key: 'row-1' } } }),
];

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
