import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ServiceClient } from '../../../src/service';
import { replyJson, startHttpServer, type TestHttpServer } from '../../support/start-http-server';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();
const credentials = { access_key_id: 'AK', access_key_secret: 'SK', security_token: 'ST' };

/** What each token names; the last one stays. */
let keys: string[];
let puts: string[];
let isStorageUp: boolean;
/** Instead of the resource of the file. */
let commitReply: object | undefined;
let server: TestHttpServer;
let service: ServiceClient;
beforeAll(async () => {
  server = await startHttpServer(({ method, url, body }, response) => {
    if (method === 'PUT') {
      puts.push(new URL(url, 'http://storage').pathname);
      response.writeHead(isStorageUp ? 200 : 503, { etag: '"x"' }).end();
      return;
    }
    const object_key = keys.length > 1 ? keys.shift() : keys[0];
    const storage = { endpoint: server.url, bucket: 'b', region: 'r' };
    const { name = 'a.png' } = url.includes('/commit') ? (JSON.parse(body) as { name: string }) : {};
    const data = url.includes('/token')
      ? { file: { object_key, ...credentials }, storage }
      : (commitReply ?? { id: 7, name, url: 'x' });
    replyJson(response, 200, { code: 20_000, message: 'Ok', status: true, data });
  });
  service = new ServiceClient({ baseUrl: server.url, apiKey: 'key' });
});
beforeEach(() => {
  keys = [`inputs/${randomUUID()}.png`];
  puts = [];
  isStorageUp = true;
  commitReply = undefined;
});
afterAll(async () => {
  await service.close();
  await server.close();
  folder.remove();
});

function upload(content: string, name = 'a.png'): Promise<unknown> {
  const path = join(folder.path, name);
  writeFileSync(path, content);
  return service.uploadFile(path);
}

describe('an upload token', () => {
  it.each(['inputs/1.mp4', 'inputs/a.html'])(
    'whose key %s is that of a file of another type is refused',
    async (key) => {
      keys = [key];
      await expect(upload('picture')).rejects.toMatchObject({ code: 'RESPONSE_INVALID' });
      expect(puts).toEqual([]);
    },
  );

  it.each(['inputs/1.JPG', 'inputs/without-extension'])('may name the key %s for a.jpeg', async (key) => {
    keys = [key];
    await upload('picture', 'a.jpeg');
    expect(puts).toHaveLength(1);
  });

  it('that a cache gives twice puts no file in the place of another', async () => {
    await upload('first');
    await expect(upload('second', 'b.png')).rejects.toMatchObject({ code: 'RESPONSE_INVALID' });
    expect(puts).toHaveLength(1);
  });

  it('that a cache gives to two at once lets one of them upload', async () => {
    const ends = await Promise.allSettled([upload('first'), upload('second', 'b.png')]);
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(puts).toHaveLength(1);
  });

  it('may name the key of the same file again, and that of an upload that failed', async () => {
    isStorageUp = false;
    await expect(upload('first')).rejects.toMatchObject({ httpStatus: 503 });
    isStorageUp = true;
    await upload('second');
    await upload('second');
    expect(puts).toHaveLength(3);
  });
});

describe('the reply to a commit', () => {
  const resource = { id: 7, name: 'a.png', ext: '.png', url: 'https://s/a.png' };

  it.each([
    ['another key', { ...resource, object_key: 'inputs/1/b.png' }],
    ['another name', { ...resource, name: 'b.png' }],
    ['another extension, and no name', { ...resource, name: '', ext: '.mp4' }],
  ])('is refused where it has %s: the file would be that of another task', async (_what, reply) => {
    commitReply = reply;
    const commit = service.commitInput({ name: 'a.png', objectKey: 'inputs/1/a.png' });
    await expect(commit).rejects.toMatchObject({ code: 'RESPONSE_INVALID' });
  });

  it.each([
    ['the key, and a name of its own', { ...resource, name: '1.png', object_key: 'inputs/1/a.png' }],
    ['neither name nor extension', { ...resource, name: undefined, ext: undefined }],
    ['the name in another form', { ...resource, name: 'A_e__1_.PNG', ext: 'PNG' }],
  ])('is taken where it has %s', async (_what, reply) => {
    commitReply = reply;
    const name = reply.name === 'A_e__1_.PNG' ? 'a é (1).png' : 'a.png';
    expect(await service.commitInput({ name, objectKey: 'inputs/1/a.png' })).toMatchObject({ id: 7 });
  });
});
