import * as z from 'zod';
import { parseJson } from '../domain/json';
import { showValue } from '../domain/text';
import { isClearText } from './environment';
import { readNamedFile, type ReadTextFile, shownFile } from './json-file';
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

const webhookName = /^[A-Za-z0-9._-]{1,80}$/;
const secretPrefix = 'whsec_';
const base64 = /^[A-Za-z0-9+/]+={0,2}$/;
/** As standard-webhooks has them. */
const [minKeyBytes, maxKeyBytes] = [24, 64];
const maxSecrets = 2;

const fileSchema = z.record(
  z.string(),
  z.strictObject({ url: z.string(), secrets: z.array(z.string()), allowHttp: z.boolean().optional() }),
);

/** Reads `LONGHAUL_WEBHOOKS_FILE`; empty when it is not set. Complaints go to `problems`; none shows a secret or a URL. */
export function readWebhooks(
  file: string | undefined,
  readTextFile: ReadTextFile,
  problems: string[],
): ReadonlyMap<string, Webhook> {
  const webhooks = new Map<string, Webhook>();
  if (file === undefined) return webhooks;
  const text = readNamedFile({ what: 'LONGHAUL_WEBHOOKS_FILE', file }, readTextFile, problems);
  if (text === undefined) return webhooks;
  const where = `LONGHAUL_WEBHOOKS_FILE is ${shownFile(file)}`;
  const parsed = fileSchema.safeParse(parseJson(text));
  if (!parsed.success) {
    const places = parsed.error.issues.map(({ path }) => path.map(String).join('.')).filter((place) => place !== '');
    const at = places.length === 0 ? '' : `, at ${places.join(' and ')}`;
    problems.push(`${where}, which is not what it should be${at}; ${variables.LONGHAUL_WEBHOOKS_FILE.remedy}.`);
    return webhooks;
  }
  for (const [name, { url, secrets, allowHttp = false }] of Object.entries(parsed.data)) {
    const found = [
      ...(webhookName.test(name)
        ? []
        : [`the name ${showValue(name)} should be 1 to 80 letters, digits, dots, _ and -`]),
      ...urlProblems(url, allowHttp),
      ...secretProblems(secrets),
    ];
    problems.push(...found.map((problem) => `${where}, webhook ${showValue(name)}: ${problem}.`));
    if (found.length > 0) continue;
    const keys = secrets.map((secret) => new Secret(secret.slice(secretPrefix.length)));
    webhooks.set(name, Object.freeze({ name, url, secrets: Object.freeze(keys) }));
  }
  return webhooks;
}

function urlProblems(text: string, allowHttp: boolean): string[] {
  if (!URL.canParse(text) || !/^https?:\/\//i.test(text)) return ['url is no http or https URL; give one'];
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') {
    return ['url has a user name or a password; leave them out, the receiver knows the sender by the signature'];
  }
  if (url.hash !== '') return ['url has a fragment (#), which is never sent; leave it out'];
  if (!isClearText(text) || allowHttp) return [];
  return [`url is of http: ${url.host} would get it unencrypted; give an https URL, or "allowHttp": true`];
}

function secretProblems(secrets: readonly string[]): string[] {
  const remedy = `give "${secretPrefix}" and ${minKeyBytes} to ${maxKeyBytes} bytes in base64: echo "${secretPrefix}$(openssl rand -base64 32)"`;
  if (secrets.length === 0 || secrets.length > maxSecrets) {
    return [`secrets has ${secrets.length} entries; give one, or two while it is changed, the new one first`];
  }
  return secrets.flatMap((secret, index) => (isSecret(secret) ? [] : [`secrets[${index}] is not a secret; ${remedy}`]));
}

function isSecret(text: string): boolean {
  const key = text.slice(secretPrefix.length);
  if (!text.startsWith(secretPrefix) || !base64.test(key) || key.length % 4 !== 0) return false;
  const { length } = Buffer.from(key, 'base64');
  return length >= minKeyBytes && length <= maxKeyBytes;
}
