import { ApplicationFailure } from '@temporalio/common';
import { describeFailure } from '../../../src/client/workflow-ending';
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
