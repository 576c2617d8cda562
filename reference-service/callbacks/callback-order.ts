import { Refusal } from '../refusal';
import type { CallbackOrder } from '../tasks/task';

const PREFIX = 'x-svc-task-';

/**
 * The headers of a create request that belong to its task (specification sections 4.1 and 6), in the caller's own
 * spelling and as often as the caller gave them; like Node's flat list of names and values that they are read from.
 */
function readTaskHeaders(rawHeaders: readonly string[]): readonly string[] {
  return rawHeaders.filter((_, index) => rawHeaders[index - (index % 2)]?.toLowerCase().startsWith(PREFIX));
}

/**
 * The callback that a create request asks for, or undefined when it asks for none. Throws a Refusal when the address
 * is not one that can be called.
 */
export function readCallbackOrder(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  rawHeaders: readonly string[],
): CallbackOrder | undefined {
  const address = headers[`${PREFIX}webhook-url`];
  if (address === undefined) return undefined;
  const url = typeof address === 'string' && URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new Refusal('badParameter', 'X-Svc-Task-WebHook-Url must be an http or https URL without user and password');
  }
  const authorization = headers[`${PREFIX}authorization`];
  return {
    url,
    authorization: typeof authorization === 'string' ? authorization : undefined,
    echoedHeaders: readTaskHeaders(rawHeaders),
  };
}
