import { rm } from 'node:fs/promises';
import { Longhaul } from '../../../src/client/longhaul';
import type { ListedTask, ListTasksOptions } from '../../../src/client/task/list-tasks';
import { sweepScheduleId, type SweepResult, type SweepState } from '../../../src/contract/sweep';
import { sweep } from '../../../src/reconcile/sweep';
import { ServiceClient } from '../../../src/service';
import { ArchiveIdentity } from '../../../src/storage/archive/archive-identity';
import { FolderArchive } from '../../../src/storage/archive/folder-archive';
import { eventually } from '../../support/eventually';
import { whenListedAsEnded } from '../../support/listed-end';
import { whenStatusIs } from '../../support/task-environment';
import { TaskStack } from '../../support/task-stack';

const swatch = { webAppId: 5, inputs: {} };
const plan = { windowDays: 30, verify: false, rearchive: false, unfollowed: 'report' } as const;
const overlapMs = 3_600_000;
const dayMs = 24 * 3_600_000;

/** Counts what is listed of one task queue: those of other suites are in the same namespace. */
class CountingLonghaul extends Longhaul {
  readonly listed: ListedTask[] = [];

  override async *list(options?: ListTasksOptions): AsyncGenerator<ListedTask> {
    for await (const task of super.list(options)) {
      if (task.taskQueue === stack.taskQueue) this.listed.push(task);
      yield task;
    }
  }
}

class CountingArchive extends FolderArchive {
  readonly reads: string[] = [];

  override async read(name: string): Promise<Buffer | undefined> {
    this.reads.push(name);
    return await super.read(name);
  }
}

let stack: TaskStack;
let service: ServiceClient;
beforeAll(async () => {
  stack = await TaskStack.open();
  service = new ServiceClient({ baseUrl: stack.service.url, apiKey: () => stack.service.apiKey });
});
afterAll(async () => {
  await service.close();
  await stack.close();
});

interface Swept {
  readonly result: SweepResult;
  /** Runs of tasks. */
  readonly listed: number;
  /** Records and manifests. */
  readonly read: number;
}

async function sweepAfter(last: SweepState | null): Promise<Swept> {
  const longhaul = new CountingLonghaul({ client: stack.client, taskQueue: stack.taskQueue });
  const archive = new CountingArchive(stack.archive);
  const parts = {
    longhaul,
    services: new Map([['default', service]]),
    archive,
    taskQueue: stack.taskQueue,
  };
  const options = { signal: new AbortController().signal, nowMs: Date.now() };
  const result = await sweep(
    { ...parts, archiveIdentity: new ArchiveIdentity(archive) },
    { plan, last },
    { ...options, onProgress: () => undefined, onFinding: () => undefined },
  );
  const read = archive.reads.filter((name) => name.startsWith('.creates/') || name.endsWith('manifest.json'));
  return { result, listed: longhaul.listed.length, read: read.length };
}

/** As the next sweep gets it when so much time has passed that what ended until now is behind it. */
function later({ result: { next } }: Swept): SweepState {
  if (next === null) throw new Error('it hands nothing on');
  return { ...next, readUpTo: new Date(Date.now() + overlapMs).toISOString() };
}

async function terminated(): Promise<string> {
  stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'hold' } });
  const task = await stack.start(swatch);
  await whenStatusIs(task, 'Queuing');
  const requestId = stack.service.ledger.entries({ endpoint: 'create' }).at(-1)?.requestId ?? '';
  await task.terminate('by hand');
  await whenListedAsEnded(stack.client, task.workflowId, 'TERMINATED');
  return requestId;
}

describe('a sweep after another', () => {
  it('reads what changed since then, and still reports what was found before, until it is safe', async () => {
    const tasks = await Promise.all(Array.from({ length: 30 }, () => stack.start(swatch)));
    const results = await Promise.all(tasks.map((task) => task.result()));
    for (const { workflowId } of tasks) await whenListedAsEnded(stack.client, workflowId, 'COMPLETED');

    const first = await sweepAfter(null);
    expect(first).toMatchObject({ listed: 30, read: 60, result: { changesSince: null, safe: { archived: 30 } } });

    const afterFirst = later(first);
    const requestId = await terminated();
    const one = await stack.start(swatch);
    await one.result();
    await whenListedAsEnded(stack.client, one.workflowId, 'COMPLETED');
    const second = await sweepAfter(afterFirst);
    expect(second.result).toMatchObject({ safe: { archived: 1 }, unsafe: { running: 1 } });
    expect(second.result.next?.findings).toMatchObject([{ requestId }]);
    // What is not safe is listed by its request id, too.
    expect([second.listed, second.read]).toEqual([3, 3]);

    const third = await sweepAfter(later(second));
    expect(third.result).toMatchObject({ safe: { archived: 0 }, unsafe: { running: 1 } });
    expect([third.listed, third.read]).toEqual([1, 1]);

    stack.service.release(requestId);
    const longhaul = new Longhaul({ client: stack.client, taskQueue: stack.taskQueue });
    await (await longhaul.adopt(requestId)).result();
    const fourth = await sweepAfter(later(third));
    expect(fourth.result).toMatchObject({ unsafe: {}, next: { findings: [] } });

    // What disappears is found by the sweep that compares everything, once a day.
    await rm(results[0]?.outputs[0]?.path ?? '');
    expect((await sweepAfter(later(fourth))).result.unsafe).toEqual({});
    const comparedAllAt = new Date(Date.now() - dayMs).toISOString();
    const whole = await sweepAfter({ ...later(fourth), comparedAllAt });
    expect(whole.result).toMatchObject({ changesSince: null, unsafe: { damaged: 1 } });
    expect(whole.listed).toBe(33);
    const other = { ...later(whole), plan: { ...plan, windowDays: 7 } };
    expect((await sweepAfter(other)).result.changesSince).toBeNull();
  });

  it('goes on from the last one of its Schedule that completed, also when one failed in between', async () => {
    const longhaul = new Longhaul({ client: stack.client, taskQueue: stack.taskQueue });
    const last = async (): Promise<SweepResult | null> => (await longhaul.sweeps.status()).last;
    const schedule = stack.client.schedule.getHandle(sweepScheduleId(stack.taskQueue));
    try {
      await longhaul.sweeps.install(dayMs, plan);
      await eventually(async () => (await last()) !== null);
      const first = await last();
      expect(first?.changesSince).toBeNull();

      await schedule.update((previous) => ({
        ...previous,
        action: { ...previous.action, args: [{ windowDays: -1 }] },
      }));
      await schedule.trigger();
      await eventually(async () => (await longhaul.sweeps.status()).newest?.execution === 'FAILED');
      await longhaul.sweeps.install(dayMs, plan);
      await eventually(async () => (await last())?.endedAt !== first?.endedAt);

      const readUpToMs = Date.parse(first?.next?.readUpTo ?? '');
      expect(Date.parse((await last())?.changesSince ?? '')).toBe(readUpToMs - overlapMs);
    } finally {
      await longhaul.sweeps.remove();
    }
  });
});
