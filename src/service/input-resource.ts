import { extname } from 'node:path';
import * as z from 'zod';
import { integerLike, link, boundedList, optionalWord } from './wire-values';

/** A committed input file that loader nodes can load (specification, section 2.7). */
export interface InputResource {
  /** Text where it is larger than the safe integers, with all of its digits. */
  readonly id: number | string;
  /** Original file name; empty when the service gave none. */
  readonly name: string;
  /** With its leading dot; empty when the service gave none. */
  readonly ext: string;
  /** May be time-limited: resolve it anew just before use, and keep it nowhere. */
  readonly url: string;
  /** Key of its object; absent where the service does not tell it. */
  readonly objectKey?: string;
}

/** One page of committed input files (specification, section 4.8). */
export interface InputResourcePage {
  readonly list: readonly InputResource[];
  /** How many resources match the filters; absent when the service gave none. */
  readonly total?: number;
  /** Page number, as the service counts. */
  readonly current?: number;
  readonly pageSize?: number;
}

/** Which committed input files to list (specification, section 4.8). */
export interface InputResourceFilter {
  /** Extension, as the service stores it: with its leading dot. */
  readonly ext?: string;
  readonly objectKey?: string;
}

const resourceId = z.union([integerLike, z.string().regex(/^-?\d{1,40}$/)]);

/** Schema of an input resource. */
export const inputResourceSchema: z.ZodType<InputResource> = z
  .object({
    id: resourceId,
    name: optionalWord(1_024),
    ext: optionalWord(64),
    url: link,
    object_key: optionalWord(1_024),
  })
  .transform(({ id, name = '', ext = '', url, object_key: objectKey }) => ({ id, name, ext, url, objectKey }));

/** Resources of one page. */
const maxListed = 10_000;

const optionalInteger = integerLike.optional().catch(undefined);

/** Schema of `data` of the list endpoint. */
export const inputResourcePageSchema: z.ZodType<InputResourcePage> = z
  .object({
    list: boundedList(inputResourceSchema, maxListed).nullable(),
    total: optionalInteger,
    current: optionalInteger,
    page_size: optionalInteger,
  })
  .transform(({ list, total, current, page_size: pageSize }) => ({ list: list ?? [], total, current, pageSize }));

/** An object that was uploaded with the credentials of a token. */
export interface UploadedObject {
  readonly objectKey: string;
  /** The original file name. */
  readonly name: string;
}

/** Whether a resource may be that of the object: by its key where the service tells it, else by its name or extension. */
export function isResourceOf(resource: InputResource, { objectKey, name }: UploadedObject): boolean {
  if (resource.objectKey !== undefined) return resource.objectKey === objectKey;
  if (resource.name !== '') return comparable(resource.name) === comparable(name);
  return resource.ext === '' || comparable(resource.ext) === comparable(extname(name));
}

/**
 * The resource of an uploaded object, in the answer to a list of its key. A service that ignores the filter lists other
 * files as well, and none of them may take this one's place: without the id, only one that is listed alone and may be
 * this object's is taken.
 *
 * @param id - as the commit returned it, where that is known
 */
export function resourceOfUpload(
  { list, total = list.length }: InputResourcePage,
  object: UploadedObject,
  id?: number | string,
): InputResource | undefined {
  const own = list.filter((one) => one.objectKey === undefined || one.objectKey === object.objectKey);
  const certain = own.find((one) => one.objectKey !== undefined || one.id === id);
  const [only] = own;
  if (certain !== undefined || only === undefined || list.length > 1 || total > 1) return certain;
  return isResourceOf(only, object) ? only : undefined;
}

/** Services keep names in another case, with accents in another form or none, and with other signs between the words. */
function comparable(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase();
}

/** Walks through pages of input resources, each once, to `total`, an empty page, or one that brings nothing new. */
export async function* eachInputResource(
  fetchPage: (current: number) => Promise<InputResourcePage>,
): AsyncGenerator<InputResource, void, undefined> {
  const seen = new Set<number | string>();
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
