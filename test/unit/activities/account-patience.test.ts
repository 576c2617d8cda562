import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import { type ActivityDependencies, createActivities } from '../../../src/activities';
import { SharedUploads } from '../../../src/activities/shared-uploads';
import type { Activities, ArchiveOutputsInput } from '../../../src/contract/activities';
import { ServiceClient } from '../../../src/service';
import { AccountGate } from '../../../src/service/account-gate';
import { createDownloadAgent } from '../../../src/storage/download';
import { FolderArchive } from '../../../src/storage/archive/folder-archive';
import { loopbackRule } from '../../support/loopback-rule';
import { CreateAttempts, type ObservedAttempt } from '../../support/create-attempts';
import { eventually } from '../../support/eventually';
import { type TestHttpServer, replyJson, startHttpServer } from '../../support/start-http-server';
import { temporaryFolder } from '../../support/temporary-folder';
import { ActivityEnvironment } from '../../support/activity-environment';

const folder = temporaryFolder();
const downloads = createDownloadAgent(loopbackRule);
const info = { workflowExecution: { workflowId: 'task:a', runId: 'run' } };
const environment = new ActivityEnvironment(info);
let server: TestHttpServer;
let service: ServiceClient;
/** A key that is refused, with a code that says "later": the status counts. */
let isKeyRefused = true;

beforeAll(async () => {
  writeFileSync(join(folder.path, 'a.bin'), 'a');
  server = await startHttpServer(({ url }, response) => {
    if (isKeyRefused) replyJson(response, 401, { code: 50600, message: 'later', status: false });
    else if (url.includes('create')) replyJson(response, 202, { requestId: 'r-1' });
    else replyJson(response, 200, { code: 20000, message: 'Ok', status: true, data: { id: 7, url: 'https://h/a' } });
  });
  service = new ServiceClient({ baseUrl: server.url, apiKey: 'key-of-the-account' });
});
beforeEach(() => {
  isKeyRefused = true;
});
afterAll(async () => {
  await service.close();
  await server.close();
  await downloads.close();
  folder.remove();
});

function activitiesOf(accountPatienceMs: number): Activities {
  const archive = new FolderArchive(join(folder.path, String(Math.random())));
  const parts: ActivityDependencies = {
    services: new Map([['default', service]]),
    limits: new Map([['default', new AccountGate({ createsPerSecond: 100, pollsPerSecond: 100 })]]),
    archive,
    sources: { inputRoots: [folder.path], inputHosts: [], maxBytes: 1, spoolFolder: folder.path },
    allowed: { accounts: null, tuning: true, recreate: true },
    uploadConnections: loopbackRule,
    sharedUploads: new SharedUploads(archive),
    downloads,
    accountPatienceMs,
  };
  return createActivities(parts);
}

const upload = { file: 'a.bin' };
const archived: Omit<ArchiveOutputsInput, 'account'> = {
  ...{ requestId: 'r-1', folder: '', status: 'Success', webAppId: 1, inputs: [], values: {}, timestamps: {} },
  ...{ costTimes: {}, cost: null, errorMessage: null },
};
const ways: [string, (activities: Activities, account: string) => Promise<unknown>][] = [
  ['an upload', ({ storeInput }, account) => environment.run(storeInput, { account, ...upload })],
  ['an archive', ({ archiveOutputs }, account) => environment.run(archiveOutputs, { account, ...archived })],
];

async function failureOf(attempt: Promise<unknown>): Promise<ApplicationFailure> {
  const error = await attempt.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof ApplicationFailure) return error;
  throw new Error('It did not fail.');
}

describe.each<[string, string]>([
  ['AccountRefused', 'default'],
  ['AccountUnknown', 'studio'],
])('%s', (type, account) => {
  it.each(ways)('of %s is tried again', async (_what, call) => {
    const failure = await failureOf(call(activitiesOf(60_000), account));
    expect(failure).toMatchObject({ type, nonRetryable: false });
    expect(failure.message).toContain(`account "${account}"`);
  });

  it('of an upload is not final because the clock jumps ahead', async () => {
    const { storeInput } = activitiesOf(60_000);
    const attempt = (): Promise<ApplicationFailure> => failureOf(environment.run(storeInput, { account, ...upload }));
    await attempt();
    const later = Date.now() + 3_600_000;
    jest.spyOn(Date, 'now').mockReturnValue(later);
    const failure = await attempt().finally(() => jest.restoreAllMocks());
    expect(failure).toMatchObject({ type, nonRetryable: false });
  });

  it('of an archive is never final: its results are paid', async () => {
    const { archiveOutputs } = activitiesOf(0);
    const failure = await failureOf(environment.run(archiveOutputs, { account, ...archived }));
    expect(failure).toMatchObject({ type, nonRetryable: false });
  });
});

describe('an upload', () => {
  const attempt = (account: string, accountPatienceMs: number): (() => Promise<ApplicationFailure>) => {
    const { storeInput } = activitiesOf(accountPatienceMs);
    return () => failureOf(environment.run(storeInput, { account, ...upload }));
  };

  it('of an unknown account fails for good once that has lasted longer than the patience', async () => {
    const again = attempt('studio', 300);
    expect(await again()).toMatchObject({ type: 'AccountUnknown', nonRetryable: false });
    await eventually(async () => (await again()).nonRetryable === true, { what: 'the end' });
  });

  it('of an account that the service refuses is tried again, however long that lasts', async () => {
    expect(await attempt('default', 0)()).toMatchObject({ type: 'AccountRefused', nonRetryable: false });
  });
});

describe('a create', () => {
  /** One attempt after another, in one worker. */
  function attemptsOf(account: string, accountPatienceMs: number): () => Promise<ObservedAttempt> {
    const archive = new FolderArchive(join(folder.path, String(Math.random())));
    const worker = new CreateAttempts({ service, archive, spoolFolder: folder.path, accountPatienceMs });
    const input = { account, createNumber: 1, webAppId: 7, inputs: {} };
    return () => worker.observe(input, { workflowId: 'task:a' });
  }

  it('whose key is refused is tried again, leaves no record, and is sent with the new key', async () => {
    const attempt = attemptsOf('default', 60_000);
    const { failure } = await attempt();
    isKeyRefused = false;

    expect(failure).toMatchObject({ type: 'AccountRefused', nonRetryable: false });
    await eventually(async () => (await attempt()).outcome?.outcome === 'accepted', { what: 'the create' });
  });

  it('whose key stays refused is never rejected, and is not sent before a request that costs nothing is', async () => {
    const attempt = attemptsOf('default', 0);
    await attempt();
    const creates = (): number => server.requests.filter(({ url }) => url.includes('create')).length;
    const before = creates();
    const held = async (): Promise<boolean> => {
      const { failure } = await attempt();
      expect(failure).toMatchObject({ type: 'AccountRefused' });
      return failure?.message.includes('creates nothing') === true;
    };
    await eventually(held, { what: 'the request that costs nothing' });
    expect(creates()).toBe(before);
  });

  it('of an account that the worker does not know is not sent, and fails for good in the end', async () => {
    const attempt = attemptsOf('studio', 300);
    const { failure } = await attempt();
    expect(failure?.message).toContain('no account "studio"; it has: default');
    await eventually(async () => (await attempt().catch(() => 'failed')) === 'failed', { what: 'the failure' });
  });
});
