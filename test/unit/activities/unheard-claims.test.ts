import type { CreateTaskInput } from '../../../src/contract/activities';
import { createRecordName } from '../../../src/contract/workflow-ids';
import { ServiceClient } from '../../../src/service';
import type { Archive } from '../../../src/storage/archive/archive';
import { FolderArchive } from '../../../src/storage/archive/folder-archive';
import { CreateAttempts, type ObservedAttempt } from '../../support/create-attempts';
import { replyJson, startHttpServer, type TestHttpServer } from '../../support/start-http-server';
import { temporaryFolder } from '../../support/temporary-folder';
import { UnheardArchive } from '../../support/unheard-archive';

const input: CreateTaskInput = { account: 'default', createNumber: 1, webAppId: 7, inputs: {} };
/** Not waiting long for a create that may be on its way. */
const startToCloseTimeoutMs = 1_500;
const folder = temporaryFolder();
const heard = new FolderArchive(folder.path);
let server: TestHttpServer;
let service: ServiceClient;
beforeAll(async () => {
  server = await startHttpServer((_request, response) => {
    replyJson(response, 202, { requestId: 'r-1' });
  });
  service = new ServiceClient({ baseUrl: server.url, apiKey: 'key' });
});
afterAll(async () => {
  await service.close();
  await server.close();
  folder.remove();
});

async function attempt(workflowId: string, archive: Archive, heartbeatDetails?: unknown): Promise<ObservedAttempt> {
  const worker = new CreateAttempts({ service, archive, spoolFolder: folder.path });
  return await worker.observe(input, { workflowId, startToCloseTimeoutMs, heartbeatDetails });
}

describe('a claim of a create that was kept and answered with an error', () => {
  it('is that of the next attempt, which sends, and of no other run', async () => {
    const first = await attempt('task:kept', new UnheardArchive(folder.path));
    const record = await heard.read(createRecordName('task:kept', 1));
    const reset = await attempt('task:kept', heard);
    const sentBefore = server.requests.length;
    const second = await attempt('task:kept', heard, first.heartbeats.at(-1));

    expect(first.failure).toMatchObject({ type: 'ArchiveUnavailable' });
    expect(record).toBeDefined();
    expect(reset.outcome).toMatchObject({ outcome: 'uncertain' });
    expect(sentBefore).toBe(0);
    expect(second.outcome).toEqual({ outcome: 'accepted', requestId: 'r-1', sent: 1 });
    expect(server.requests).toHaveLength(1);
  });

  it('is uncertain once an attempt that may have sent has followed', async () => {
    const first = await attempt('task:followed', new UnheardArchive(folder.path));
    const { archiveId } = first.heartbeats.at(-1) as { archiveId: string };
    const sentBefore = server.requests.length;

    expect((await attempt('task:followed', heard, { archiveId })).outcome).toMatchObject({ outcome: 'uncertain' });
    expect(server.requests).toHaveLength(sentBefore);
  });
});
