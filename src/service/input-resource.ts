import { z } from 'zod';
import { integerLike, link, listOf, optionalWord } from './wire-values';

/** A committed input file that loader nodes can load (specification, section 2.7). */
export interface InputResource {
  readonly id: number;
  /** Original file name; empty when the service gave none. */
  readonly name: string;
  /** With its leading dot; empty when the service gave none. */
  readonly ext: string;
  /** May be time-limited: resolve it anew just before use, and keep it nowhere. */
  readonly url: string;
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

/** Schema of an input resource. */
export const inputResourceSchema: z.ZodType<InputResource> = z
  .object({ id: integerLike, name: optionalWord(1_024), ext: optionalWord(64), url: link })
  .transform(({ id, name, ext, url }) => ({ id, name: name ?? '', ext: ext ?? '', url }));

/** Resources of one page. */
const maxListed = 10_000;

const optionalInteger = integerLike.optional().catch(undefined);

/** Schema of `data` of the list endpoint. */
export const inputResourcePageSchema: z.ZodType<InputResourcePage> = z
  .object({
    list: listOf(inputResourceSchema, maxListed).nullable(),
    total: optionalInteger,
    current: optionalInteger,
    page_size: optionalInteger,
  })
  .transform(({ list, total, current, page_size: pageSize }) => ({
    list: list ?? [],
    ...(total !== undefined && { total }),
    ...(current !== undefined && { current }),
    ...(pageSize !== undefined && { pageSize }),
  }));
