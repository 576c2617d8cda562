import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { NoWorkerError } from '../../../src/client/errors';
import { describeFailure, stoppedResultOrThrow } from '../../../src/client/existing-run';
import { explainFailure } from '../../../src/commands/explained-failure';

const link = 'https://storage.example/a.png?X-Amz-Signature=s3cret';

describe('how a task ended', () => {
  it('is told without signed links and credentials, whoever wrote the history', () => {
    const details = { url: link, deep: [{ access_key_secret: 's3cret' }], requestId: 'r-1' };
    const failure = ApplicationFailure.nonRetryable(`It failed at ${link}`, 'TaskFailed', details);
    expect(describeFailure(failure, '')).toEqual({
      failureType: 'TaskFailed',
      message: 'It failed at https://storage.example/a.png',
      details: { url: 'https://storage.example/a.png', deep: [{ access_key_secret: '[redacted]' }], requestId: 'r-1' },
    });
  });

  it('nor does a command print them, of any error', () => {
    const explained = explainFailure(Object.assign(new Error(`GET ${link}`), { problems: [link] }));
    expect(JSON.stringify(explained)).not.toContain('s3cret');
  });
});

describe('a stopped batch whose counts no worker gives', () => {
  const ending = async (taskQueue: string): Promise<unknown> => {
    const stopped = new WorkflowFailedError('it was stopped', new CancelledFailure('stopped'), 'NON_RETRYABLE_FAILURE');
    const batch = { workflowId: 'batch:photos', taskQueue };
    return await stoppedResultOrThrow(stopped, batch, () => Promise.resolve(undefined)).catch(
      (error: unknown) => error,
    );
  };

  it.each([
    ['longhaul', 'with "longhaul worker"; if one runs, "longhaul doctor" says'],
    ['photos', 'with "longhaul worker --task-queue photos"; if one runs, "longhaul doctor --task-queue photos" says'],
    ['--x $(reboot)', 'with "longhaul worker"; if one runs, "longhaul doctor" says'],
  ])('names its task queue %j, and a command that is safe to copy', async (taskQueue, commands) => {
    const error = await ending(taskQueue);
    expect(error).toBeInstanceOf(NoWorkerError);
    expect(error).toMatchObject({ workflowId: 'batch:photos', taskQueue });
    expect(String(error)).toContain(`task queue ${JSON.stringify(taskQueue)}: start a worker there ${commands}`);
  });
});
