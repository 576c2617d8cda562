import type { BatchHandle } from '../../../../src/client/batch/batch-handle';
import { InputChangedError, NoWorkerError } from '../../../../src/client/errors';
import { createEventEmitter, reportStart, startOrFollow } from '../../../../src/commands/batch/follow-batch';
import type { BatchInput } from '../../../../src/contract/batch/batch-input';
import { FakeContext } from '../../../support/fake-context';

const rows = { location: '/rows', digest: 'ab', rows: 2_000, pages: 2 };
const input: BatchInput = { id: 'photos', rows, concurrency: 5, budget: '20EUR' };
const handle = { id: 'photos', workflowId: 'batch:photos', url: null };

function told(started: BatchHandle['started']) {
  const context = new FakeContext();
  reportStart(context, { ...handle, started }, input, createEventEmitter(context.stdout, true));
  return { stderr: context.stderr.text, event: JSON.parse(context.stdout.text) as unknown };
}

describe('the start of a batch', () => {
  it('is told', () => {
    const { stderr, event } = told({ origin: 'started', withoutEffect: [] });

    expect(stderr).toBe('Started batch:photos\n');
    expect(event).toMatchObject({ event: 'started', hasTheseRows: true });
  });

  it('that finds it running says which options have no effect, and what has', () => {
    const withoutEffect = ['retryFailed', 'concurrency', 'budget', 'names', 'allowChanged', 'webhook'] as const;
    const { stderr, event } = told({ origin: 'attached', withoutEffect });

    expect(event).toMatchObject({ event: 'attached', hasTheseRows: true, withoutEffect });
    expect(stderr).toBe(
      'Following, for it runs already: batch:photos\n' +
        '  Without effect on a batch that runs: --retry-failed (longhaul batch retry photos), --concurrency (longhaul ' +
        'batch set-concurrency photos 5), --budget (longhaul batch set-budget photos 20EUR), --names (run it again when it ' +
        'is over), --allow-changed (run it again when it is over), --webhook (run it again when it is over).\n',
    );
  });

  it('that finds it running says nothing of options that it has', () => {
    expect(told({ origin: 'attached', withoutEffect: [] }).stderr).toBe(
      'Following, for it runs already: batch:photos\n',
    );
  });

  it('that finds other rows running is refused, with the option that gives these a batch of their own', async () => {
    const { stdout } = new FakeContext();
    const error = InputChangedError.ofBatch('photos', 'batch:photos', ['source january.csv']);
    const longhaul = { startBatch: () => Promise.reject(error), batch: () => handle };

    await expect(startOrFollow(longhaul, input, createEventEmitter(stdout, true))).rejects.toMatchObject({
      name: 'InputInvalidError',
      problems: [
        expect.stringMatching(
          /^batch:photos runs with other rows \(source january.csv\).*--id.*status photos --follow/,
        ),
      ],
    });
    expect(JSON.parse(stdout.text)).toMatchObject({ event: 'attached', hasTheseRows: false });
  });

  it('that fails for another reason says nothing of rows', async () => {
    const { stdout } = new FakeContext();
    const error = new NoWorkerError('batch:photos');
    const longhaul = { startBatch: () => Promise.reject(error), batch: () => handle };

    await expect(startOrFollow(longhaul, input, createEventEmitter(stdout, true))).rejects.toBe(error);
    expect(stdout.text).toBe('');
  });
});
