import * as v from 'valibot';
import type { CostTimes } from '../contract/task-result';
import { isRequestId } from '../core/create-outcome';
import { dictionary } from '../contract/schema';
import { costTimes, isoTime, money, parseStored, storedText } from './stored';

/** The manifest's form; a change that takes something away raises it. */
export const manifestVersion = 1;

/** What tells nothing about files: where it is damaged, the files are known all the same. */
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
  /** The name of its file, beside the manifest; null when it has none. */
  file: v.nullable(v.string()),
  bytes: v.nullable(v.number()),
  sha256: v.nullable(v.string()),
  /** With its leading dot, as the service gave it. */
  ext: v.fallback(v.string(), ''),
  /** How its storage says that its bytes are encoded; they are kept as they came. */
  contentEncoding: v.fallback(v.optional(v.string()), undefined),
  costTimeMs: number,
  auditStatus: number,
  /** Which of the service's two tables `auditStatus` is of (specification, section 2.4). */
  auditSource: v.fallback(v.literal('outputs'), 'outputs'),
  errorType: v.fallback(v.string(), ''),
  errorMessage: text,
  url: text,
  /** What its link is known by under another signature: keyed hashes. */
  link: text,
  /** Its storage gave no proof that it is whole: two fetches brought the same. Absent where there was one. */
  fetchedTwice: v.fallback(v.optional(v.boolean()), undefined),
  /** How long it is at least, when it was refused for its size. */
  atLeastBytes: v.fallback(v.optional(v.number()), undefined),
  /** Why it is not archived, unless the service reports it as failed. */
  problem: text,
});

const timestamp = v.object({ iso: v.nullable(v.string()), raw: v.string() });

const manifestSchema = v.object({
  manifestVersion: v.fallback(v.literal(manifestVersion), manifestVersion),
  /** Whether nothing is missing; until then it tells the next attempt which file is which output. */
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
  /** The values that are not files, as they were sent. */
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

/** What stands beside the outputs of a task: where they came from and what they are. */
export type Manifest = Readonly<v.InferOutput<typeof manifestSchema>>;
/** One input as the manifest tells it. */
export type ManifestInput = Readonly<v.InferOutput<typeof inputSchema>>;

/** A manifest as the text of its file. */
export function manifestText(manifest: Manifest): string {
  return storedText(manifest);
}

/** Reads the text of a manifest; `undefined` when it is none. Anything else may be called so, too. */
export function parseManifest(content: Buffer | string | undefined): Manifest | undefined {
  return parseStored(manifestSchema, content);
}
