import * as v from 'valibot';
import type { CostTimes } from '../contract/task-result';
import { isRequestId } from '../core/create-outcome';
import { dictionary } from '../contract/schema';
import { costTimes, isoTime, money, parseStored, storedText } from './stored';

/** Raised by a change that takes something away. */
export const manifestVersion = 1;

/** Fields that tell nothing about files: where one is damaged, the files are still known. */
const text = v.fallback(v.nullable(v.string()), null);
const number = v.fallback(v.nullable(v.number()), null);

const inputSchema = v.object({
  keys: v.pipe(v.array(v.string()), v.readonly()),
  file: v.string(),
  name: v.string(),
  bytes: v.number(),
  sha256: v.string(),
  resourceId: v.union([v.number(), v.string()]),
});

const outputSchema = v.object({
  /** Beside the manifest; null when it has none. */
  file: v.nullable(v.string()),
  bytes: v.nullable(v.number()),
  sha256: v.nullable(v.string()),
  /** The storage's, of an object without its hash in the metadata: the same tag, the same bytes. */
  tag: v.fallback(v.optional(v.string()), undefined),
  /** With its leading dot, as the service gave it. */
  ext: v.fallback(v.string(), ''),
  /** The bytes are kept as they came. */
  contentEncoding: v.fallback(v.optional(v.string()), undefined),
  costTimeMs: number,
  auditStatus: number,
  /** Which of the service's two tables `auditStatus` is of (specification, section 2.4). */
  auditSource: v.fallback(v.literal('outputs'), 'outputs'),
  errorType: v.fallback(v.string(), ''),
  errorMessage: text,
  url: text,
  /** Keyed hashes, by which its link is known under another signature. */
  link: text,
  /** Nothing proved that it is whole: two fetches brought the same. Absent with a proof. */
  fetchedTwice: v.fallback(v.optional(v.boolean()), undefined),
  /** Of a file that was refused for its size. */
  atLeastBytes: v.fallback(v.optional(v.number()), undefined),
  /** Why it is not archived, unless the service reports it as failed. */
  problem: text,
});

const timestamp = v.object({ iso: v.nullable(v.string()), raw: v.string() });

const manifestSchema = v.object({
  manifestVersion: v.fallback(v.literal(manifestVersion), manifestVersion),
  /** Until then the manifest tells the next attempt which file is which output. */
  complete: v.boolean(),
  requestId: v.pipe(
    v.string(),
    v.check((text) => isRequestId(text)),
  ),
  status: v.picklist(['Success', 'Failed']),
  workflowId: text,
  createNumber: number,
  account: v.string(),
  webAppId: number,
  archivedAt: isoTime,
  inputs: v.fallback(v.pipe(v.array(inputSchema), v.readonly()), []),
  values: v.fallback(dictionary(v.union([v.string(), v.number()])), {}),
  timestamps: v.fallback(dictionary(timestamp), {}),
  costTimes: v.fallback(
    v.custom<CostTimes>((value) => v.is(costTimes, value)),
    {},
  ),
  cost: v.fallback(v.nullable(money), null),
  errorMessage: text,
  outputs: v.pipe(v.array(outputSchema), v.readonly()),
});

export type Manifest = Readonly<v.InferOutput<typeof manifestSchema>>;
export type ManifestInput = Readonly<v.InferOutput<typeof inputSchema>>;

export function manifestText(manifest: Manifest): string {
  return storedText(manifest);
}

/** `undefined` for a text that is no manifest: other files may be called so, too. */
export function parseManifest(content: Buffer | string | undefined): Manifest | undefined {
  return parseStored(manifestSchema, content);
}
