import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import type { ReferenceService } from '../../../reference-service/start-reference-service';
import { ServiceArgumentError, ServiceClient, SourceError, type UploadedFile, UploadError } from '../../../src/service';
import { startService } from '../../support/start-reference-service';
import { temporaryFolder } from '../../support/temporary-folder';

const photo = join(__dirname, '../../../examples/photos/rocket.jpg');
const folder = temporaryFolder();

let service: ReferenceService;
let client: ServiceClient;

beforeAll(async () => {
  service = await startService();
  client = new ServiceClient({ baseUrl: service.url, apiKey: service.apiKey });
});
afterAll(async () => {
  await client.close();
  await service.stop();
  folder.remove();
});

describe('uploadFile', () => {
  it.each([
    ['the path of a file', () => photo, { name: 'rocket.jpg' }],
    ['a buffer', () => readFile(photo), { name: 'rocket.jpg' }],
    ['bytes', async () => new Uint8Array(await readFile(photo)), { name: 'rocket.jpg' }],
    ['a stream', () => createReadStream(photo), { name: 'rocket.jpg' }],
  ])('uploads %s and commits it in one call, and an app can load it', async (_name, source, options) => {
    const bytes = await readFile(photo);
    const sent: number[] = [];

    const uploaded = await client.uploadFile(await source(), { ...options, onProgress: (count) => sent.push(count) });

    const { list } = await client.listInputs({ objectKey: uploaded.objectKey });
    expect(list).toMatchObject([{ id: uploaded.id, name: 'rocket.jpg', ext: '.jpg' }]);
    expect(uploaded).toMatchObject({
      ...{ name: 'rocket.jpg', ext: '.jpg', bytes: bytes.length },
      sha256: createHash('sha256').update(bytes).digest('hex'),
    } satisfies Partial<UploadedFile>);
    expect(sent.at(-1)).toBe(bytes.length);
    const loaded = { webAppId: 1, inputValues: { '1:LoadImage.image': uploaded.url } };
    expect((await client.createTaskSync(loaded)).task).toMatchObject({ status: 'Success' });
  });

  it('gives a file another name, and follows a link to it', async () => {
    const link = join(folder.path, 'link.jpg');
    await symlink(photo, link);
    expect(await client.uploadFile(link, { name: 'portrait.jpg' })).toMatchObject({ name: 'portrait.jpg' });
    expect(await client.uploadFile(link)).toMatchObject({ name: 'rocket.jpg' });
  });

  it('refuses bytes without a name, and a name with folders, before anything is asked', async () => {
    const before = service.ledger.count();
    const stream = new PassThrough();
    // @ts-expect-error -- bytes need a name
    await expect(client.uploadFile(Buffer.from('x'))).rejects.toThrow(ServiceArgumentError);
    // @ts-expect-error -- so does a stream
    await expect(client.uploadFile(stream)).rejects.toThrow(/^name is missing; give a file name/);
    await expect(client.uploadFile(photo, { name: '../a.png' })).rejects.toThrow(/^name is "..\/a.png"; give/);
    expect(stream.destroyed).toBe(true);
    expect(service.ledger.count()).toBe(before);
  });

  it('names the file that cannot be used, and why', async () => {
    const empty = join(folder.path, 'empty.png');
    await writeFile(empty, '');
    for (const [path, code] of [
      [join(folder.path, 'none.png'), 'NOT_FOUND'],
      [folder.path, 'NOT_A_FILE'],
      [empty, 'EMPTY'],
    ] as const) {
      const failed = client.uploadFile(path);
      await expect(failed).rejects.toThrow(SourceError);
      await expect(failed).rejects.toMatchObject({ code, message: expect.stringContaining(path) as string });
    }
  });

  it('rejects with the error of a stream that breaks, and commits nothing', async () => {
    const before = service.ledger.count();
    const reason = new Error('the camera is off');
    const broken = Readable.from(
      (function* () {
        yield Buffer.from('half');
        throw reason;
      })(),
    );
    await expect(client.uploadFile(broken, { name: 'a.png' })).rejects.toBe(reason);
    expect(service.ledger.count()).toBe(before);
  });

  it('can be aborted while the bytes come, and while they go', async () => {
    const reason = new Error('no longer wanted');
    const coming = new AbortController();
    const endless = new PassThrough();
    endless.write('x');
    const spooled = client.uploadFile(endless, { name: 'a.png', signal: coming.signal });
    coming.abort(reason);
    await expect(spooled).rejects.toBe(reason);
    const going = new AbortController();
    const onProgress = (): void => {
      going.abort(reason);
    };
    await expect(client.uploadFile(photo, { signal: going.signal, onProgress })).rejects.toBe(reason);
  });

  it('reports credentials that end before the upload as such', async () => {
    service.scenarios.add({ endpoint: 'upload-token', scenario: { name: 'expired-credentials' }, times: 1 });
    const failed = client.uploadFile(photo);
    await expect(failed).rejects.toThrow(UploadError);
    await expect(failed).rejects.toMatchObject({ code: 'CREDENTIALS_EXPIRED', isRetryable: true });
  });
});
