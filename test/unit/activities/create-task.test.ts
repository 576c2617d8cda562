import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { MockActivityEnvironment } from '@temporalio/testing';
import { type ActivityDependencies, createActivities } from '../../../src/activities';
import { AccountPatience } from '../../../src/activities/account-patience';
import { createTask } from '../../../src/activities/create-task';
import { openLimits } from '../../../src/activities/account-limits';
import { SharedUploads } from '../../../src/activities/shared-uploads';
import { UploadShares } from '../../../src/activities/upload-shares';
import type { CreateTaskInput } from '../../../src/contract/activities';
import { createRecordName } from '../../../src/contract/workflow-ids';
import type { CreateOutcome } from '../../../src/domain/create-outcome';
import { ServiceClient } from '../../../src/service';
import type { GateView } from '../../../src/service/gate-view';
import { ArchiveIdentity, readArchiveIdentity } from '../../../src/storage/archive-identity';
import type { Archive } from '../../../src/storage/archive';
import { createDownloadAgent } from '../../../src/storage/download-agent';
import { FolderArchive } from '../../../src/storage/folder-archive';
import { loopbackRule } from '../../support/loopback-rule';
import { replyJson, startHttpServer } from '../../support/start-http-server';
import { startRawServer } from '../../support/start-raw-server';
import { temporaryFolder } from '../../support/temporary-folder';

const workflowId = 'task:order-17';
const input: CreateTaskInput = { account: 'default', createNumber: 1, webAppId: 7, inputs: { '2:A.b': 3 } };

const folder = temporaryFolder();
const downloads = createDownloadAgent(loopbackRule);
let archive: FolderArchive;
let number = 0;
beforeEach(() => {
  number += 1;
  archive = new FolderArchive(join(folder.path, String(number)));
});
afterAll(async () => {
  await downloads.close();
  folder.remove();
});

interface Run {
  readonly outcome: CreateOutcome;
  readonly heartbeats: unknown[];
  /** The create record afterwards; undefined when there is none. */
  readonly record: Record<string, unknown> | undefined;
  /** The gate that let this create through, afterwards. */
  readonly gate: GateView | undefined;
}

/** One run of the activity, as a worker does it. */
async function create(
  url: string,
  more: Partial<CreateTaskInput> = {},
  worker: {
    archive?: Archive;
    startToCloseTimeoutMs?: number;
    /** As it knows it since it started. */ identity?: ArchiveIdentity;
  } = {},
): Promise<Run> {
  const service = new ServiceClient({ baseUrl: url, apiKey: 'key', timeouts: { createMs: 500 } });
  const sources = { inputRoots: [], inputHosts: [], maxBytes: 1, spoolFolder: folder.path };
  const limits = openLimits([{ name: 'default', createsPerSecond: 100, pollsPerSecond: 100 }], () => undefined);
  const gate = limits.get('default')?.creates;
  gate?.ask({ id: workflowId, sinceMs: 0 });
  const parts: ActivityDependencies = {
    allowed: { accounts: null, tuning: true, recreate: true },
    services: new Map([['default', service]]),
    limits,
    archive: worker.archive ?? archive,
    sources,
    uploadConnections: loopbackRule,
    uploadShares: new UploadShares(1),
    sharedUploads: new SharedUploads(worker.archive ?? archive),
    downloads,
  };
  const environment = new MockActivityEnvironment({
    workflowExecution: { workflowId, runId: 'run' },
    ...(worker.startToCloseTimeoutMs !== undefined && { startToCloseTimeoutMs: worker.startToCloseTimeoutMs }),
  });
  const heartbeats: unknown[] = [];
  environment.on('heartbeat', (details: unknown) => heartbeats.push(details));
  try {
    const { identity } = worker;
    const activity =
      identity === undefined
        ? createActivities(parts).createTask
        : (one: CreateTaskInput) => createTask(parts, identity, new AccountPatience(0), one);
    const outcome: CreateOutcome = await environment.run(activity, { ...input, ...more });
    return { outcome, heartbeats, record: await record(), gate: gate?.view() };
  } finally {
    await service.close();
  }
}

async function record(): Promise<Record<string, unknown> | undefined> {
  try {
    const content = await archive.read(createRecordName(workflowId, 1));
    return JSON.parse(content?.toString('utf8') ?? '') as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

describe('createTask', () => {
  it('tells Temporal the request id in its only heartbeat, then completes the create record', async () => {
    const server = await startHttpServer((_request, response) => {
      replyJson(response, 202, { requestId: 'r-1' });
    });
    const run = await create(server.url);
    await server.close();

    expect(run.outcome).toEqual({ outcome: 'accepted', requestId: 'r-1' });
    expect(run.heartbeats).toEqual([{ requestId: 'r-1' }]);
    expect(run.record).toMatchObject({ workflowId, createNumber: 1, requestId: 'r-1' });
    expect(server.requests).toHaveLength(1);
  });

  it('finds a task that an earlier run created, and asks the service nothing', async () => {
    const server = await startHttpServer((_request, response) => {
      replyJson(response, 202, { requestId: 'r-1' });
    });
    await create(server.url);
    const again = await create(server.url);
    await server.close();

    expect(again.outcome).toEqual({ outcome: 'accepted', requestId: 'r-1' });
    expect(server.requests).toHaveLength(1);
  });

  it('is uncertain when an earlier create left no answer, and asks the service nothing', async () => {
    const server = await startRawServer({ onFirstBytes: (socket) => socket.destroy() });
    const first = await create(server.url);
    const connections = server.connectionCount();
    const again = await create(server.url);
    await server.close();

    expect(first.outcome.outcome).toBe('uncertain');
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
    await archive.createOnce(createRecordName(workflowId, 1), '{"workflowId": "task:ord');

    const run = await create('http://127.0.0.1:1');
    expect(run.outcome.outcome).toBe('uncertain');
  });

  it('sends a create of a higher number in spite of the record of a lower one', async () => {
    const server = await startHttpServer((_request, response) => {
      replyJson(response, 202, { requestId: `r-${server.requests.length}` });
    });
    await create(server.url);
    const second = await create(server.url, { createNumber: 2 });
    await server.close();

    expect(second.outcome).toEqual({ outcome: 'accepted', requestId: 'r-2' });
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
    expect(unreachable.outcome).toMatchObject({
      outcome: 'notSent',
      reason: expect.stringContaining('ECONNREFUSED') as string,
    });
    expect(unreachable.record).toBeUndefined();
  });

  it('sends nothing while the archive cannot be written', async () => {
    const server = await startHttpServer((_request, response) => {
      replyJson(response, 202, { requestId: 'r-1' });
    });
    await writeFile(archive.location, 'a file where the folder should be');
    const blocked = await create(server.url);
    await rm(archive.location);
    const free = await create(server.url);
    await server.close();

    expect(blocked.outcome).toMatchObject({
      outcome: 'notSent',
      reason: expect.stringContaining(archive.location) as string,
    });
    expect(free.outcome.outcome).toBe('accepted');
    expect(server.requests).toHaveLength(1);
  });

  it('sends nothing when the archive has used up its time, and leaves no record', async () => {
    const server = await startHttpServer((_request, response) => {
      replyJson(response, 202, { requestId: 'r-1' });
    });
    const slow = new (class extends FolderArchive {
      override async createOnce(name: string, content: string): Promise<boolean> {
        const isOurs = await super.createOnce(name, content);
        await setTimeout(120);
        return isOurs;
      }
    })(archive.location);
    const late = await create(server.url, {}, { archive: slow, startToCloseTimeoutMs: 100 });
    const inTime = await create(server.url);
    await server.close();

    expect(late.outcome).toMatchObject({ outcome: 'notSent', reason: expect.stringContaining('too late') as string });
    expect(late.record).toBeUndefined();
    expect(inTime.outcome).toEqual({ outcome: 'accepted', requestId: 'r-1' });
    expect(server.requests).toHaveLength(1);
  });

  it('sends nothing from a worker whose archive is not the one that the task was told of', async () => {
    const server = await startHttpServer((_request, response) => {
      replyJson(response, 202, { requestId: 'r-1' });
    });
    const elsewhere = await create(server.url, { archiveId: 'another' });
    const here = await create(server.url, { archiveId: await readArchiveIdentity(archive) });
    await server.close();

    expect(elsewhere.outcome).toMatchObject({
      outcome: 'notSent',
      reason: expect.stringContaining('same LONGHAUL_ARCHIVE') as string,
    });
    expect(here.outcome.outcome).toBe('accepted');
    expect(server.requests).toHaveLength(1);
  });

  it('sends nothing while its archive is away, such as unmounted, and leaves nothing in its place', async () => {
    const server = await startHttpServer((_request, response) => {
      replyJson(response, 202, { requestId: 'r-1' });
    });
    const archiveId = await readArchiveIdentity(archive);
    const identity = new ArchiveIdentity(archive);
    await identity.get();
    await rename(archive.location, `${archive.location}.away`);
    const away = await create(server.url, { archiveId }, { identity });
    const left = await readdir(archive.location).catch(() => []);
    await rename(`${archive.location}.away`, archive.location);
    const back = await create(server.url, { archiveId }, { identity });
    await server.close();

    expect(away.outcome).toMatchObject({ outcome: 'notSent', reason: expect.stringContaining('unmounted') as string });
    expect(left).toEqual([]);
    expect(back.outcome).toEqual({ outcome: 'accepted', requestId: 'r-1' });
    expect(server.requests).toHaveLength(1);
  });

  it('sends nothing while a committed input is not listed', async () => {
    const server = await startHttpServer((_request, response) => {
      replyJson(response, 200, { code: 20000, message: 'Ok', status: true, data: { list: [], total: 0 } });
    });
    const resource = { resourceId: 1, name: 'photo.jpg', objectKey: 'inputs/x/photo.jpg' };
    const { outcome } = await create(server.url, { inputs: { '1:A.b': { resource, as: 'url' } } });
    await server.close();

    expect(outcome).toMatchObject({ outcome: 'notSent', reason: expect.stringContaining('photo.jpg') as string });
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

  it('tells the gate that let it through what became of it, and whether it was sent at all', async () => {
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

    const reasons = [refused, accepted, foundAgain, blocked, unreachable].map(({ gate }) => gate?.reason);
    expect(reasons).toEqual([
      'the service refused the last create (HTTP 429: too many)',
      ...[null, null, null],
      expect.stringMatching(/^the last create could not be sent: the service at .*ECONNREFUSED/),
    ]);
    for (const { gate } of [refused, accepted, foundAgain, blocked, unreachable]) expect(gate?.unanswered).toBe(0);
    expect(Date.parse(refused.gate?.closedUntil ?? '')).toBeGreaterThanOrEqual(startedAtMs + 7_000);
    expect(accepted.gate?.atOnce).toBe(5);
  });
});
