import { eventually } from '../support/eventually';
import { metadataOf } from '../support/evidence';
import { fakeBatchOf, rowEnd } from '../support/fake-batch';
import { TaskEnvironment } from '../support/task-environment';

const environment = TaskEnvironment.forSuite();

describe('the page of a batch of which every row was started', () => {
  it.concurrent('shows at once that a row ended, and the moment that its counts are of', async () => {
    const batch = fakeBatchOf(environment.client, 3, { concurrency: 3 });
    await environment.withBatch(batch.activities, batch.input, async (run) => {
      const page = async (): Promise<string> => (await metadataOf(run)).map(({ text }) => text).join('\n');
      await eventually(async () => (await page()).includes('3 running (at most 3), 0 waiting; as of '));
      const beforeMs = Date.now();
      batch.end(rowEnd('row-0'));
      // Rows are polled every minute, and recorded by the page: neither comes as soon.
      const shown = await eventually(
        async () => {
          const text = await page();
          return text.includes('1 succeeded, 0 failed') ? text : undefined;
        },
        { withinMs: 20_000, what: 'the page to show the end' },
      );
      const [, asOf = ''] = /2 running \(at most 3\), 0 waiting; as of ([-\d]+ [:\d]+ UTC)/.exec(shown ?? '') ?? [];
      expect(Date.parse(asOf)).toBeGreaterThanOrEqual(beforeMs - 1_000);
      for (const key of ['row-1', 'row-2']) batch.end(rowEnd(key));
      await run.result();
      expect(await page()).not.toContain('0 waiting; as of');
    });
  });
});
