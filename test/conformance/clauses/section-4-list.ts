import { dataOf, describe, fieldsOf, isSuccess, itemsOf, quote, textOf } from '../answers';
import { inSection, type Clause, type Statement } from '../clause';
import { allHold, holdsIf } from '../verdict';

/** Sections 4.8 and 4.9: the list of input resources, and the user. */
export const section4List: readonly Clause[] = [
  ...inSection(
    '4.8',
    {
      statement: 'list needs no parameter',
      needs: [],
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
        const ids: unknown[] = [];
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
      statement: 'a page has page_size resources while there are more, and says so',
      needs: ['upload'],
      check: async ({ http, uploads }) => {
        await uploads.all();
        const two = dataOf(await http.ask('list', { query: { page_size: 2 } }));
        const usual = dataOf(await http.ask('list'));
        const [length, usualLength] = [itemsOf(two['list']).length, itemsOf(usual['list']).length];
        const usualSize = Number(usual['page_size']);
        return allHold([
          holdsIf(
            length === 2 && two['page_size'] === 2,
            `a page of 2 has ${length}, and says ${quote(two['page_size'])}`,
          ),
          holdsIf(
            usualLength <= usualSize && usualLength >= Math.min(usualSize, Number(usual['total'])),
            `a page has ${usualLength} of ${quote(usual['total'])}, and says that its size is ${usualSize}`,
          ),
        ]);
      },
    },
    {
      statement: 'total counts what matches the filter, on whichever page',
      needs: ['upload'],
      check: async ({ http, uploads }) => {
        const { objectKey } = await uploads.uploaded('audio');
        const totals: unknown[] = [];
        const filters: Record<string, string | number>[] = [
          { ext: '.wav' },
          { ext: '.wav', current: 2 },
          { ext: '.png' },
        ];
        for (const filter of filters) {
          const data = dataOf(await http.ask('list', { query: { object_key: objectKey, page_size: 1, ...filter } }));
          totals.push(data['total']);
        }
        return holdsIf(
          quote(totals) === '[1,1,0]',
          `of one sound: on its page, after it, as a picture: ${quote(totals)}`,
        );
      },
    },
    ...['Page_Size', 'pageSize'].map((wrong): Statement => ({
      statement: `list does not take ${wrong} for page_size`,
      needs: ['upload'],
      check: async ({ http, uploads }) => {
        await uploads.all();
        const answer = await http.ask('list', { query: { [wrong]: 1 } });
        return holdsIf(dataOf(answer)['page_size'] !== 1, 'it does');
      },
    })),
    {
      statement: 'list does not take Current for current',
      needs: ['upload'],
      check: async ({ http, uploads }) => {
        await uploads.all();
        const answer = await http.ask('list', { query: { Current: 2, page_size: 1 } });
        return holdsIf(dataOf(answer)['current'] !== 2, 'it does');
      },
    },
    {
      statement: 'list does not take Ext for ext',
      needs: ['upload'],
      check: async ({ http, uploads }) => {
        await uploads.all();
        const items = itemsOf(dataOf(await http.ask('list', { query: { Ext: '.wav' } }))['list']);
        return holdsIf(
          items.some(({ ext }) => ext !== '.wav'),
          'it does',
        );
      },
    },
    {
      statement: 'list does not take Object_Key for object_key',
      needs: ['upload'],
      check: async ({ http, uploads }) => {
        await uploads.all();
        const items = itemsOf(dataOf(await http.ask('list', { query: { Object_Key: 'inputs/none.wav' } }))['list']);
        return holdsIf(items.length > 0, 'it does');
      },
    },
  ),
  ...inSection('4.9', {
    statement: 'user metadata takes no parameters',
    needs: [],
    check: async ({ http }) => {
      const answer = await http.ask('metadata');
      return holdsIf(answer.status === 200 && textOf(answer.text) !== '', describe(answer));
    },
    checkThroughClient: async ({ client }) =>
      holdsIf(Object.keys(fieldsOf(await client.getUserMetadata())).length > 0, 'nothing came'),
  }),
];
