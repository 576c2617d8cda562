import type { BatchHandle } from '../../../../src/client/batch-handle';
import { createEventEmitter } from '../../../../src/commands/batch/follow-batch';
import { reportStart } from '../../../../src/commands/batch/batch-run';
import type { BatchInput } from '../../../../src/contract/batch-input';
import { FakeContext } from '../../../support/fake-context';
import { progressOf, startedAt } from './batch-under-test';

/** A batch of 2,000 rows that a start led to. */
function handle(
  started: BatchHandle['started'],
  isAnswered = true,
  runsWith: Partial<BatchInput> | null = {},
): Parameters<typeof reportStart>[1] {
  const rows = { location: '/rows', digest: 'ab', rows: 2_000, pages: 2 };
  return {
    input: () => Promise.resolve(runsWith && { id: 'photos', rows, ...runsWith }),
    ...{ id: 'photos', workflowId: 'batch:photos', started, url: null },
    status: () =>
      Promise.resolve({
        ...{ workflowId: 'batch:photos', batchId: 'photos', execution: 'RUNNING', isOver: false, startedAt },
        ...{ endedAt: null, source: 'january/photos.csv', progress: isAnswered ? progressOf() : null },
        ...{ stuck: null, retrying: [], needPerson: 0, uploading: 0, url: null, refused: null },
      }),
  };
}

async function told(
  ...[started, input, isAnswered, runsWith]: [BatchHandle['started'], object?, boolean?, (Partial<BatchInput> | null)?]
) {
  const context = new FakeContext();
  const emit = createEventEmitter(context.stdout, true);
  const settings = { input: { id: 'photos', ...input }, outputs: 'batches/photos/outputs' };
  const end = reportStart(context, handle(started, isAnswered, runsWith), settings, emit);
  const error: unknown = await end.then(() => null).catch((thrown: unknown) => thrown);
  return { stderr: context.stderr.text, event: JSON.parse(context.stdout.text) as unknown, error };
}

describe('the start of a batch', () => {
  it('is told', async () => {
    const { stderr, event, error } = await told({ origin: 'started', hasTheseRows: true }, { concurrency: 5 });

    expect({ stderr, error }).toEqual({ stderr: 'Started batch:photos\n', error: null });
    expect(event).toMatchObject({ event: 'started', hasTheseRows: true });
  });

  it('that finds it running says which options have no effect, and what has', async () => {
    const input = { concurrency: 5, budget: '20EUR', retryFailed: true, names: '{batch}/{key}/{index}{ext}' };
    const { stderr, error } = await told({ origin: 'attached', hasTheseRows: true }, input);

    expect(error).toBeNull();
    expect(stderr).toBe(
      'Following, for it runs already: batch:photos\n' +
        '  Without effect on a batch that runs: --retry-failed (longhaul batch retry photos), --concurrency (longhaul ' +
        'batch set-concurrency photos 5), --budget (longhaul batch set-budget photos 20EUR), --names (run it again when it is over).\n',
    );
  });

  it('that finds it running says nothing of options that it has, however they were given', async () => {
    const same = { attempts: 3, names: '{batch}/{key}/{index}{ext}', archive: 'drafts', budget: '20EUR' };
    const input = { ...same, budget: '20.00EUR', concurrency: 100, watch: 'activity', retryFailed: true };
    const attached = { origin: 'attached', hasTheseRows: true } as const;
    const nothing = 'Following, for it runs already: batch:photos\n';
    expect((await told(attached, input, false, { ...same, retryFailed: true })).stderr).toBe(nothing);
    expect((await told(attached, { names: '{requestId}/{index}{ext}' })).stderr).toBe(nothing);
    expect((await told(attached, {}, true, null)).stderr).toBe(nothing);

    const { stderr } = await told(attached, { ...input, watch: 'timer' }, false, { ...same, retryFailed: true });
    expect(stderr).toContain('Without effect on a batch that runs: --watch (run it again when it is over).\n');
    // It was changed meanwhile.
    expect((await told(attached, { concurrency: 5 }, true, { concurrency: 5 })).stderr).toContain('--concurrency (');
    expect((await told(attached, { attempts: 1 }, true, null)).stderr).toContain('--attempts (');
  });

  it('that finds other rows running is refused, naming both', async () => {
    const { event, error } = await told({ origin: 'attached', hasTheseRows: false });

    expect(event).toMatchObject({ event: 'attached', hasTheseRows: false });
    expect(error).toMatchObject({
      name: 'InputInvalidError',
      problems: [
        'batch:photos runs with other rows (source january/photos.csv, 2,000 rows), and none of these; give this file ' +
          'an --id of its own, or wait for it to end: longhaul batch status photos --follow',
      ],
    });
  });

  it('that finds other rows running is refused while no worker answers, too', async () => {
    const { error } = await told({ origin: 'attached', hasTheseRows: false }, {}, false);

    expect(error).toMatchObject({
      message: expect.stringContaining('(source january/photos.csv), and none') as string,
    });
  });
});
