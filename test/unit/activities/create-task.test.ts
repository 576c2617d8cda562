import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { ApplicationFailureCategory } from '@temporalio/common';
import { parseCreateRecord } from '../../../src/archive/create-record';
import type { CreateTaskInput } from '../../../src/contract/activities';
import { CreateRecordFile } from '../../../src/activities/create-record';
import { createRecordName } from '../../../src/contract/workflow-ids';
import { ServiceClient } from '../../../src/service';
import type { Archive } from '../../../src/storage/archive/archive';
import { readArchiveIdentity } from '../../../src/storage/archive/archive-identity';
import { FolderArchive } from '../../../src/storage/archive/folder-archive';
import { type AttemptInfo, CreateAttempts, type ObservedAttempt } from '../../support/create-attempts';
import { replyJson, startHttpServer } from '../../support/start-http-server';
import { startRawServer } from '../../support/start-raw-server';
import { temporaryFolder } from '../../support/temporary-folder';

const workflowId = 'task:order-17';
const input: CreateTaskInput = { account: 'default', createNumber: 1, webAppId: 7, inputs: { '2:A.b': 3 } };

/** Not waiting long for a create that may be on its way. */
const short = { startToCloseTimeoutMs: 1_500 };
const hourMs = 3_600_000;

const folder = temporaryFolder();
let archive: FolderArchive;
let number = 0;
beforeEach(() => {
  number += 1;
  archive = new FolderArchive(join(folder.path, String(number)));
});
afterAll(() => {
  folder.remove();
});

interface Run extends ObservedAttempt {
  /** The create record afterwards; undefined when there is none. */
  readonly record: Record<string, unknown> | undefined;
}

/** One attempt, in a worker of its own or in this one. */
async function create(
  url: string,
  more: Partial<CreateTaskInput> = {},
  info: Partial<AttemptInfo> & { readonly archive?: Archive; readonly worker?: CreateAttempts } = {},
): Promise<Run> {
  const service = new ServiceClient({ baseUrl: url, apiKey: 'key', timeouts: { createMs: 500 } });
  const worker = info.worker ?? workerAt(service, info.archive);
  try {
    const observed = await worker.observe({ ...input, ...more }, { workflowId, ...info });
    return { ...observed, record: await record() };
  } finally {
    await service.close();
  }
}

/** A service that takes every create. */
function startTakingServer(): ReturnType<typeof startHttpServer> {
  return startHttpServer((_request, response) => {
    replyJson(response, 202, { requestId: 'r-1' });
  });
}

function workerAt(service: ServiceClient, own: Archive = archive): CreateAttempts {
  return new CreateAttempts({ service, archive: own, spoolFolder: folder.path });
}

async function record(): Promise<Record<string, unknown> | undefined> {
  const content = await archive.read(createRecordName(workflowId, 1)).catch(() => undefined);
  return content && parseCreateRecord(content);
}

describe('createTask', () => {
  it('tells Temporal its archive, sends, then completes the create record, which alone keeps the request id', async () => {
    const server = await startTakingServer();
    const run = await create(server.url);
    await server.close();

    const { id: archiveId } = await readArchiveIdentity(archive);
    expect(run.outcome).toEqual({ outcome: 'accepted', requestId: 'r-1', sent: 1 });
    expect(run.confirmed).toEqual([{ archiveId }]);
    expect(run.heartbeats).toEqual([]);
    expect(run.record).toMatchObject({ workflowId, createNumber: 1, requestId: 'r-1' });
    expect(server.requests).toHaveLength(1);
  });

  it('finds a task that an earlier run created, and asks the service nothing', async () => {
    const server = await startTakingServer();
    await create(server.url);
    const again = await create(server.url);
    await server.close();

    expect(again.outcome).toMatchObject({ outcome: 'accepted', requestId: 'r-1' });
    expect(server.requests).toHaveLength(1);
  });

  it('is uncertain when an earlier create left no answer, and asks the service nothing', async () => {
    const server = await startRawServer({ onFirstBytes: (socket) => socket.destroy() });
    const first = await create(server.url);
    const connections = server.connectionCount();
    const again = await create(server.url, {}, short);
    await server.close();

    expect(first.outcome?.outcome).toBe('uncertain');
    expect(first.record).toMatchObject({ requestId: null });
    expect(again.outcome).toMatchObject({
      outcome: 'uncertain',
      reason: expect.stringContaining('number 1') as string,
    });
    expect(server.connectionCount()).toBe(connections);
    expect(first.heartbeats).toEqual([]);
  });

  it('is uncertain when its record was cut off half-way', async () => {
    await create('http://127.0.0.1:1');
    await archive.putIfAbsent(createRecordName(workflowId, 1), '{"workflowId": "task:ord');

    const run = await create('http://127.0.0.1:1', {}, short);
    expect(run.outcome?.outcome).toBe('uncertain');
  });

  it('sends a create of a higher number in spite of the record of a lower one', async () => {
    const server = await startHttpServer((_request, response) => {
      replyJson(response, 202, { requestId: `r-${server.requests.length}` });
    });
    await create(server.url);
    const second = await create(server.url, { createNumber: 2 });
    await server.close();

    expect(second.outcome).toMatchObject({ outcome: 'accepted', requestId: 'r-2' });
  });

  it('leaves no record when nothing was sent or the service said no, so that it may be sent again', async () => {
    const server = await startHttpServer((_request, response) => {
      replyJson(response, 400, { code: 20015, message: 'no such parameter', status: false, data: null });
    });
    const refused = await create(server.url);
    await server.close();
    const unreachable = await create(server.url);

    expect(refused.outcome).toMatchObject({ outcome: 'rejected', retryable: false });
    expect(refused.record).toBeUndefined();
    expect(unreachable.failure).toMatchObject({
      type: 'ServiceUnavailable',
      category: ApplicationFailureCategory.BENIGN,
      message: expect.stringContaining('ECONNREFUSED') as string,
    });
    const { id: archiveId } = await readArchiveIdentity(archive);
    expect(unreachable.heartbeats).toEqual([{ archiveId, isReleased: true, maker: expect.any(String) as string }]);
    expect(unreachable.record).toBeUndefined();
  });

  it('sends nothing while the archive cannot be written', async () => {
    const server = await startTakingServer();
    await writeFile(archive.location, 'a file where the folder should be');
    const blocked = await create(server.url);
    await rm(archive.location);
    const free = await create(server.url);
    await server.close();

    expect(blocked.failure?.message).toContain(archive.location);
    expect(free.outcome?.outcome).toBe('accepted');
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ['', 0],
    [', also where its clock is set back meanwhile', hourMs],
  ])('sends nothing when the archive has used up its time, and leaves no record%s', async (_when, setBackMs) => {
    const server = await startTakingServer();
    const right = Date.now.bind(Date);
    const slow = new (class extends FolderArchive {
      override async putIfAbsent(name: string, content: string): Promise<boolean> {
        const isOurs = await super.putIfAbsent(name, content);
        await setTimeout(120);
        if (name !== '.archive-id') jest.spyOn(Date, 'now').mockImplementation(() => right() - setBackMs);
        return isOurs;
      }
    })(archive.location);
    const late = await create(server.url, {}, { archive: slow, startToCloseTimeoutMs: 100 });
    jest.restoreAllMocks();
    const inTime = await create(server.url);
    await server.close();

    expect(late.failure?.message).toContain('too late');
    expect(late.record).toBeUndefined();
    expect(inTime.outcome).toMatchObject({ outcome: 'accepted', requestId: 'r-1' });
    expect(server.requests).toHaveLength(1);
  });

  it('sends nothing in a worker whose archive is not that of the attempt before, and then goes on there', async () => {
    const server = await startTakingServer();
    const elsewhere = await create(server.url, {}, { heartbeatDetails: { archiveId: 'another', isReleased: true } });
    const after = await create(server.url, {}, { heartbeatDetails: elsewhere.heartbeats.at(-1) });
    await server.close();

    expect(elsewhere.failure?.message).toContain('same LONGHAUL_ARCHIVE');
    expect(elsewhere.confirmed).toEqual([]);
    expect(after.outcome?.outcome).toBe('accepted');
    expect(server.requests).toHaveLength(1);
  });

  it('sends nothing after an attempt that was lost with another archive, where its record may be', async () => {
    const lost = { archiveId: 'another' };
    const retried = await create('http://127.0.0.1:1', {}, { heartbeatDetails: lost });
    const foundOut = await create('http://127.0.0.1:1', { lost: { ...lost, reason: 'the worker gave no answer' } });

    for (const { outcome } of [retried, foundOut]) {
      expect(outcome).toMatchObject({ outcome: 'uncertain', callbackAsked: true });
      expect(JSON.stringify(outcome)).toContain('same LONGHAUL_ARCHIVE');
    }
  });

  it('of a lost attempt finds out by its heartbeat or its record what it did', async () => {
    const { id: archiveId } = await readArchiveIdentity(archive);
    const lost = { archiveId, reason: 'the worker gave no answer' };
    const unsent = await create('http://127.0.0.1:1', { lost });
    await new CreateRecordFile(archive, workflowId, 1).claim();
    const claimed = await create('http://127.0.0.1:1', { lost }, short);
    const told = await create(
      'http://127.0.0.1:1',
      {},
      { heartbeatDetails: { archiveId, requestId: 'r-9', refused: 2 } },
    );
    const recorded = await create('http://127.0.0.1:1', { lost });

    expect(unsent.outcome).toMatchObject({ outcome: 'notSent' });
    expect(claimed.outcome).toMatchObject({ outcome: 'uncertain' });
    expect(told.outcome).toEqual({ outcome: 'accepted', requestId: 'r-9', sent: 3 });
    expect(recorded.outcome).toMatchObject({ outcome: 'accepted', requestId: 'r-9' });
  });

  it.each(['next to be sent', 'lost one'])(
    'waits while its archive is away, such as unmounted: the %s',
    async (which) => {
      const server = await startTakingServer();
      const service = new ServiceClient({ baseUrl: server.url, apiKey: 'key' });
      const worker = workerAt(service);
      const lost = { archiveId: (await readArchiveIdentity(archive)).id, reason: 'the worker gave no answer' };
      // The worker knows its archive from then on.
      await create(server.url, { lost }, { worker });
      const more = which === 'lost one' ? { lost } : {};
      await rename(archive.location, `${archive.location}.away`);
      const away = await create(server.url, more, { worker });
      const left = await readdir(archive.location).catch(() => []);
      await rename(`${archive.location}.away`, archive.location);
      const back = await create(server.url, more, { worker });
      await service.close();
      await server.close();

      expect(away.failure?.message).toContain('unmounted');
      expect(left).toEqual([]);
      expect(back.outcome?.outcome).toBe(which === 'lost one' ? 'notSent' : 'accepted');
      expect(server.requests).toHaveLength(which === 'lost one' ? 0 : 1);
    },
  );

  it('sends nothing, and claims nothing, when Temporal does not confirm its attempt', async () => {
    const confirm = (): Promise<void> => Promise.reject(new Error('activity task not found'));
    const run = await create('http://127.0.0.1:1', {}, { confirm });

    expect(run.failure?.message).toContain('activity task not found');
    expect(run.record).toBeUndefined();
    expect(run.limiter).toMatchObject({ state: 'open', unanswered: 0 });
  });

  it.each([-3, 0, 3])(
    'sends nothing after the total deadline, by Temporal’s clock; its own is %i h off',
    async (hours) => {
      const server = await startTakingServer();
      // What Temporal's clock says, seen from this one.
      const scheduledTimestampMs = Date.now() - hours * hourMs;
      const at = (ms: number): Partial<AttemptInfo> => ({
        ...{ scheduledTimestampMs, currentAttemptScheduledTimestampMs: scheduledTimestampMs + ms },
        ...{ scheduleToCloseTimeoutMs: 60_000, startToCloseTimeoutMs: 45_000 },
      });
      await expect(create(server.url, {}, at(30_000))).rejects.toMatchObject({ type: 'DeadlineExceeded' });
      const { outcome } = await create(server.url, {}, at(5_000));
      await server.close();

      expect(outcome?.outcome).toBe('accepted');
      expect(server.requests).toHaveLength(1);
    },
  );

  it('sends nothing while a committed input is not listed', async () => {
    const server = await startHttpServer((_request, response) => {
      replyJson(response, 200, { code: 20000, message: 'Ok', status: true, data: { list: [], total: 0 } });
    });
    const resource = { resourceId: 1, name: 'photo.jpg', objectKey: 'inputs/x/photo.jpg' };
    const { failure } = await create(server.url, { inputs: { '1:A.b': { resource, as: 'url' } } });
    await server.close();

    expect(failure?.message).toContain('photo.jpg');
    expect(server.requests.map(({ method }) => method)).toEqual(['GET']);
  });

  it.each(['url', 'id'] as const)(
    'ends unpaid when a resource that was there before is gone, wanted by its %s',
    async (as) => {
      const server = await startHttpServer((_request, response) => {
        replyJson(response, 200, { code: 20000, message: 'Ok', status: true, data: { list: [], total: 0 } });
      });
      const resource = { resourceId: 1, name: 'photo.jpg', objectKey: 'inputs/x/photo.jpg', wasListed: true } as const;
      const created = create(server.url, { inputs: { '1:A.b': { resource, as } } });
      await expect(created).rejects.toMatchObject({ type: 'InputUnusable', nonRetryable: true });
      await expect(created).rejects.toThrow(/photo\.jpg.* start the task again/);
      await server.close();

      expect(server.requests.map(({ method }) => method)).toEqual(['GET']);
      expect(await record()).toBeUndefined();
    },
  );

  it('tells the limiter that let it through what became of it, and whether it was sent at all', async () => {
    const server = await startHttpServer((_request, response) => {
      const isFirst = server.requests.length === 1;
      if (isFirst)
        replyJson(response, 429, { code: 50600, message: 'too many', status: false }, { 'retry-after': '7' });
      else replyJson(response, 202, { requestId: 'r-1' });
    });
    const startedAtMs = Date.now();
    const refused = await create(server.url);
    const accepted = await create(server.url);
    const foundAgain = await create(server.url);
    await server.close();
    await rm(archive.location, { recursive: true });
    await writeFile(archive.location, 'a file where the folder should be');
    const blocked = await create(server.url);
    await rm(archive.location);
    const unreachable = await create(server.url);

    const reasons = [refused, accepted, foundAgain, blocked, unreachable].map(({ limiter }) => limiter.reason);
    expect(reasons).toEqual([
      'the service refused the last create (HTTP 429: too many)',
      ...[null, null, null],
      expect.stringMatching(/^the last create could not be sent: the service at .*ECONNREFUSED/),
    ]);
    for (const { limiter } of [refused, accepted, foundAgain, blocked, unreachable]) expect(limiter.unanswered).toBe(0);
    expect(Date.parse(refused.limiter.closedUntil ?? '')).toBeGreaterThanOrEqual(startedAtMs + 7_000);
    expect(refused.failure?.nextRetryDelay).toBeGreaterThan(6_900);
    expect(refused.heartbeats).toMatchObject([{ isReleased: true, refused: 1 }]);
    expect(accepted.limiter.atOnce).toBe(2);
  });
});
