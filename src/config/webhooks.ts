import * as z from 'zod';
import { isBase64 } from './codec-keys';
import { isClearText } from './environment';
import { fields, readJsonFile, type ReadTextFile } from './json-file';
import { Secret } from './secret';
import { variables } from './variables';

/** A receiver of the ends of tasks and batches, by a name that their inputs may say. */
export interface Webhook {
  readonly name: string;
  /** Not shown: its path or query may be what keeps others away. */
  readonly url: string;
  /** The keys that it signs with, in base64: the new one, and while it is changed the old one. */
  readonly secrets: readonly Secret[];
}

const prefix = 'whsec_';
const secretWords = `"${prefix}" and 24 to 64 bytes in base64: echo "${prefix}$(openssl rand -base64 32)"`;
const secretsWords = 'a list of one secret, or of two while it is changed, the new one first';
const urlWords = 'an http or https URL without a user name, a password and a fragment (#)';

const webhook = fields({
  url: z.string(urlWords).refine((text) => {
    if (!URL.canParse(text)) return false;
    const { protocol, username, password, hash } = new URL(text);
    return /^https?:$/.test(protocol) && username + password + hash === '' && /^https?:\/\//i.test(text);
  }, urlWords),
  secrets: z
    .array(z.string(secretWords).refine(isSecret, secretWords), secretsWords)
    .min(1, secretsWords)
    .max(2, secretsWords),
  allowHttp: z.boolean('true or false').default(false),
}).refine(({ url, allowHttp }) => allowHttp || !URL.canParse(url) || !isClearText(url), {
  path: ['url'],
  message: 'an https URL, or have "allowHttp": true beside it, and everyone on the way can read what is sent',
});

const schema = z.record(
  z.string().regex(/^[A-Za-z0-9._-]{1,80}$/, '1 to 80 letters, digits, dots, _ and -'),
  webhook,
  'an object with webhooks by their names',
);

const webhooksFile = { schema, remedy: variables.LONGHAUL_WEBHOOKS_FILE.remedy, isSecret: true };

/** Reads `LONGHAUL_WEBHOOKS_FILE`; empty when it is not set. Complaints go to `problems`; none shows a secret or a URL. */
export function readWebhooks(
  file: string | undefined,
  readTextFile: ReadTextFile,
  problems: string[],
): ReadonlyMap<string, Webhook> {
  const named = { what: 'LONGHAUL_WEBHOOKS_FILE', file: file ?? '' };
  const content = file === undefined ? {} : (readJsonFile(named, webhooksFile, readTextFile, problems) ?? {});
  const webhooks = Object.entries(content).map(([name, { url, secrets }]): [string, Webhook] => {
    const keys = secrets.map((secret) => new Secret(secret.slice(prefix.length)));
    return [name, Object.freeze({ name, url, secrets: Object.freeze(keys) })];
  });
  return new Map(webhooks);
}

/** As standard-webhooks has them. */
function isSecret(text: string): boolean {
  const key = text.slice(prefix.length);
  const { length } = Buffer.from(key, 'base64');
  return text.startsWith(prefix) && isBase64(key) && length >= 24 && length <= 64;
}
