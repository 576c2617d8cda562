import { mkdirSync } from 'node:fs';
import fs from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { createActivities } from '../../../src/activities';
import { SharedUploads } from '../../../src/activities/shared-uploads';
import type { CreateTaskResult, WatchTaskResult } from '../../../src/contract/activities';
import { createRecordName } from '../../../src/contract/workflow-ids';
import { unseenTask } from '../../../src/core/task-state';
import { ServiceClient } from '../../../src/service';
import { AccountGate } from '../../../src/service/account-gate';
import { FolderArchive } from '../../../src/storage/archive/folder-archive';
import { createDownloadAgent } from '../../../src/storage/download';
import { ActivityEnvironment } from '../../support/activity-environment';
import { loopbackRule } from '../../support/loopback-rule';
import { replyJson, startHttpServer, type TestHttpServer } from '../../support/start-http-server';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();
const downloads = createDownloadAgent(loopbackRule);
let server: TestHttpServer;
let tasks = 0;
beforeAll(async () => {
  server = await startHttpServer(({ url }, response) => {
    const reply = (data: object): void => {
      replyJson(response, 200, { code: 20000, message: 'Ok', status: true, data });
    };
    const item = { object_url: `${server.url}/file.png`, output_ext: '.png', error_type: 'NOT_ERROR', audit_status: 2 };
    if (url.includes('/file.png')) response.end('GIF89a: a file');
    else if (url.includes('/detail')) reply({ status: 'Success', cost_times: {} });
    else if (url.includes('/outputs')) reply({ request_id: `r-${tasks}`, status: 'Success', outputs: [item] });
    else replyJson(response, 202, { requestId: `r-${(tasks += 1)}` });
  });
});
afterAll(async () => {
  await Promise.all([server.close(), downloads.close()]);
  folder.remove();
});

// Of Temporal's client the activities use nothing else.
const client = Object.assign(Object.create(Client.prototype) as Client, {
  withAbortSignal: (_signal: AbortSignal, call: () => Promise<void>) => call(),
  withDeadline: (_deadline: number, call: () => Promise<void>) => call(),
  activity: { heartbeat: () => Promise.resolve() },
});

it('a task whose archive is a folder is created, watched and archived with few operations of its files', async () => {
  const archive = new FolderArchive(folder.path);
  const service = new ServiceClient({ baseUrl: server.url, apiKey: 'key' });
  const gate = new AccountGate({ createsPerSecond: 100, pollsPerSecond: 100 });
  const activities = createActivities({
    allowed: { accounts: null, tuning: true, recreate: true },
    services: new Map([['default', service]]),
    limits: new Map([['default', gate]]),
    archive,
    archiveSlots: 2,
    sources: { inputRoots: [], inputHosts: [], maxBytes: 1, spoolFolder: folder.path },
    uploadConnections: loopbackRule,
    sharedUploads: new SharedUploads(archive),
    downloads,
  });
  const run = async (key: string): Promise<void> => {
    const workflowExecution = { workflowId: `task:${key}`, runId: 'run' };
    const info = { workflowExecution, startToCloseTimeoutMs: 45_000, scheduleToCloseTimeoutMs: 86_400_000 };
    const environment = new ActivityEnvironment(info, { client });
    const create = { account: 'default', createNumber: 1, webAppId: 7, inputs: {} };
    const created: CreateTaskResult = await environment.run(activities.createTask, create);
    if (created.outcome !== 'accepted') throw new Error(created.outcome);
    const { requestId } = created;
    const nowMs = Date.now();
    const watched: WatchTaskResult = await environment.run(activities.watchTask, {
      ...{ account: 'default', requestId, createNumber: 1, webAppId: 7, known: unseenTask(nowMs) },
      ...{ poll: { minMs: 1, maxMs: 2 }, notVisibleGraceMs: 60_000, startedAtMs: nowMs, acceptedAtMs: nowMs },
      ...{ deadlinesMs: { queue: 1e9, run: 1e9, total: 1e9 }, returnOnChange: false },
      archive: { folder: '', createNumber: 1, inputs: [], values: {} },
    });
    expect(watched.archived?.outputs).toHaveLength(1);
  };
  // The archive makes its folders once.
  mkdirSync(join(folder.path, createRecordName('task:counted', 1), '..'), { recursive: true });
  await run('first');
  const probe = await fs.open(`${folder.path}/probe`, 'w');
  const handles = Object.getPrototypeOf(probe) as fs.FileHandle;
  await probe.close();
  const count = (...spies: readonly jest.SpyInstance[]): (() => number) => {
    // The archive's id is read at most once a second.
    return () =>
      spies.flatMap(({ mock }) => mock.calls as unknown[][]).filter(([path]) => !String(path).includes('.archive-id'))
        .length;
  };
  const opens = count(jest.spyOn(fs, 'open'), jest.spyOn(fs, 'readFile'));
  const lists = count(jest.spyOn(fs, 'readdir'), jest.spyOn(fs, 'opendir'));
  const flushes = count(jest.spyOn(handles, 'sync'), jest.spyOn(handles, 'datasync'));
  await run('counted');
  await service.close();
  // The create record, its name, the request id; the task's folder, the output, the manifest, the names of both. And once
  // in a process, the folder of records.
  expect(flushes()).toBe(7 + 1);
  expect(opens()).toBeLessThanOrEqual(10 + 1);
  expect(lists()).toBe(0);
});
