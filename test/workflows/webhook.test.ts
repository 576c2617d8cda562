import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import { searchAttributes } from '../../src/contract/search-attributes';
import { type WebhookInput, webhookWorkflowId } from '../../src/contract/webhook';
import { eventually } from '../support/eventually';
import { FakeService, seen, untilCancelled } from '../support/fake-activities';
import { fakeBatchOf, rowEnd } from '../support/fake-batch';
import {
  executionOf,
  failureOf,
  type RunningTask,
  TaskEnvironment,
  type TestInput,
  whenStatusIs,
} from '../support/task-environment';

const environment = TaskEnvironment.forSuite();
let service: FakeService;
beforeEach(() => {
  service = new FakeService();
});

interface Told {
  readonly sent: WebhookInput;
  /** How the task ended, in Temporal's words. */
  readonly execution: string;
}

/** Runs a task to its end, and waits for what is sent of it. */
async function endOf(input: TestInput, act?: (task: RunningTask) => Promise<unknown>): Promise<Told> {
  return await environment.withTask(service.activities, { webhook: 'orders', ...input }, async (task) => {
    await act?.(task);
    const execution = await executionOf(task);
    const sent = await eventually(() => service.calls.webhooks[0], { what: 'the webhook' });
    if (sent === undefined) throw new Error('nothing was sent');
    const { runId } = await task.describe();
    expect(sent.event.data).toMatchObject({ workflowId: task.workflowId, runId });
    return { sent, execution };
  });
}

describe('the webhook of a task', () => {
  it('tells of its success once, by an id that the delivery has, too', async () => {
    const { sent, execution } = await endOf({});
    expect(execution).toBe('COMPLETED');
    const { id, event, webhook } = sent;
    expect({ webhook, type: event.type, id }).toEqual({
      ...{ webhook: 'orders', type: 'task.completed', id: expect.stringMatching(/^msg_[0-9a-f-]{36}$/) as string },
    });
    expect(event.data).toMatchObject({
      ...{ key: event.data.workflowId.slice('task:'.length), requestId: 'request-1', status: 'Success', batchId: null },
      ...{ failure: null, outputCount: 1, account: 'default', webAppId: 7, tags: [] },
    });
    const delivery = environment.client.workflow.getHandle(webhookWorkflowId(event.data.workflowId, id));
    expect(await delivery.result()).toMatchObject({ httpStatus: 204 });
    expect(service.calls.webhooks).toHaveLength(1);
  });

  it('tells of a failure, with its type and message', async () => {
    service.script = [seen('Running'), seen('Failed', { errorMessage: 'no memory' })];
    const { sent, execution } = await endOf({});
    expect(execution).toBe('FAILED');
    expect(sent.event).toMatchObject({
      type: 'task.failed',
      data: { status: 'Failed', failure: { type: 'TaskFailed', message: 'The task failed at the service: no memory' } },
    });
  });

  it('cuts a message that is long', async () => {
    service.script = [seen('Failed', { errorMessage: 'x'.repeat(3_900) })];
    const { sent } = await endOf({});
    expect(sent.event.data.failure?.message).toHaveLength(1_000);
  });

  it('tells that it was canceled, as Temporal was asked to', async () => {
    service.script = [seen('Running')];
    const { sent, execution } = await endOf({}, async (task) => {
      await whenStatusIs(task, 'Running');
      await task.cancel();
    });
    expect(execution).toBe('CANCELLED');
    expect(sent.event).toMatchObject({ type: 'task.canceled', data: { status: 'Canceled', failure: null } });
  });

  it('tells of an input that is refused', async () => {
    const { sent, execution } = await endOf({ webAppId: 0 });
    expect(execution).toBe('FAILED');
    expect(sent.event).toMatchObject({
      type: 'task.failed',
      data: { requestId: null, outputCount: 0, failure: { type: 'InputInvalid' } },
    });
  });

  it('does not keep it open while nobody takes it', async () => {
    service.onWebhook = untilCancelled;
    const { sent, execution } = await endOf({});
    expect(execution).toBe('COMPLETED');
    const delivery = environment.client.workflow.getHandle(webhookWorkflowId(sent.event.data.workflowId, sent.id));
    expect((await delivery.describe()).status.name).toBe('RUNNING');
    await delivery.cancel();
    expect(await executionOf(delivery)).toBe('CANCELLED');
  });

  it('is not sent of a task that asks for none, and a name that can be none is refused', async () => {
    await environment.withTask(service.activities, {}, (task) => task.result());
    expect(service.calls.webhooks).toEqual([]);
    const refused = await environment.withTask(service.activities, { webhook: 'https://evil.example' }, failureOf);
    expect(refused.message).toMatch(/webhook is "https:\/\/evil\.example"; give 1 to 80 letters/);
    expect(service.calls.webhooks).toEqual([]);
  });

  it('has its tags, and none that another client has made up', async () => {
    const workflowId = `task:${randomUUID()}`;
    await environment.withWorkers(service.activities, async (_, taskQueue) => {
      const task = await environment.client.workflow.start('task', {
        ...{ taskQueue, workflowId, args: [{ webAppId: 0, inputs: {}, webhook: 'orders' }] },
        typedSearchAttributes: [{ key: searchAttributes.tags, value: ['spring', 'no tag <b>', 'x'.repeat(500)] }],
      });
      expect(await executionOf(task)).toBe('FAILED');
      const sent = await eventually(() => service.calls.webhooks[0]);
      expect(sent?.event.data).toMatchObject({ tags: ['spring'] });
    });
  });
});

describe('a delivery', () => {
  it('ends as failed when its receiver is gone for good, and is sent again, by the same id, after a reset', async () => {
    let isGone = true;
    service.onWebhook = () => {
      if (!isGone) return Promise.resolve();
      const gone = { type: 'WebhookUndelivered', message: 'answered with HTTP 410', nonRetryable: true };
      return Promise.reject(ApplicationFailure.create(gone));
    };
    await environment.withTask(service.activities, { webhook: 'orders' }, async (task) => {
      await task.result();
      const sent = await eventually(() => service.calls.webhooks[0]);
      const workflowId = webhookWorkflowId(task.workflowId, sent?.id ?? '');
      const delivery = environment.client.workflow.getHandle(workflowId);
      const failure = await failureOf(delivery);
      expect(failure).toMatchObject({ type: 'WebhookUndelivered', details: [{ id: sent?.id, webhook: 'orders' }] });
      expect(failure.message).toBe('Not delivered: answered with HTTP 410');

      isGone = false;
      const { runId } = await delivery.describe();
      const { events = [] } = await delivery.fetchHistory();
      const first = events?.find((event) => event.workflowTaskCompletedEventAttributes != null);
      await environment.client.workflowService.resetWorkflowExecution({
        ...{ namespace: 'default', workflowExecution: { workflowId, runId }, reason: 'send it again' },
        ...{ requestId: randomUUID(), workflowTaskFinishEventId: first?.eventId ?? null },
      });
      await environment.client.workflow.getHandle(workflowId).result();
      expect(service.calls.webhooks).toEqual([sent, sent]);
    });
  });

  it('is refused to whoever is not the workflow that ended', async () => {
    const forged: WebhookInput = {
      ...{ webhook: 'orders', id: 'msg_forged' },
      event: {
        type: 'task.completed',
        timestamp: '2026-03-01T12:00:00Z',
        data: { workflowId: 'task:order-17' } as never,
      },
    };
    await environment.withWorkers(service.activities, async (_, taskQueue) => {
      for (const args of [[forged], ['rubbish'], []]) {
        const delivery = await environment.client.workflow.start('webhook', {
          ...{ taskQueue, workflowId: `webhook:${randomUUID()}`, args },
        });
        expect(await failureOf(delivery)).toMatchObject({ type: 'InputInvalid' });
      }
    });
    expect(service.calls.webhooks).toEqual([]);
  });
});

describe('the webhook of a batch', () => {
  it('tells of its end once, with its figures, and its rows tell nothing', async () => {
    const batch = fakeBatchOf(environment.client, 8, { webhook: 'orders' });
    batch.endsAtOnce = ({ key }) => rowEnd(key);
    await environment.withBatch(batch.activities, batch.input, async (run) => {
      await run.result();
      const sent = await eventually(() => batch.webhooks[0]);
      expect(sent?.event).toMatchObject({
        type: 'batch.completed',
        data: { batchId: batch.input.id, ending: 'completed', rows: 8, failure: null, results: { csv: 'results.csv' } },
      });
      expect(batch.webhooks).toHaveLength(1);
    });
  });

  it('tells that it was stopped', async () => {
    const batch = fakeBatchOf(environment.client, 8, { webhook: 'orders', concurrency: 2 });
    await environment.withBatch(batch.activities, batch.input, async (run) => {
      await eventually(() => batch.running.size === 2);
      await run.cancel();
      expect(await executionOf(run)).toBe('CANCELLED');
      const sent = await eventually(() => batch.webhooks[0]);
      expect(sent?.event).toMatchObject({ type: 'batch.canceled', data: { ending: 'stopped', rows: 8 } });
    });
  });

  it('tells of an input that is refused', async () => {
    const batch = fakeBatchOf(environment.client, 8, { webhook: 'orders', concurrency: 0 });
    await environment.withBatch(batch.activities, batch.input, async (run) => {
      expect(await failureOf(run)).toMatchObject({ type: 'InputInvalid' });
      const sent = await eventually(() => batch.webhooks[0]);
      expect(sent?.event).toMatchObject({ type: 'batch.failed', data: { batchId: batch.input.id, ending: 'failed' } });
    });
  });
});
