import { existsSync } from 'node:fs';
import { mkdir, readFile, rename } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import fc from 'fast-check';
import { contentOf, hashOf, type ResultsService } from '../../support/results-service';
import { ArchiveUnderTest, contentsOf, failureOf, requestId } from './archive-under-test';

const archive = new ArchiveUnderTest();
let service: ResultsService;
beforeEach(async () => {
  service = await archive.open();
});
afterEach(() => service.stop());
afterAll(() => archive.close());

/** Where the only output of a task is, in the archive, with its manifest beside it. */
async function placeOf(more: Parameters<ArchiveUnderTest['attempt']>[0], ext = '.png'): Promise<string> {
  service.outputs = () => ({ outputs: [service.item('a', { output_ext: ext })] });
  const { outputs, manifest } = await archive.attempt(more);
  const [{ path, sha256 } = { path: '', sha256: '' }] = outputs;
  expect(sha256).toBe(hashOf('a'));
  expect(JSON.parse(await readFile(manifest, 'utf8'))).toMatchObject({ outputs: [{ file: basename(path), sha256 }] });
  expect(dirname(manifest)).toBe(dirname(path));
  return relative(archive.place, path);
}

describe('a paid task whose names are more than an archive takes', () => {
  it.each([
    ['a request id that is escaped', { requestId: '/'.repeat(200) }],
    ['a folder of more than 255 bytes', { folder: '山'.repeat(120) }],
    ['folders beyond the longest path', { folder: Array.from({ length: 60 }, () => '山'.repeat(80)).join('/') }],
    ['a template that was never checked', { naming: { batch: 'b', key: 'k', template: '../{index}', columns: {} } }],
    [
      'a template whose column is not there',
      { naming: { batch: 'b', key: 'k', template: '{batch}/{key}/{city}-{index}', columns: {} } },
    ],
  ])('is archived all the same: %s', async (_what, more) => {
    const first = await placeOf(more);
    service.fetched.length = 0;
    expect(await placeOf(more)).toBe(first);
    expect(service.fetched).toEqual([]);
  });

  it('is archived also where the archive itself lies deep', async () => {
    const deep = join(archive.place, ...Array.from({ length: 15 }, () => 'd'.repeat(240)));
    await mkdir(deep, { recursive: true });
    archive.place = deep;
    const folder = Array.from({ length: 3 }, () => 'f'.repeat(100)).join('/');
    expect(await placeOf({ folder, requestId: '/'.repeat(80) })).toMatch(/~[0-9a-f]{16}\/0\.png$/);
  });

  it('shares no name with another one', async () => {
    const places = [
      await placeOf({ requestId: `${'/'.repeat(199)}a` }),
      await placeOf({ requestId: `${'/'.repeat(199)}b` }),
    ];
    expect(new Set(places).size).toBe(2);
  });
});

describe('the extension that the service names', () => {
  it.each(['/../../../etc/passwd', `.${'x'.repeat(10_000)}`, '.p\u0000ng', '.\u202Egnp', '..', '.tar.gz', '.png/x'])(
    'leads nowhere else and stays short: %j',
    async (ext) => {
      expect(await placeOf({}, ext)).toBe(join(requestId, '0'));
    },
  );

  it('of any text makes a file in the task’s folder', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 300 }), fc.uuid(), async (ext, id) => {
        expect(await placeOf({ requestId: id }, ext)).toMatch(new RegExp(`^${id}/0(\\.[a-z0-9]{1,10})?$`));
      }),
      { numRuns: 25 },
    );
  });
});

describe('a name that cannot be had at all', () => {
  it('fails in words that name it, not in a fault of the system', async () => {
    archive.place = join(archive.place, ...Array.from({ length: 16 }, () => 'd'.repeat(249)));
    service.outputs = () => ({ outputs: [service.item('a')] });
    const failure = await failureOf(archive.attempt({ folder: 'f'.repeat(200), requestId: '/'.repeat(80) }));
    expect(failure.type).toBe('ArchiveUnavailable');
  });
});

describe('a request id that the services of two accounts give', () => {
  it.each([
    ['their usual names', {}],
    [
      'names by a template',
      { naming: { batch: 'b', key: 'row-1', template: '{requestId}-{key}/{index}{ext}', columns: {} } },
    ],
  ])('leaves each task its own result, also when it is archived again: %s', async (_names, naming) => {
    const of = async (account: string, attempt = 1): Promise<string[]> => {
      service.outputs = () => ({ outputs: [service.item(`${account}-a`), service.item(`${account}-b`)] });
      return await contentsOf(await archive.attempt({ account, ...naming }, attempt));
    };
    for (const attempt of [1, 2]) {
      expect(await of('default', attempt)).toEqual(['default-a', 'default-b'].map(contentOf));
      expect(await of('other', attempt)).toEqual(['other-a', 'other-b'].map(contentOf));
    }
    expect(service.fetched.toSorted()).toEqual(['default-a', 'default-b', 'other-a', 'other-b']);
  });
});

describe('an archive that goes away under a running worker', () => {
  it('gets nothing in its place, and the result once it is back', async () => {
    service.outputs = () => ({ outputs: [service.item('a'), service.item('b', { object_url: undefined })] });
    await failureOf(archive.attempt());
    service.outputs = () => ({ outputs: [service.item('a'), service.item('b')] });
    await rename(archive.place, `${archive.place}.away`);
    const failure = await failureOf(archive.attempt({}, 2));
    expect(failure).toMatchObject({ type: 'ArchiveUnavailable', nonRetryable: false });
    expect(failure.message).toMatch(/is not the one that was there before.*unmounted/);
    expect(existsSync(archive.place)).toBe(false);
    await rename(`${archive.place}.away`, archive.place);
    expect(await contentsOf(await archive.attempt({}, 3))).toEqual(['a', 'b'].map(contentOf));
  });
});
