import * as z from 'zod';
import type { CostTimes } from '../contract/task-result';
import { isMoney, type Money } from '../money/money';
import { isRequestId } from '../core/create-outcome';

/** The manifest's form; a change that takes something away raises it. */
export const manifestVersion = 1;

const inputSchema = z.object({
  keys: z.array(z.string()).readonly(),
  file: z.string(),
  name: z.string(),
  bytes: z.number(),
  sha256: z.string(),
  resourceId: z.union([z.number(), z.string()]),
});

const outputSchema = z.object({
  /** The name of its file, beside the manifest; null when it has none. */
  file: z.string().nullable(),
  bytes: z.number().nullable(),
  sha256: z.string().nullable(),
  /** With its leading dot, as the service gave it. */
  ext: z.string(),
  /** How its storage says that its bytes are encoded; they are kept as they came. */
  contentEncoding: z.string().optional(),
  costTimeMs: z.number().nullable(),
  auditStatus: z.number().nullable(),
  /** Which of the service's two tables `auditStatus` is of (specification, section 2.4). */
  auditSource: z.literal('outputs'),
  errorType: z.string(),
  errorMessage: z.string().nullable(),
  /** Where it was fetched from, without the query. */
  url: z.string().nullable(),
  /** What its link is known by under another signature: keyed hashes. */
  link: z.string().nullable(),
  /** Its storage gave no proof that it is whole: two fetches brought the same. Absent where there was one. */
  fetchedTwice: z.boolean().optional(),
  /** How long it is at least, when it was refused for its size. */
  atLeastBytes: z.number().optional(),
  /** Why it is not archived, unless the service reports it as failed. */
  problem: z.string().nullable(),
});

const manifestSchema = z.object({
  manifestVersion: z.literal(manifestVersion),
  /** Whether nothing is missing; until then it tells the next attempt which file is which output. */
  complete: z.boolean(),
  requestId: z.string(),
  status: z.enum(['Success', 'Failed']),
  workflowId: z.string().nullable(),
  /** The create of that workflow; null when it adopted the task. */
  createNumber: z.number().nullable(),
  account: z.string(),
  webAppId: z.number().nullable(),
  archivedAt: z.iso.datetime(),
  inputs: z.array(inputSchema).readonly(),
  /** The values that are not files, as they were sent. */
  values: z.record(z.string(), z.union([z.string(), z.number()])).readonly(),
  timestamps: z.record(z.string(), z.object({ iso: z.string().nullable(), raw: z.string() })).readonly(),
  costTimes: z.custom<CostTimes>(),
  /** What the task cost; null when that is not known, absent in older manifests. */
  cost: z.custom<Money>(isMoney).nullable().optional(),
  errorMessage: z.string().nullable(),
  outputs: z.array(outputSchema).readonly(),
});

/** What stands beside the outputs of a task: where they came from and what they are. */
export type Manifest = Readonly<z.infer<typeof manifestSchema>>;
/** One input as the manifest tells it. */
export type ManifestInput = Readonly<z.infer<typeof inputSchema>>;

const { shape } = manifestSchema;

/** What the next attempt of an archive reads. */
const previousSchema = z.object({
  requestId: shape.requestId,
  workflowId: shape.workflowId,
  createNumber: shape.createNumber,
  account: shape.account,
  complete: shape.complete,
  webAppId: shape.webAppId,
  inputs: shape.inputs,
  values: shape.values,
  timestamps: shape.timestamps,
  cost: shape.cost,
  outputs: z.array(outputSchema.omit({ auditSource: true, problem: true, url: true })),
});
/** A manifest as the next attempt of the same archive reads it. */
export type PreviousManifest = Readonly<z.infer<typeof previousSchema>>;

/** What the files of an archive are compared with, whatever else the manifest tells. */
const filesSchema = z.object({
  requestId: shape.requestId.refine(isRequestId),
  workflowId: shape.workflowId.catch(null),
  createNumber: shape.createNumber.catch(null),
  account: shape.account,
  archivedAt: shape.archivedAt,
  complete: shape.complete.default(true),
  outputs: z.array(
    outputSchema.pick({ file: true, bytes: true, sha256: true, problem: true }).partial({ problem: true }),
  ),
});
/** The files that a manifest names. */
export type ManifestFiles = Readonly<z.infer<typeof filesSchema>>;

/** What a manifest says about the cost of its task, also one of an earlier version. */
const costsSchema = z
  .object({
    requestId: shape.requestId.refine(isRequestId),
    account: shape.account,
    status: shape.status,
    workflowId: shape.workflowId.catch(null),
    webAppId: shape.webAppId.catch(null),
    archivedAt: shape.archivedAt,
    timestamps: z.object({ createdAt: z.object({ iso: z.string().nullable() }) }).catch({ createdAt: { iso: null } }),
    cost: shape.cost.catch(null),
  })
  .transform(({ timestamps, cost = null, ...manifest }) => ({
    ...manifest,
    cost,
    createdAt: timestamps.createdAt.iso,
  }));

/** What a page shows of a manifest, also one of an earlier version; what is damaged takes nothing else with it. */
const pageSchema = filesSchema.extend({
  status: shape.status,
  account: shape.account,
  webAppId: shape.webAppId.catch(null),
  inputs: z
    .array(inputSchema.pick({ keys: true, file: true, bytes: true }))
    .readonly()
    .catch([]),
  values: shape.values.catch({}),
  timestamps: z.record(z.string(), z.object({ iso: z.iso.datetime().nullable(), raw: z.string() })).catch({}),
  costTimes: z.record(z.string(), z.number()).catch({}),
  cost: shape.cost.catch(null),
  errorMessage: shape.errorMessage.catch(null),
  outputs: z.array(
    outputSchema
      .pick({ file: true, bytes: true, sha256: true, problem: true, errorType: true, errorMessage: true })
      .partial({ problem: true, errorMessage: true }),
  ),
});
/** A manifest as a page shows it. */
export type ManifestPage = Readonly<z.infer<typeof pageSchema>>;

/** A manifest as the text of its file. */
export function manifestText(manifest: Manifest): string {
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** Reads JSON as a manifest; `undefined` when it is none. */
export function parseManifest(json: unknown): PreviousManifest | undefined {
  return previousSchema.safeParse(json).data;
}

/** Reads JSON as a manifest, no more of it than which files it names; `undefined` when it is none. */
export function parseManifestFiles(json: unknown): ManifestFiles | undefined {
  return filesSchema.safeParse(json).data;
}

/** Reads JSON as a manifest, no more of it than its task and what it cost; `undefined` when it is none. */
export function parseManifestCosts(json: unknown): Readonly<z.infer<typeof costsSchema>> | undefined {
  return costsSchema.safeParse(json).data;
}

/** Reads JSON as a manifest, as much of it as a page shows; `undefined` when it is none. */
export function parseManifestPage(json: unknown): ManifestPage | undefined {
  return pageSchema.safeParse(json).data;
}
