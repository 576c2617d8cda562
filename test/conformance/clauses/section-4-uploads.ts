import { randomUUID } from 'node:crypto';
import { dataOf, describe, fieldIs, isSuccess, quote } from '../answers';
import { inSection, type Clause, type Statement } from '../clause';
import { sampleFile } from '../sample-files';
import { putObject, type PutTarget } from '../storage-put';
import { putTargetOf } from '../upload-journeys';
import { allHold, doesNotHold, holdsIf } from '../verdict';

/** Uploads that differ from what the token says, by section 4.6 all of them failures. */
const wrongUploads: readonly { readonly what: string; readonly change: (put: PutTarget) => Partial<PutTarget> }[] = [
  { what: 'with another secret', change: () => ({ accessKeySecret: 'no-secret-of-anybody' }) },
  { what: 'with another security token', change: () => ({ securityToken: 'no-token-of-anybody' }) },
  { what: 'to another bucket', change: ({ bucket }) => ({ bucket: `${bucket}-other` }) },
  { what: 'signed for another region', change: () => ({ region: 'oss-nowhere-1' }) },
  {
    what: 'of another object',
    change: ({ objectKey }) => ({ objectKey: objectKey.replace(/[^/]+$/, `${randomUUID()}.png`) }),
  },
];

/** Sections 4.6 and 4.7: upload credentials and commit. */
export const section4Uploads: readonly Clause[] = [
  ...inSection(
    '4.6',
    {
      statement: 'token answers with data.file and data.storage',
      needs: ['upload'],
      check: async ({ uploads }) => {
        const token = await uploads.token();
        return allHold([fieldIs(dataOf(token), 'file', 'object'), fieldIs(dataOf(token), 'storage', 'object')]);
      },
      checkThroughClient: async ({ client }) => {
        const { objectKey, bucket } = await client.getUploadToken(sampleFile('image').name);
        return holdsIf(objectKey !== '' && bucket !== '', 'fields are empty');
      },
    },
    ...['file_name', 'file_type'].map((name): Statement => ({
      statement: `token requires ${name}`,
      needs: [],
      check: async ({ http }) => {
        const whole = { file_name: 'photo.png', file_type: 'inputs' };
        const answer = await http.ask('token', {
          query: Object.fromEntries(Object.entries(whole).filter(([parameter]) => parameter !== name)),
        });
        // An answer that should not have come may hold credentials: nothing of it is quoted.
        return holdsIf(!isSuccess(answer), `a success without it: HTTP ${answer.status}`);
      },
    })),
    ...['File_Name', 'file_Name', 'fileName'].map((wrong): Statement => ({
      statement: `token does not take ${wrong} for file_name`,
      needs: [],
      check: async ({ http }) => {
        const answer = await http.ask('token', { query: { [wrong]: 'photo.png', file_type: 'inputs' } });
        return holdsIf(!isSuccess(answer), `a success: HTTP ${answer.status}`);
      },
    })),
    {
      statement: 'the content type is derived from file_name: a committed file is served as it',
      needs: ['upload'],
      check: async ({ http, uploads }) => {
        const found: string[] = [];
        for (const { objectKey } of await uploads.all()) {
          found.push((await http.download(await uploads.freshUrl(objectKey))).contentType.split('/')[0] ?? '');
        }
        return holdsIf(quote(found) === '["image","audio","video"]', `the types are ${quote(found)}`);
      },
    },
    {
      statement: 'the ext of the object key is derived from file_name',
      needs: ['upload'],
      check: async ({ uploads }) => {
        const all = await uploads.all();
        return allHold(
          all.map(({ file, objectKey }) => holdsIf(objectKey.endsWith(file.ext), `${file.name} became ${objectKey}`)),
        );
      },
      checkThroughClient: async ({ journeys }) => {
        const { file, token } = await journeys.uploaded('video');
        return holdsIf(token.objectKey.endsWith(file.ext), token.objectKey);
      },
    },
    {
      statement: 'a PUT with the temporary credentials to endpoint, bucket and object key stores the file',
      needs: ['upload'],
      check: async ({ uploads }) => {
        const { put } = await uploads.uploaded('image');
        return holdsIf(put === 'stored', put);
      },
      checkThroughClient: async ({ journeys }) => {
        const { put } = await journeys.uploaded('image');
        return holdsIf(put === 'stored', put);
      },
    },
    ...wrongUploads.map(({ what, change }): Statement => ({
      statement: `an upload ${what} fails`,
      needs: ['upload'],
      check: async ({ uploads }) => {
        const { name, bytes } = sampleFile('image');
        const put = putTargetOf(await uploads.askToken(name));
        const outcome = await putObject({ ...put, ...change(put) }, bytes);
        return holdsIf(outcome !== 'stored', 'it was stored');
      },
    })),
  ),
  ...inSection(
    '4.6',
    {
      statement: 'an upload to the object of another token fails',
      needs: ['upload'],
      check: async ({ uploads }) => {
        const { name, bytes } = sampleFile('image');
        const other = putTargetOf(await uploads.askToken(name));
        const own = putTargetOf(await uploads.askToken(name));
        const outcome = await putObject({ ...own, objectKey: other.objectKey }, bytes);
        const isFree = await putObject(other, bytes);
        return allHold([
          holdsIf(outcome !== 'stored', 'it was stored'),
          holdsIf(isFree === 'stored', `its own credentials do not write it: ${isFree}`),
        ]);
      },
    },
    {
      statement: 'an upload over a committed file, with the credentials of another token, fails',
      needs: ['upload'],
      check: async ({ http, uploads }) => {
        const { file, objectKey } = await uploads.uploaded('image');
        const own = putTargetOf(await uploads.askToken(file.name));
        const outcome = await putObject({ ...own, objectKey }, Buffer.from('not the file'));
        if (outcome === 'stored') return doesNotHold('it was stored');
        const { bytes } = await http.download(await uploads.freshUrl(objectKey));
        return holdsIf(bytes.equals(file.bytes), 'the committed file is another than before');
      },
    },
    {
      statement: 'an upload to another bucket that exists fails',
      needs: ['upload', 'otherBucket'],
      check: async ({ target, uploads }) => {
        const { name, bytes } = sampleFile('image');
        const put = putTargetOf(await uploads.askToken(name));
        const outcome = await putObject({ ...put, bucket: target.otherBucket ?? '' }, bytes);
        return holdsIf(outcome !== 'stored', 'it was stored');
      },
    },
  ),
  ...inSection(
    '4.7',
    ...['name', 'object_key'].map((name): Statement => ({
      statement: `commit requires ${name}`,
      needs: ['upload'],
      check: async ({ http, uploads }) => {
        const { file, objectKey } = await uploads.uploaded('image');
        const whole = { name: file.name, object_key: objectKey };
        const answer = await http.ask('commit', {
          body: Object.fromEntries(Object.entries(whole).filter(([field]) => field !== name)),
        });
        return holdsIf(!isSuccess(answer), `a success without it: ${describe(answer)}`);
      },
    })),
    {
      statement: 'object_key must equal the key returned by the token call',
      needs: ['upload'],
      check: async ({ uploads }) => {
        const { file, objectKey } = await uploads.uploaded('image');
        const answer = await uploads.commit(file.name, objectKey.replace(/[^/]+$/, `${randomUUID()}.png`));
        return holdsIf(!isSuccess(answer), `another key is committed: ${describe(answer)}`);
      },
    },
    {
      statement: 'commit answers with an input resource',
      needs: ['upload'],
      check: async ({ uploads }) => {
        const { resource } = await uploads.uploaded('image');
        return allHold([
          fieldIs(resource, 'id', 'integer'),
          ...['name', 'ext', 'url'].map((name) => fieldIs(resource, name, 'string')),
        ]);
      },
      checkThroughClient: async ({ journeys }) => {
        const { resource } = await journeys.uploaded('image');
        return holdsIf(Number(resource.id) > 0 && resource.url !== '', `id is ${resource.id}`);
      },
    },
  ),
];
