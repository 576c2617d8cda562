import { join } from 'node:path';
import { Longhaul } from '../../../src/client/longhaul';
import { createRecordName } from '../../../src/contract/workflow-ids';
import { reconcile, type ReconcileOptions, type Reconciliation } from '../../../src/reconcile/reconcile';
import { ServiceClient } from '../../../src/service';
import { FolderArchive } from '../../../src/storage/archive/folder-archive';
import { replyJson, startHttpServer } from '../../support/start-http-server';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();
const workflowId = 'task:a';
let archive: FolderArchive;
let count = 0;
let server: Awaited<ReturnType<typeof startHttpServer>>;
let client: ServiceClient;

beforeAll(async () => {
  // Of the account that is configured here, which has no task of the other.
  server = await startHttpServer((_request, response) => {
    replyJson(response, 404, { code: 40400, message: 'no such task', status: false, data: null });
  });
  client = new ServiceClient({ baseUrl: server.url, apiKey: 'key-of-a-test' });
});
beforeEach(() => {
  count += 1;
  archive = new FolderArchive(join(folder.path, String(count)));
});
afterAll(async () => {
  await client.close();
  await server.close();
  folder.remove();
});

/** Temporal has forgotten all workflows. */
const longhaul = Object.assign(Object.create(Longhaul.prototype) as Longhaul, {
  async *list() {
    // None.
  },
  task: () => ({ isOver: () => Promise.resolve(true) }),
});

async function keep(requestId: string | null): Promise<void> {
  const sentAt = '2026-03-01T12:00:00.000Z';
  const record = { workflowId, createNumber: 1, sentAt, callbackAsked: false, account: 'studio', requestId };
  await archive.replace(createRecordName(workflowId, 1), JSON.stringify(record));
}

function compare(more: Partial<ReconcileOptions> = {}): Promise<Reconciliation> {
  return reconcile(
    { longhaul, services: new Map([['default', client]]), archive },
    {
      ...{ requestIds: [], account: null, sinceMs: 0, changes: null, taskQueue: null, verify: false, settlements: [] },
      onProgress: () => undefined,
      ...more,
    },
  );
}

describe('a task of an account that is not configured here', () => {
  it('is not called lost: the accounts that are do not know it, and its own is not asked', async () => {
    await keep('r-1');
    const { findings } = await compare();
    expect(findings).toMatchObject([{ kind: 'unanswered', requestId: 'r-1', account: 'studio' }]);
    expect(findings[0]?.reason).toContain('the account "studio" is not configured here');
  });

  it('stays in its create record: what other accounts say of it withdraws nothing', async () => {
    await keep('r-1');
    const settlements = [{ workflowId, createNumber: 1, requestId: null }];
    await expect(compare({ settlements })).rejects.toThrow('Create 1 of task:a made the task r-1; that stands.');
    expect((await archive.read(createRecordName(workflowId, 1)))?.toString()).toContain('r-1');
    // As a person says it who gave the account another name.
    await compare({ settlements, account: 'default' });
    expect(await archive.read(createRecordName(workflowId, 1))).toBeUndefined();
  });

  it('is not settled with a task that only another account may have', async () => {
    await keep(null);
    const settlements = [{ workflowId, createNumber: 1, requestId: 'r-2' }];
    await expect(compare({ settlements })).rejects.toThrow('the account "studio" is not configured here');
  });
});
