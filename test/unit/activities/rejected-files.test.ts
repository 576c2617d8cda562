import { join } from 'node:path';
import type { CreateTaskInput } from '../../../src/contract/activities';
import { ServiceClient } from '../../../src/service';
import { FolderArchive } from '../../../src/storage/archive/folder-archive';
import { CreateAttempts, type ObservedAttempt } from '../../support/create-attempts';
import { replyJson, startHttpServer } from '../../support/start-http-server';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();
afterAll(() => {
  folder.remove();
});

/** One attempt at a service that refuses it so. */
async function refused(httpStatus: number, inputs: CreateTaskInput['inputs']): Promise<ObservedAttempt> {
  const server = await startHttpServer((_request, response) => {
    replyJson(response, httpStatus, { code: 20015, message: 'no such parameter', status: false, data: null });
  });
  const service = new ServiceClient({ baseUrl: server.url, apiKey: 'key' });
  const archive = new FolderArchive(join(folder.path, 'archive'));
  try {
    const worker = new CreateAttempts({ service, archive, spoolFolder: folder.path });
    const input = { account: 'default', createNumber: 1, webAppId: 7, inputs };
    return await worker.observe(input, { workflowId: 'task:order-17' });
  } finally {
    await service.close();
    await server.close();
  }
}

describe('a create that the service rejects', () => {
  it.each(['./photo.png', 'photos/cat.JPG', '/srv/my photos/cat.mp4', 'C:\\photos\\cat.png', 'cat.png'])(
    'says how a file is given where a text is a path: %s',
    async (path) => {
      const { outcome } = await refused(400, { '2:A.b': path, '3:A.b': 5 });
      expect(outcome).toMatchObject({
        outcome: 'rejected',
        message: `no such parameter ("2:A.b" was sent as the text ${JSON.stringify(path)}: if the file is meant, give { "file": PATH }, in a table an @ before the path)`,
      });
    },
  );

  it.each(['make it look like cat.png', 'https://a.example/b.png', 's3://bucket/b.png', 'v1.2', 'png', 'a\n/b.png'])(
    'says nothing of another text: %j',
    async (text) => {
      const { outcome } = await refused(400, { '2:A.b': text });
      expect(outcome).toMatchObject({ outcome: 'rejected', message: 'no such parameter' });
    },
  );

  it('says nothing where the service only refuses it for now', async () => {
    const { failure } = await refused(429, { '2:A.b': './photo.png' });
    expect(failure?.message).toContain('no such parameter');
    expect(failure?.message).not.toContain('if the file is meant');
  });
});
