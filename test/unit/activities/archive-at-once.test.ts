import type { Client } from '@temporalio/client';
import { watchTask } from '../../../src/activities/watch-task';
import type {
  ArchiveOutputsInput,
  ArchiveOutputsResult,
  PollResult,
  WatchTaskInput,
  WatchTaskResult,
} from '../../../src/contract/activities';
import { ActivityEnvironment } from '../../support/activity-environment';
import { seen } from '../../support/fake-activities';
import { newWatch, watchParts } from '../../support/watch-parts';

const { deadlinesMs } = newWatch();
const archive = { folder: '', inputs: [], values: { '1:Text.text': 'a cat' } };
const archived = { outputs: [], manifest: 'file:///archive/request-1/manifest.json' };

interface Watched {
  readonly result: WatchTaskResult;
  /** What was to be archived at once. */
  readonly asked: readonly ArchiveOutputsInput[];
}

/** An attempt that sees the end at once. */
async function watch(
  end: PollResult,
  answer: () => Promise<ArchiveOutputsResult | undefined>,
  more: Partial<WatchTaskInput> = { archive },
  info: ConstructorParameters<typeof ActivityEnvironment>[0] = {},
  client?: object,
): Promise<Watched> {
  const asked: ArchiveOutputsInput[] = [];
  const parts = watchParts('default', () => Promise.resolve(end));
  const archiveAtOnce = (input: ArchiveOutputsInput): Promise<ArchiveOutputsResult | undefined> => {
    asked.push(input);
    return answer();
  };
  const input = newWatch(more);
  // Where callbacks come, Temporal is asked first.
  const dependencies = { ...parts, archiveAtOnce, callback: client };
  const environment = new ActivityEnvironment(info, { client: client as Client });
  return { result: await environment.run(() => watchTask(dependencies, input)), asked };
}

describe('the watch of a task that succeeds', () => {
  it('archives its outputs in the same attempt', async () => {
    const end = seen('Success', { timestamps: { endedAt: { raw: '1', iso: null } } });
    const { result, asked } = await watch(end, () => Promise.resolve(archived));
    expect(result).toMatchObject({ pollResult: { status: 'Success' }, archived });
    const told = { status: 'Success', timestamps: { endedAt: { raw: '1' } }, cost: null };
    expect(asked).toMatchObject([{ ...archive, requestId: 'request-1', ...told }]);
  });

  it('comes back with the end alone when no slot is free, or an output fails', async () => {
    for (const answer of [
      () => Promise.resolve(undefined),
      () => Promise.reject<undefined>(new Error('the disk is full')),
    ]) {
      const { result, asked } = await watch(seen('Success'), answer);
      expect([result.pollResult, result.archived, asked.length]).toMatchObject([{ status: 'Success' }, undefined, 1]);
    }
  });

  it.each([
    ['it failed', 'Failed', { archive }, {}],
    ['an earlier attempt was lost', 'Success', { archive }, { attempt: 2 }],
    ['the workflow archives', 'Success', {}, {}],
    ['its time is nearly over', 'Success', { archive, deadlinesMs: { ...deadlinesMs, total: 60_000 } }, {}],
  ])('comes back with the end alone when %s', async (_when, status, more, info) => {
    const { result, asked } = await watch(seen(status), () => Promise.resolve(archived), more, info);
    expect([result.archived, asked]).toEqual([undefined, []]);
  });
});
