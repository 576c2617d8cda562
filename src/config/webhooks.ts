import * as v from 'valibot';
import { decodedLength } from './codec-keys';
import type { Environment } from './environment';
import { byName, fields, parsed } from './json-file';
import { Secret } from './secret';
import { isClearText } from './values';

/** A receiver of the ends of tasks and batches, by a name that their inputs may say. */
export interface Webhook {
  readonly name: string;
  /** Not shown: its path or query may be what keeps others away. */
  readonly url: string;
  /** In base64: the new key, and the old one while it is changed. */
  readonly secrets: readonly Secret[];
}

const prefix = 'whsec_';
const secretWords = `"${prefix}" and 24 to 64 bytes in base64: echo "${prefix}$(openssl rand -base64 32)"`;
const secretsWords = 'a list of one secret, or of two while it is changed, the new one first';

/** As standard-webhooks has them. */
const secret = parsed((text) => {
  const key = text.slice(prefix.length);
  const bytes = decodedLength(key) ?? 0;
  return text.startsWith(prefix) && bytes >= 24 && bytes <= 64 ? new Secret(key) : undefined;
}, secretWords);

const url = parsed((text) => {
  if (!URL.canParse(text) || !/^https?:\/\//i.test(text)) return undefined;
  const { username, password, hash } = new URL(text);
  return username + password + hash === '' ? text : undefined;
}, 'an http or https URL without a user name, a password and a fragment (#)');

const httpWords = 'an https URL, or have "allowHttp": true beside it, and everyone on the way can read what is sent';
const webhook = v.pipe(
  fields({
    url,
    secrets: v.pipe(v.array(secret, secretsWords), v.minLength(1, secretsWords), v.maxLength(2, secretsWords)),
    allowHttp: v.optional(v.boolean('true or false'), false),
  }),
  v.forward(
    v.check(({ url: text, allowHttp }) => allowHttp || !isClearText(text), httpWords),
    ['url'],
  ),
);
const schema = byName(webhook, 'an object with webhooks by their names');

/** None when the file is not set. No problem shows a secret or a URL. */
export function readWebhooks(environment: Environment<'LONGHAUL_WEBHOOKS_FILE'>): ReadonlyMap<string, Webhook> {
  const content = environment.readJson('LONGHAUL_WEBHOOKS_FILE', { schema, isSecret: true }) ?? {};
  return new Map(
    Object.entries(content).map(([name, { url: to, secrets }]) => {
      return [name, Object.freeze({ name, url: to, secrets: Object.freeze(secrets) })];
    }),
  );
}
