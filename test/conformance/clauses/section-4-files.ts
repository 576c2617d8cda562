import { randomUUID } from 'node:crypto';
import { dataOf, describe, fieldIs, fieldsOf, isSuccess, itemsOf, quote, textOf } from '../answers';
import { inSection, type Clause, type Statement } from '../clause';
import { sampleFile } from '../sample-files';
import { putObject, type PutTarget } from '../storage-put';
import { putTargetOf } from '../upload-journeys';
import { allHold, holdsIf } from '../verdict';

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

/** Sections 4.6 to 4.9: the endpoints of files and of the user. */
export const section4Files: readonly Clause[] = [
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
      check: async ({ http }) => {
        const whole = { file_name: 'photo.png', file_type: 'inputs' };
        const answer = await http.ask('token', {
          query: Object.fromEntries(Object.entries(whole).filter(([parameter]) => parameter !== name)),
        });
        // An answer that should not have come may hold credentials: nothing of it is quoted.
        return holdsIf(!isSuccess(answer), `a success without it: HTTP ${answer.status}`);
      },
    })),
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
        return holdsIf(resource.id > 0 && resource.url !== '', `id is ${resource.id}`);
      },
    },
  ),
  ...inSection(
    '4.8',
    {
      statement: 'list needs no parameter',
      check: async ({ http }) => {
        const answer = await http.ask('list');
        return holdsIf(isSuccess(answer), describe(answer));
      },
      checkThroughClient: async ({ client }) => {
        const { list } = await client.listInputs();
        return holdsIf(Array.isArray(list), 'no list');
      },
    },
    {
      statement: 'page_size bounds a page, and current turns it',
      needs: ['upload'],
      check: async ({ http, uploads }) => {
        await uploads.all();
        const [first, second] = [
          dataOf(await http.ask('list', { query: { current: 1, page_size: 1 } })),
          dataOf(await http.ask('list', { query: { current: 2, page_size: 1 } })),
        ];
        const [one, other] = [itemsOf(first['list']), itemsOf(second['list'])];
        return allHold([
          holdsIf(
            one.length === 1 && other.length === 1,
            `pages of 1 have ${one.length} and ${other.length} resources`,
          ),
          holdsIf(one[0]?.['id'] !== other[0]?.['id'], `both pages have the resource ${quote(one[0]?.['id'])}`),
          holdsIf(
            first['current'] === 1 && second['current'] === 2,
            `current is ${quote([first['current'], second['current']])}`,
          ),
          holdsIf(first['page_size'] === 1, `page_size is ${quote(first['page_size'])}`),
          holdsIf(Number(first['total']) >= 3, `total is ${quote(first['total'])}`),
        ]);
      },
      checkThroughClient: async ({ client, journeys }) => {
        await journeys.uploaded('image');
        await journeys.uploaded('audio');
        const ids: number[] = [];
        for await (const { id } of client.eachInput({ pageSize: 1 })) if (ids.push(id) === 3) break;
        return holdsIf(ids.length > 1 && new Set(ids).size === ids.length, `the ids are ${ids.join(', ')}`);
      },
    },
    {
      statement: 'ext filters by extension',
      needs: ['upload'],
      check: async ({ http, uploads }) => {
        await uploads.all();
        const found = itemsOf(dataOf(await http.ask('list', { query: { ext: '.wav' } }))['list']);
        return holdsIf(
          found.length > 0 && found.every(({ ext }) => ext === '.wav'),
          `found ${quote(found.map(({ ext }) => ext))}`,
        );
      },
      checkThroughClient: async ({ client, journeys }) => {
        await journeys.uploaded('audio');
        const { list } = await client.listInputs({ ext: '.wav' });
        return holdsIf(list.length > 0 && list.every(({ ext }) => ext === '.wav'), `found ${list.length}`);
      },
    },
    {
      statement: 'object_key filters by object key',
      needs: ['upload'],
      check: async ({ http, uploads }) => {
        const { objectKey, resource } = await uploads.uploaded('audio');
        const data = dataOf(await http.ask('list', { query: { object_key: objectKey } }));
        const ids = itemsOf(data['list']).map(({ id }) => id);
        return allHold([
          holdsIf(ids.length === 1 && ids[0] === resource['id'], `found ${quote(ids)}, not ${quote(resource['id'])}`),
          holdsIf(data['total'] === 1, `total is ${quote(data['total'])}`),
        ]);
      },
      checkThroughClient: async ({ client, journeys }) => {
        const { token, resource } = await journeys.uploaded('audio');
        const { list } = await client.listInputs({ objectKey: token.objectKey });
        return holdsIf(list.length === 1 && list[0]?.id === resource.id, `found ${list.length}`);
      },
    },
    {
      statement: 'the names of query parameters are case-sensitive',
      needs: ['upload'],
      check: async ({ http, uploads }) => {
        await uploads.all();
        const answer = await http.ask('list', { query: { Page_Size: 1 } });
        return holdsIf(dataOf(answer)['page_size'] !== 1, 'Page_Size is taken for page_size');
      },
    },
  ),
  ...inSection('4.9', {
    statement: 'user metadata takes no parameters',
    check: async ({ http }) => {
      const answer = await http.ask('metadata');
      return holdsIf(answer.status === 200 && textOf(answer.text) !== '', describe(answer));
    },
    checkThroughClient: async ({ client }) =>
      holdsIf(Object.keys(fieldsOf(await client.getUserMetadata())).length > 0, 'nothing came'),
  }),
];
