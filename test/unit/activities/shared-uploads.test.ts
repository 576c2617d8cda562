import { SharedUploads } from '../../../src/activities/shared-uploads';
import { uploadRecordName } from '../../../src/archive/upload-record';
import type { CommittedInput } from '../../../src/contract/activities';
import { ServiceClient } from '../../../src/service';
import { FolderArchive } from '../../../src/storage/archive/folder-archive';
import { eventually } from '../../support/eventually';
import { replyJson, startHttpServer, type TestHttpServer } from '../../support/start-http-server';
import { temporaryFolder } from '../../support/temporary-folder';
import { ActivityEnvironment } from '../../support/activity-environment';

/** The part of the service that keeps resources, without upload tokens. */
class Resources {
  readonly keys = new Map<string, number>();
  /** Answered to the next commits instead of committing. */
  readonly refusals: { readonly status: number; readonly code: number }[] = [];
  commits = 0;
  lists = 0;
  name: string | undefined;

  answer(body: string, url: string): { status: number; data: unknown; code: number } {
    if (!url.includes('/commit')) {
      this.lists += 1;
      const objectKey = new URL(url, 'http://service').searchParams.get('object_key') ?? '';
      const id = this.keys.get(objectKey);
      const list = id === undefined ? [] : [this.#entry(id)];
      return { status: 200, code: 20_000, data: { list, total: list.length } };
    }
    this.commits += 1;
    const refusal = this.refusals.shift();
    if (refusal !== undefined) return { ...refusal, data: null };
    const { object_key: objectKey } = JSON.parse(body) as { object_key: string };
    this.keys.set(objectKey, this.commits);
    return { status: 200, code: 20_000, data: this.#entry(this.commits) };
  }

  #entry(id: number): object {
    return { id, name: this.name ?? 'photo.jpg', ext: '.jpg', url: `http://files.example/${id}?signature=secret` };
  }
}

const content = { account: 'studio', sha256: 'a'.repeat(64), name: 'photo.jpg' };

let folder: ReturnType<typeof temporaryFolder>;
let archive: FolderArchive;
let resources: Resources;
let server: TestHttpServer;
let service: ServiceClient;
/** How often something was uploaded. */
let puts: number;
beforeEach(async () => {
  folder = temporaryFolder();
  archive = new FolderArchive(folder.path);
  resources = new Resources();
  puts = 0;
  server = await startHttpServer(({ body, url }, response) => {
    const { status, code, data } = resources.answer(body, url);
    replyJson(response, status, { code, message: 'words', status: code === 20_000, data });
  });
  service = new ServiceClient({ baseUrl: server.url, apiKey: 'key-that-stays-here' });
});
afterEach(async () => {
  await service.close();
  await server.close();
  folder.remove();
});

/** Uploads that count themselves; each waits for `when`. */
function putting(when: Promise<unknown> = Promise.resolve()) {
  return async (): Promise<{ objectKey: string; name: string }> => {
    puts += 1;
    const objectKey = `inputs/${puts}.jpg`;
    await when;
    return { objectKey, name: 'photo.jpg' };
  };
}

async function share(
  uploads: SharedUploads,
  more: Partial<typeof content> = {},
  signal = new AbortController().signal,
  put = putting(),
): Promise<CommittedInput> {
  const environment = new ActivityEnvironment();
  const ask = (): Promise<CommittedInput> => uploads.resourceOf({ ...content, ...more }, { service, put, signal });
  const shared: CommittedInput = await environment.run(ask);
  return shared;
}

describe('uploads that rows share', () => {
  it('happen once for five hundred rows that ask at the same moment', async () => {
    const uploads = new SharedUploads(archive);
    const shared = await Promise.all(Array.from({ length: 500 }, () => share(uploads)));
    expect(new Set(shared.map(({ resourceId }) => resourceId))).toEqual(new Set([1]));
    expect({ puts, commits: resources.commits }).toEqual({ puts: 1, commits: 1 });
  });

  it('are found by another worker on record, once the service lists them', async () => {
    await share(new SharedUploads(archive));
    const elsewhere = new SharedUploads(archive);
    const found = { resourceId: 1, name: 'photo.jpg', objectKey: 'inputs/1.jpg', wasListed: true };
    expect(await share(elsewhere, { name: 'other name.JPG' })).toEqual(found);
    expect(await share(elsewhere)).toEqual(found);
    expect({ puts, commits: resources.commits, lists: resources.lists }).toEqual({ puts: 1, commits: 1, lists: 1 });
  });

  it('happen again when the service has lost the resource', async () => {
    await share(new SharedUploads(archive));
    resources.keys.clear();
    expect(await share(new SharedUploads(archive))).toMatchObject({ resourceId: 2, objectKey: 'inputs/2.jpg' });
    resources.keys.delete('inputs/1.jpg');
    expect(await share(new SharedUploads(archive))).toMatchObject({ resourceId: 2, wasListed: true });
    expect(puts).toBe(2);
  });

  it('trust what was seen for a while only', async () => {
    const uploads = new SharedUploads(archive, 0);
    await share(uploads);
    resources.keys.clear();
    expect(await share(uploads)).toMatchObject({ resourceId: 2 });
  });

  it('are not shared between accounts, contents and extensions', async () => {
    const uploads = new SharedUploads(archive);
    await share(uploads);
    await share(uploads, { account: 'other' });
    await share(uploads, { sha256: 'b'.repeat(64) });
    await share(uploads, { name: 'photo.png' });
    expect(puts).toBe(4);
  });

  it('go over to the next row when the task that uploads is stopped', async () => {
    const uploads = new SharedUploads(archive);
    const stop = new AbortController();
    const stopped = new Promise<never>((_resolve, reject) => {
      stop.signal.addEventListener('abort', () => {
        reject(stop.signal.reason as Error);
      });
    });
    const first = share(uploads, {}, stop.signal, putting(stopped));
    await eventually(() => puts === 1, { what: 'the first upload' });
    const second = share(uploads);
    stop.abort(new Error('the task was stopped'));
    await expect(first).rejects.toThrow('the task was stopped');
    expect(await second).toMatchObject({ resourceId: 1, objectKey: 'inputs/2.jpg' });
  });

  it('are waited for no longer than the own task runs', async () => {
    const uploads = new SharedUploads(archive);
    let finish = (): void => undefined;
    const gate = new Promise<void>((resolve) => (finish = resolve));
    const first = share(uploads, {}, undefined, putting(gate));
    await eventually(() => puts === 1, { what: 'the first upload' });
    const stop = new AbortController();
    const second = share(uploads, {}, stop.signal);
    stop.abort(new Error('the task was stopped'));
    await expect(second).rejects.toThrow('the task was stopped');
    finish();
    expect(await first).toMatchObject({ resourceId: 1 });
  });

  it('are not repeated because the service could not commit them just then', async () => {
    const uploads = new SharedUploads(archive);
    resources.refusals.push({ status: 503, code: 50_000 });
    await expect(share(uploads)).rejects.toMatchObject({ httpStatus: 503 });
    expect(await share(uploads)).toMatchObject({ objectKey: 'inputs/1.jpg' });
    expect({ puts, commits: resources.commits, lists: resources.lists }).toEqual({ puts: 1, commits: 2, lists: 1 });
  });

  it('are repeated when the service refused to commit them', async () => {
    const uploads = new SharedUploads(archive);
    resources.refusals.push({ status: 400, code: 20_015 });
    await expect(share(uploads)).rejects.toMatchObject({ httpStatus: 400 });
    expect(await share(uploads)).toMatchObject({ objectKey: 'inputs/2.jpg' });
  });

  it.each(['', '{"resourceId": 1, "na', '{"resourceId": "1"}'])('do not trust the record %j', async (text) => {
    await archive.replace(uploadRecordName(content), text);
    expect(await share(new SharedUploads(archive))).toMatchObject({ resourceId: 1 });
    expect(puts).toBe(1);
  });

  it('leave a record of account, content, resource, name and key, and nothing else', async () => {
    await share(new SharedUploads(archive));
    const name = `.uploads/studio/${content.sha256}.jpg.json`;
    expect(uploadRecordName(content)).toBe(name);
    const text = (await archive.read(name))?.toString() ?? '';
    const whose = { account: 'studio', sha256: content.sha256 };
    expect(JSON.parse(text)).toEqual({ ...whose, resourceId: 1, name: 'photo.jpg', objectKey: 'inputs/1.jpg' });
  });

  it.each([
    ['account', { account: 'other' }],
    ['content', { sha256: 'b'.repeat(64) }],
    ['type', { name: 'photo.png' }],
  ])('do not trust a record that was copied into the place of another %s', async (_what, more) => {
    await share(new SharedUploads(archive));
    const copy = (await archive.read(uploadRecordName(content)))?.toString() ?? '';
    await archive.replace(uploadRecordName({ ...content, ...more }), copy);
    expect(await share(new SharedUploads(archive), more)).toMatchObject({ resourceId: 2 });
  });

  it('do not trust the id of a resource that the service gave to another file since', async () => {
    await share(new SharedUploads(archive));
    resources.name = 'another.jpg';
    await expect(share(new SharedUploads(archive))).rejects.toMatchObject({ code: 'RESPONSE_INVALID' });
    expect(puts).toBe(2);
  });

  it('name no record outside of its folder, whatever account and file are called', () => {
    const odd = { ...content, account: '../..', name: 'x/../.json' };
    expect(uploadRecordName(odd)).toBe(`.uploads/%2E.%2F.%2E/${content.sha256}.json`);
  });
});
