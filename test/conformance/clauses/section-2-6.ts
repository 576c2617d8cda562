import { inspect } from 'node:util';
import { dataOf, fieldIs, fieldsOf, quote, textOf } from '../answers';
import { inSection, type Clause, type Statement } from '../clause';
import { allHold, holdsIf } from '../verdict';

const credentials = ['access_key_id', 'access_key_secret', 'security_token'] as const;

/** Section 2.6: upload credentials. */
export const section26: readonly Clause[] = inSection(
  '2.6',
  {
    statement: 'data.file.object_key has the form inputs/<date>/<name>.<ext>',
    needs: ['upload'],
    check: async ({ uploads }) => {
      const { object_key } = fieldsOf(dataOf(await uploads.token())['file']);
      return holdsIf(isObjectKey(textOf(object_key)), `object_key is ${quote(object_key)}`);
    },
    checkThroughClient: async ({ journeys }) => {
      const { token } = await journeys.uploaded('image');
      return holdsIf(isObjectKey(token.objectKey), `objectKey is ${quote(token.objectKey)}`);
    },
  },
  ...credentials.map((name): Statement => ({
    statement: `data.file.${name} is a text`,
    needs: ['upload'],
    check: async ({ uploads }) => {
      const file = fieldsOf(dataOf(await uploads.token())['file']);
      return holdsIf(textOf(file[name]) !== '', `${name} is no text`);
    },
    checkThroughClient: async ({ journeys }) => {
      const { token } = await journeys.uploaded('image');
      const value = {
        access_key_id: token.accessKeyId,
        access_key_secret: token.accessKeySecret,
        security_token: token.securityToken,
      };
      return holdsIf(
        value[name] !== '' && !inspect(token).includes(value[name]),
        `${name} is empty, or shown when printed`,
      );
    },
  })),
  {
    statement: 'the credentials are temporary',
    needs: ['upload', 'credentialLifetime'],
    check: async ({ target, uploads }) => {
      const outcome = await uploads.putTooLate(target.pace.credentialLifetimeMs ?? 0);
      return holdsIf(outcome !== 'stored', 'they still worked after their lifetime');
    },
  },
  {
    statement: 'data.storage.endpoint is the access host of the storage',
    needs: ['upload'],
    check: async ({ uploads }) => {
      const { endpoint } = fieldsOf(dataOf(await uploads.token())['storage']);
      return holdsIf(
        /^(https?:\/\/)?[A-Za-z0-9.-]+(:\d+)?\/?$/.test(textOf(endpoint)),
        `endpoint is ${quote(endpoint)}`,
      );
    },
    checkThroughClient: async ({ journeys }) => {
      const { endpoint } = (await journeys.uploaded('image')).token;
      return holdsIf(endpoint !== '', 'endpoint is empty');
    },
  },
  {
    statement: 'data.storage.bucket is a text',
    needs: ['upload'],
    check: async ({ uploads }) => fieldIs(fieldsOf(dataOf(await uploads.token())['storage']), 'bucket', 'string'),
    checkThroughClient: async ({ journeys }) => {
      const { bucket } = (await journeys.uploaded('image')).token;
      return holdsIf(bucket !== '', 'bucket is empty');
    },
  },
  {
    statement: 'data.storage.region carries an oss- prefix',
    needs: ['upload'],
    check: async ({ uploads }) => {
      const { region } = fieldsOf(dataOf(await uploads.token())['storage']);
      return holdsIf(/^oss-./.test(textOf(region)), `region is ${quote(region)}`);
    },
    checkThroughClient: async ({ journeys }) => {
      const { region } = (await journeys.uploaded('image')).token;
      return holdsIf(region.startsWith('oss-'), `region is ${quote(region)}`);
    },
  },
  {
    statement: 'an upload to the returned endpoint, signed for the region without its prefix, is stored',
    needs: ['upload'],
    check: async ({ uploads }) => {
      const all = await uploads.all();
      return allHold(all.map(({ put }) => holdsIf(put === 'stored', `the storage answered: ${put}`)));
    },
  },
);

function isObjectKey(key: string): boolean {
  return /^inputs\/\d[\d/_-]*\/[^/]+\.png$/.test(key);
}
