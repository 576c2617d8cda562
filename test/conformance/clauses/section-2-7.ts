import { dataOf, fieldIs, itemsOf, quote } from '../answers';
import { inSection, type Clause, type Statement } from '../clause';
import { allHold, holdsIf } from '../verdict';

/** Section 2.7: the input resource and its list. */
export const section27: readonly Clause[] = inSection(
  '2.7',
  {
    statement: 'id is an integer',
    needs: ['upload'],
    check: async ({ uploads }) => fieldIs((await uploads.uploaded('image')).resource, 'id', 'integer'),
    checkThroughClient: async ({ journeys }) => {
      const { id } = (await journeys.uploaded('image')).resource;
      return holdsIf(Number.isInteger(id), `id is ${quote(id)}`);
    },
  },
  {
    statement: 'name is the original file name',
    needs: ['upload'],
    check: async ({ uploads }) => {
      const all = await uploads.all();
      return allHold(all.map(({ file, resource: { name } }) => holdsIf(name === file.name, `name is ${quote(name)}`)));
    },
    checkThroughClient: async ({ journeys }) => {
      const { file, resource } = await journeys.uploaded('image');
      return holdsIf(resource.name === file.name, `name is ${quote(resource.name)}`);
    },
  },
  {
    statement: 'ext has its leading dot and is derived from the file name',
    needs: ['upload'],
    check: async ({ uploads }) => {
      const all = await uploads.all();
      return allHold(
        all.map(({ file, resource: { ext } }) => holdsIf(ext === file.ext, `ext is ${quote(ext)}, not ${file.ext}`)),
      );
    },
    checkThroughClient: async ({ journeys }) => {
      const { file, resource } = await journeys.uploaded('audio');
      return holdsIf(resource.ext === file.ext, `ext is ${quote(resource.ext)}`);
    },
  },
  {
    statement: 'url is the address of the file on {storage_url}',
    needs: ['upload'],
    check: async ({ http, uploads }) => {
      const { file, objectKey } = await uploads.uploaded('image');
      const { status, bytes } = await http.download(await uploads.freshUrl(objectKey));
      return holdsIf(status === 200 && bytes.equals(file.bytes), `it answers HTTP ${status}, ${bytes.length} bytes`);
    },
    checkThroughClient: async ({ journeys }) => {
      const { url } = (await journeys.uploaded('image')).resource;
      return holdsIf(URL.canParse(url), 'url is no address');
    },
  },
  {
    statement: 'url is time-limited at a service whose links are',
    needs: ['upload', 'linkLifetime'],
    check: async ({ target, uploads }) => {
      const { status } = await uploads.downloadTooLate(target.pace.linkLifetimeMs ?? 0);
      return holdsIf(status >= 400, `it still answers HTTP ${status}`);
    },
  },
  {
    statement: 'a list has list, an array of input resources',
    needs: [],
    check: async ({ http }) => {
      const data = dataOf(await http.ask('list'));
      return allHold([
        fieldIs(data, 'list', 'array'),
        ...itemsOf(data['list']).flatMap((item) => [
          fieldIs(item, 'id', 'integer'),
          fieldIs(item, 'name', 'string'),
          fieldIs(item, 'ext', 'string'),
          fieldIs(item, 'url', 'string'),
        ]),
      ]);
    },
    checkThroughClient: async ({ client }) => {
      const { list } = await client.listInputs();
      return allHold(
        list.map(({ id, name, url }) => holdsIf(Number(id) > 0 && name !== '' && url !== '', quote(name))),
      );
    },
  },
  ...['total', 'current', 'page_size'].map((name): Statement => ({
    statement: `a list has ${name}, an integer`,
    needs: [],
    check: async ({ http }) => fieldIs(dataOf(await http.ask('list')), name, 'integer'),
    checkThroughClient: async ({ client }) => {
      const { total, current, pageSize } = await client.listInputs();
      const value = { total, current, page_size: pageSize }[name];
      return holdsIf(Number.isInteger(value), `${name} is ${quote(value)}`);
    },
  })),
);
