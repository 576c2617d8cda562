import type { InputResource, InputResourcePage } from './input-resource';

/**
 * Walks through pages of input resources, yielding each resource once. It ends at `total`, at an empty page, and at a
 * page that brings nothing new, since a service that ignored the page number would otherwise be asked for ever.
 *
 * @param fetchPage - asks for one page, counted from 1 as the service does.
 */
export async function* eachInputResource(
  fetchPage: (current: number) => Promise<InputResourcePage>,
): AsyncGenerator<InputResource, void, undefined> {
  const seen = new Set<number>();
  for (let current = 1; ; current += 1) {
    const { list, total } = await fetchPage(current);
    const fresh = list.filter(({ id }) => !seen.has(id));
    for (const resource of fresh) {
      seen.add(resource.id);
      yield resource;
    }
    if (fresh.length === 0 || (total !== undefined && seen.size >= total)) return;
  }
}
