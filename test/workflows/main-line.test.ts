import { randomUUID } from 'node:crypto';
import { statusQuery } from '../../src/contract/task-messages';
import { searchAttributes, taskSearchAttributes } from '../../src/contract/search-attributes';
import type { InputValue } from '../../src/contract/task-input';
import { eventually } from '../support/eventually';
import { FakeService, finalFailure, seen } from '../support/fake-activities';
import { failureOf, fastTuning, listedStatusOf, TaskEnvironment } from '../support/task-environment';

const environment = TaskEnvironment.forSuite();

describe('the task workflow, from input files to archived outputs', () => {
  it.concurrent('uploads, creates once, follows the task to Success and archives it', async () => {
    const service = new FakeService();
    const result = await environment.withTask(service.activities, {}, (task) => task.result());

    expect(result).toMatchObject({
      status: 'Success',
      requestId: 'request-1',
      manifest: 'archive/request-1/manifest.json',
    });
    expect(service.calls).toMatchObject({ uploads: ['photo.jpg'], commits: ['inputs/photo.jpg'] });
    expect(service.calls.creates).toHaveLength(1);
    expect(service.calls.creates[0]?.inputs).toEqual({
      '1:LoadImage.image': { resource: { resourceId: 1, name: 'photo.jpg', objectKey: 'inputs/photo.jpg' }, as: 'url' },
      '2:ImageScale.width': 512,
    });
    expect(service.calls.archives).toHaveLength(1);
  });

  it.concurrent('says the same start while it runs and at its end: that of its workflow', async () => {
    const service = new FakeService();
    await environment.withTask(service.activities, {}, async (task) => {
      const startedAt = (await task.describe()).startTime.toISOString();
      expect(await task.query(statusQuery)).toMatchObject({ startedAt });
      expect(await task.result()).toMatchObject({ startedAt });
    });
  });

  it.concurrent('spends at most 40 history events on a task with one input file, apart from the watch', async () => {
    const service = new FakeService({ script: [seen('Success')] });
    const length = await environment.withTask(service.activities, {}, async (task) => {
      await task.result();
      return (await task.describe()).historyLength;
    });
    expect(length - 6 * service.calls.polls).toBeLessThanOrEqual(40);
  });

  it('spends at most 25 history events on a task without files that is done at once, watched by an activity', async () => {
    const service = new FakeService({ script: [seen('Success')] });
    const inputs = { '2:ImageScale.width': 512 };
    await environment.withWorkers(service.activities, async (_start, taskQueue) => {
      const task = await environment.client.workflow.start('task', {
        taskQueue,
        workflowId: `task:${randomUUID()}`,
        args: [{ webAppId: 7, inputs, watch: 'activity', tuning: fastTuning }],
        // As Longhaul's client starts it.
        typedSearchAttributes: taskSearchAttributes({
          status: 'Creating',
          account: 'default',
          webAppId: 7,
          requestId: null,
        }),
      });
      await task.result();
      const { historyLength, typedSearchAttributes } = await task.describe();
      expect(historyLength).toBeLessThanOrEqual(25);
      expect(typedSearchAttributes.get(searchAttributes.status)).toBe('Success');
      expect(typedSearchAttributes.get(searchAttributes.requestId)).toBe('request-1');
    });
  });

  it.concurrent('spends at most 6 events a poll on the watch, plus 20', async () => {
    const service = new FakeService({
      script: [...Array.from({ length: 50 }, () => seen('Running')), seen('Success')],
    });
    const length = await environment.withTask(service.activities, {}, async (task) => {
      await task.result();
      return (await task.describe()).historyLength;
    });
    expect(service.calls.polls).toBe(51);
    expect(length - 40).toBeLessThanOrEqual(6 * service.calls.polls + 20);
  });

  it.concurrent('archives what a failed task left, then fails in the service’s words', async () => {
    const service = new FakeService({ script: [seen('Failed', { errorMessage: 'out of memory in node 3' })] });
    const failure = await environment.withTask(service.activities, {}, failureOf);
    expect(failure).toMatchObject({
      type: 'TaskFailed',
      message: expect.stringContaining('out of memory in node 3') as string,
    });
    expect(service.calls.archives).toHaveLength(1);
  });

  it.concurrent('fails with every problem of a malformed input before anything is asked of the service', async () => {
    const service = new FakeService();
    const input = { webAppId: -1, inputs: { nonsense: true }, colour: 'red' };
    await environment.withTask(service.activities, input, async (task) => {
      const failure = await failureOf(task);
      expect(failure.type).toBe('InputInvalid');
      for (const word of ['colour', 'webAppId', '-1', 'nonsense']) expect(failure.message).toContain(word);
      expect(await listedStatusOf(task)).toBe('Failed');
    });
    expect(service.calls).toMatchObject({ uploads: [], creates: [] });
  });

  it.concurrent('refuses a file with a field that it does not know, whichever client starts it', async () => {
    const service = new FakeService();
    const image = { file: 'photo.png', ass: 'id' } as InputValue;
    const failure = await environment.withTask(service.activities, { inputs: { '1:A.x': image } }, failureOf);
    expect(failure.type).toBe('InputInvalid');
    expect(failure.message).toContain('inputs["1:A.x"]: Unknown field "ass"; did you mean as?');
    expect(service.calls).toMatchObject({ uploads: [], creates: [] });
  });

  it.concurrent('fails with the activity’s own words and the input’s key when a file cannot be used', async () => {
    const service = new FakeService({
      onUpload: () => Promise.reject(finalFailure('InputUnusable', 'no such file: photo.jpg')),
    });
    const failure = await environment.withTask(service.activities, {}, failureOf);
    const message = 'inputs["1:LoadImage.image"]: no such file: photo.jpg';
    expect(failure).toMatchObject({ type: 'InputUnusable', message });
    expect(service.calls.creates).toHaveLength(0);
  });

  it.concurrent('creates nothing of a file whose content is not the one that its input names', async () => {
    const [chosen, other] = ['a'.repeat(64), 'b'.repeat(64)];
    const inputs = { '1:A.x': { file: 'photo.png', sha256: chosen } };
    const changed = new FakeService({ contents: { 'photo.png': other } });
    const failure = await environment.withTask(changed.activities, { inputs }, failureOf);
    expect(failure).toMatchObject({ type: 'InputUnusable', details: [{ inputs: ['1:A.x'] }] });
    expect(changed.calls.creates).toHaveLength(0);
    const same = new FakeService({ contents: { 'photo.png': chosen } });
    await environment.withTask(same.activities, { inputs }, (task) => task.result());
    expect(same.calls.creates).toHaveLength(1);
  });

  it.concurrent('fails with the service’s words and the input’s key when a file is refused', async () => {
    const service = new FakeService({
      onUpload: () => Promise.reject(finalFailure('ServiceRefused', 'files of the extension .exe are not accepted')),
    });
    const failure = await environment.withTask(service.activities, {}, failureOf);
    const message = 'inputs["1:LoadImage.image"]: files of the extension .exe are not accepted';
    expect(failure).toMatchObject({ type: 'ServiceRefused', message, nonRetryable: true });
    expect(service.calls.creates).toHaveLength(0);
  });

  it.concurrent('shows its state as a search attribute and in the query', async () => {
    const service = new FakeService({ script: [seen('Queuing', { queuePosition: 4 })] });
    await environment.withTask(service.activities, {}, async (task) => {
      await eventually(async () => (await task.query(statusQuery)).queuePosition === 4);
      expect(await task.query(statusQuery)).toMatchObject({ requestId: 'request-1', createRequests: 1 });
      const { typedSearchAttributes } = await task.describe();
      expect(typedSearchAttributes.get(searchAttributes.status)).toBe('Queuing');
      expect(typedSearchAttributes.get(searchAttributes.requestId)).toBe('request-1');
      expect(typedSearchAttributes.get(searchAttributes.app)).toBe('7');
      expect(typedSearchAttributes.get(searchAttributes.account)).toBe('default');
      service.script = [seen('Success')];
      await task.result();
    });
  });
});
