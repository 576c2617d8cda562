import { taskView } from '../../../../src/client/task/task-view';
import { failureTypes } from '../../../../src/contract/failure-types';
import { afterFailure } from '../../../../src/contract/task-advice';
import { adoptionKey, taskWorkflowId } from '../../../../src/contract/workflow-ids';
import { shellWords } from '../../../support/shell-words';

/** As another program may call a workflow, and a service a task. */
const hostile = `a';echo,owned;$(echo,owned)"\``;

function cutOffWords(): string {
  const description = {
    ...{
      workflowId: taskWorkflowId(adoptionKey(hostile)),
      runId: 'r',
      taskQueue: 'longhaul',
      problem: null,
      paused: [],
    },
    ...{
      startedAt: new Date(0),
      closedAt: new Date(1),
      attributes: new Map([['LonghaulRequestId', hostile]]),
      tags: [],
    },
    ...{ undecodable: [], memo: new Map(), pendingActivities: [], isCancelRequested: false, encryptionKey: null },
    execution: 'TERMINATED',
  } as const;
  const pending = { transfers: [], problem: null, watched: null, refusedCreates: 0 };
  return taskView({ description, reported: undefined, pending, url: null }).problem?.remedy ?? '';
}

function failedWords(type: 'StopUnconfirmed' | 'ArchiveIncomplete', requestId: string | null): string {
  const task = { workflowId: hostile, isAdopted: false, batchId: null, requestId, createNumber: 1 };
  return afterFailure({ ...task, type: failureTypes[type] });
}

describe('a command that is printed to be copied', () => {
  it.each([
    ['to adopt a task that was cut off', cutOffWords(), 'longhaul adopt', hostile],
    ['to follow a task that may run', failedWords('StopUnconfirmed', hostile), 'longhaul adopt', hostile],
    ['to archive a task', failedWords('ArchiveIncomplete', hostile), 'longhaul adopt', hostile],
    ['to settle a create', failedWords('StopUnconfirmed', null), 'longhaul reconcile', `${hostile}/1=REQUEST_ID`],
  ])('%s runs nothing of an id in it', (_what, text, command, word) => {
    const [, printed = ''] = new RegExp(`(${command} .*)`, 's').exec(text) ?? [];

    expect(shellWords(printed.split('\n')[0] ?? '')).toContain(word);
  });
});
