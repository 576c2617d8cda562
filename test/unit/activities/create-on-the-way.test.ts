import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { CreateTaskInput } from '../../../src/contract/activities';
import { ServiceClient } from '../../../src/service';
import { readArchiveIdentity } from '../../../src/storage/archive/archive-identity';
import { FolderArchive } from '../../../src/storage/archive/folder-archive';
import { type AttemptInfo, CreateAttempts, type ObservedAttempt } from '../../support/create-attempts';
import { replyJson, startHttpServer } from '../../support/start-http-server';
import { temporaryFolder } from '../../support/temporary-folder';

const workflowId = 'task:order-17';
const input: CreateTaskInput = { account: 'default', createNumber: 1, webAppId: 7, inputs: { '2:A.b': 3 } };

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

/** One attempt, in a worker of its own or in this one. */
async function create(
  url: string,
  more: Partial<CreateTaskInput>,
  { worker, ...info }: Partial<AttemptInfo> & { readonly worker?: CreateAttempts } = {},
): Promise<ObservedAttempt> {
  const service = new ServiceClient({ baseUrl: url, apiKey: 'key', timeouts: { createMs: 500 } });
  try {
    return await (worker ?? workerAt(service)).observe({ ...input, ...more }, { workflowId, ...info });
  } finally {
    await service.close();
  }
}

function workerAt(service: ServiceClient): CreateAttempts {
  return new CreateAttempts({ service, archive, spoolFolder: folder.path });
}

describe('createTask, where what is on the way refuses', () => {
  it.each([
    [404, '<html>default backend</html>'],
    [405, ''],
    [308, ''],
  ])('waits until the service is there again: HTTP %i', async (status, page) => {
    let isThere = false;
    const server = await startHttpServer((_request, response) => {
      if (isThere) replyJson(response, 202, { requestId: 'r-1' });
      else response.writeHead(status, { location: 'https://h/maintenance' }).end(page);
    });
    const first = await create(server.url, {});
    isThere = true;
    const second = await create(server.url, {}, { heartbeatDetails: first.heartbeats.at(-1) });
    await server.close();

    expect(first.failure).toMatchObject({ type: 'ServiceUnavailable', nonRetryable: false });
    expect(first.limiter).toMatchObject({ state: 'closed', cause: 'service' });
    expect(second.outcome).toEqual({ outcome: 'accepted', requestId: 'r-1', sent: 2 });
  });

  it('is rejected once it was refused again and again while others were taken', async () => {
    const server = await startHttpServer(({ body }, response) => {
      if (body.includes('odd')) response.writeHead(404).end();
      else replyJson(response, 202, { requestId: 'r-1' });
    });
    const service = new ServiceClient({ baseUrl: server.url, apiKey: 'key' });
    const worker = workerAt(service);
    const odd = { createNumber: 2, inputs: { '2:A.b': 'odd' } };
    const { id: archiveId } = await readArchiveIdentity(archive);
    const heartbeatDetails = { archiveId, isReleased: true, maker: 'm', refused: 8 };
    const alone = await create(server.url, odd, { heartbeatDetails });
    await create(server.url, {}, { worker });
    const last = await create(server.url, odd, { heartbeatDetails, worker });
    await service.close();
    await server.close();

    expect(alone.failure).toMatchObject({ type: 'ServiceUnavailable' });
    expect(last.outcome).toMatchObject({ outcome: 'rejected', httpStatus: 404, sent: 9 });
  });
});

describe('createTask, where completing the create record', () => {
  it.each([
    ['takes long', () => setTimeout(500, true)],
    ['fails', () => Promise.reject(new Error('no space left'))],
  ])('%s, tells Temporal the request id, too', async (_what, complete) => {
    const server = await startHttpServer((_request, response) => {
      replyJson(response, 202, { requestId: 'r-1' });
    });
    Object.assign(archive, { append: complete, replace: complete });
    const run = await create(server.url, {});
    await server.close();

    expect(run.outcome).toMatchObject({ outcome: 'accepted', requestId: 'r-1' });
    expect(run.heartbeats).toEqual([expect.objectContaining({ requestId: 'r-1' })]);
  });
});
