import { taskView } from '../../../../src/client/task/task-view';
import { stuckRemedy } from '../../../../src/client/workflow-info';
import { formatWebhook } from '../../../../src/commands/task/task-text';
import { failureTypes } from '../../../../src/contract/failure-types';
import { adoptionKey, taskWorkflowId } from '../../../../src/contract/workflow-ids';
import { afterFailure } from '../../../../src/workflows/task/failure-advice';
import { shellWords } from '../../../support/shell-words';

/** As another program may call a workflow, and a service a task. */
const hostile = `a';echo,owned;$(echo,owned)"\``;

function webhookWords(): string {
  const webhook = {
    id: 'msg_1',
    isGivenUp: true,
    startedAt: '1970-01-01T00:00:00Z',
    lastFailure: '',
    nextAttemptAt: null,
  };
  return formatWebhook({ ...webhook, workflowId: hostile });
}

function cutOffWords(): string {
  const description = {
    ...{ workflowId: taskWorkflowId(adoptionKey(hostile)), runId: 'r', taskQueue: 'longhaul', stuck: null, paused: [] },
    isOverloaded: false,
    ...{
      startedAt: new Date(0),
      closedAt: new Date(1),
      attributes: new Map([['LonghaulRequestId', hostile]]),
      tags: [],
    },
    ...{ undecodable: [], memo: new Map(), pendingActivities: [], isCancelRequested: false, encryptionKey: null },
    execution: 'TERMINATED',
  } as const;
  const pending = { transfers: [], retrying: [], watched: null, refusedCreates: 0 };
  return taskView({ description, reported: undefined, pending, url: null }).nextStep ?? '';
}

function failedWords(type: 'StopUnconfirmed' | 'ArchiveIncomplete', requestId: string | null): string {
  const plan = { batch: null, adoptRequestId: null };
  return afterFailure({ workflowId: hostile, plan, requestId, createNumber: 1, type: failureTypes[type] });
}

describe('a command that is printed to be copied', () => {
  it.each([
    ['to send a webhook again', webhookWords(), 'temporal workflow reset', hostile],
    ['to reset a stuck workflow', stuckRemedy(hostile), 'temporal workflow reset', hostile],
    ['to adopt a task that was cut off', cutOffWords(), 'longhaul adopt', hostile],
    ['to follow a task that may run', failedWords('StopUnconfirmed', hostile), 'longhaul adopt', hostile],
    ['to archive a task', failedWords('ArchiveIncomplete', hostile), 'longhaul adopt', hostile],
    ['to settle a create', failedWords('StopUnconfirmed', null), 'longhaul reconcile', `${hostile}/1=REQUEST_ID`],
  ])('%s runs nothing of an id in it', (_what, text, command, word) => {
    const [, printed = ''] = new RegExp(`(${command} .*)`, 's').exec(text) ?? [];

    expect(shellWords(printed.split('\n')[0] ?? '')).toContain(word);
  });
});
