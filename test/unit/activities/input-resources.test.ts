import { toCreateRequest } from '../../../src/activities/create-request';
import type { CreateTaskInput } from '../../../src/contract/activities';
import { ServiceClient } from '../../../src/service';
import { commitObject } from '../../../src/service/file-upload';
import { replyJson, startHttpServer, type TestHttpServer } from '../../support/start-http-server';

interface Entry {
  readonly id: number;
  readonly name: string;
  readonly url: string;
  readonly object_key?: string;
}

const own: Entry = { id: 7, name: 'mine.png', url: 'https://files.example/7' };
const foreign: Entry = { id: 8, name: 'theirs.png', url: 'https://files.example/8' };
const committed: Entry = { id: 9, name: 'mine.png', url: 'https://files.example/9' };
const uploaded = { objectKey: 'inputs/7.png', name: 'mine.png' };

let listed: readonly Entry[];
let total: number | undefined;
let server: TestHttpServer;
let service: ServiceClient;
beforeAll(async () => {
  server = await startHttpServer(({ url }, response) => {
    const data = url.includes('/commit') ? committed : { list: listed, ...(total !== undefined && { total }) };
    replyJson(response, 200, { code: 20_000, message: 'Ok', status: true, data });
  });
  service = new ServiceClient({ baseUrl: server.url, apiKey: 'key' });
});
beforeEach(() => {
  total = undefined;
});
afterAll(async () => {
  await service.close();
  await server.close();
});

async function urlInCreate(): Promise<unknown> {
  const resource = { resourceId: 7, ...uploaded };
  const inputs: CreateTaskInput['inputs'] = { image: { resource, as: 'url' } };
  const { inputValues } = await toCreateRequest(service, { webAppId: 7, inputs });
  return inputValues['image'];
}

async function committedId(): Promise<number | string> {
  return (await commitObject(service, uploaded, { mayBeCommitted: true })).id;
}

describe('the resource that a create sends', () => {
  it.each<[string, readonly Entry[], string]>([
    ['is the one that was committed, among all that a service without filters lists', [foreign, own], own.url],
    ['is the only one of its name under its key, where that has a new id', [{ ...own, id: 70 }], own.url],
    [
      'is the only one under its key, where the service keeps names in capitals',
      [{ ...own, id: 70, name: 'MINE.PNG' }],
      own.url,
    ],
    [
      'is the one of its key among several, where that has a new id and the service tells keys',
      [
        { ...foreign, object_key: 'inputs/8.png' },
        { ...own, id: 70, object_key: 'inputs/7.png' },
      ],
      own.url,
    ],
    ['is the only one under its key, where the service gives no name', [{ ...own, id: 70, name: '' }], own.url],
  ])('%s', async (_what, entries, url) => {
    listed = entries;
    expect(await urlInCreate()).toBe(url);
  });

  it.each<[string, readonly Entry[], number | undefined]>([
    ['the only one listed has another name', [foreign], undefined],
    ['several are listed', [{ ...own, id: 70 }, foreign], undefined],
    ['the one of its id has another key', [{ ...own, object_key: 'inputs/8.png' }], undefined],
    ['the page has one of several', [{ ...own, id: 70 }], 2],
  ])('is never that of another file: %s', async (_what, entries, all) => {
    [listed, total] = [entries, all];
    await expect(urlInCreate()).rejects.toThrow(/does not list the committed input "mine.png"/);
  });
});

describe('a commit that may have been taken', () => {
  it('is not repeated when the service lists its resource', async () => {
    listed = [own];
    expect(await committedId()).toBe(own.id);
  });

  it('is not repeated when the service lists its resource under its name with other forms of accents', async () => {
    const object = { objectKey: 'inputs/7.png', name: 'été.png'.normalize('NFD') };
    listed = [{ ...own, name: 'été.png'.normalize('NFC') }];
    expect((await commitObject(service, object, { mayBeCommitted: true })).id).toBe(own.id);
  });

  it.each<[string, readonly Entry[], number | undefined]>([
    ['nothing', [], undefined],
    ['another file', [foreign], undefined],
    ['several files', [own, foreign], undefined],
    ['one of several files', [own], 2],
  ])('is repeated when the service lists %s, whose resource may be another input', async (_what, entries, all) => {
    [listed, total] = [entries, all];
    expect(await committedId()).toBe(committed.id);
  });
});
