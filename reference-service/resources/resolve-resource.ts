import type { ResolveResource } from '../apps/overrides';
import { Refusal } from '../refusal';
import type { ResourceBook } from './resource-book';

/**
 * Finds what a loader node's value means: a resource's url (its link must still be valid), id or name. Throws a
 * {@link Refusal} when this account has no such resource. The refusal never repeats the value, which may be a link.
 */
export function resourceResolver(book: ResourceBook, accountId: string, bucket: string): ResolveResource {
  return (reference) => {
    const resource = /^https?:\/\//i.test(reference)
      ? book.findByObjectKey(objectKeyOf(reference, bucket), accountId)
      : book.findByIdOrName(reference, accountId);
    if (resource === undefined)
      throw new Refusal('badParameter', 'no committed input resource has this url, name or id');
    return resource.objectKey;
  };
}

function objectKeyOf(link: string, bucket: string): string {
  const url = URL.canParse(link) ? new URL(link) : undefined;
  if (url === undefined) throw new Refusal('badParameter', 'is not a valid url');
  if (isExpired(url)) throw new Refusal('badParameter', 'the link has expired; list the resource for a fresh one');
  const path = url.pathname.slice(1);
  return url.hostname.startsWith(`${bucket}.`) ? path : path.replace(`${bucket}/`, '');
}

/** Reads the time limit that SigV4 puts in a link; a link without one does not expire. */
function isExpired(url: URL): boolean {
  const signedAt = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(url.searchParams.get('X-Amz-Date') ?? '');
  const lifetimeSeconds = Number(url.searchParams.get('X-Amz-Expires') ?? Number.NaN);
  if (signedAt === null || Number.isNaN(lifetimeSeconds)) return false;
  const [, year, month, day, hour, minute, second] = signedAt.map(Number);
  if (year === undefined || month === undefined) return false;
  return Date.UTC(year, month - 1, day, hour, minute, second) + lifetimeSeconds * 1000 <= Date.now();
}
