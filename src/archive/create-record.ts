import * as v from 'valibot';
import type { CostTimes } from '../contract/task-result';
import { isRecord, parseJson } from '../core/json';
import { costTimes, endStatus, money, storedText } from './stored';

const wholeNumber = v.pipe(v.number(), v.safeInteger());

const endSchema = v.object({
  status: endStatus,
  /** Null when the service did not say. */
  createdAt: v.nullable(v.string()),
  costTimes: v.custom<CostTimes>((value) => v.is(costTimes, value)),
  cost: v.nullable(money),
});

export type CreateEnd = Readonly<v.InferOutput<typeof endSchema>>;

const recordSchema = v.object({
  workflowId: v.string(),
  createNumber: wholeNumber,
  /** ISO-8601, by the clock of its worker: other clocks may be hours off. */
  sentAt: v.string(),
  /** Random: the attempt that made it, and those of the same create after one that provably created nothing. */
  maker: v.string(),
  callbackAsked: v.boolean(),
  createDigest: v.optional(v.string()),
  account: v.optional(v.string()),
  webAppId: v.optional(wholeNumber),
  requestId: v.nullable(v.string()),
  /** Absent until a worker has seen it. */
  end: v.optional(endSchema),
});

/** Written before a create is sent, completed with the request id afterwards. */
export type CreateRecord = Readonly<v.InferOutput<typeof recordSchema>>;

export function createRecordText(record: CreateRecord): string {
  return storedText(record);
}

/** Nothing when its writer died half-way. A damaged field takes no other with it. */
export function parseCreateRecord(content: Buffer | undefined): Partial<CreateRecord> {
  const json = parseJson(content?.toString() ?? '');
  if (!isRecord(json)) return {};
  const readable = Object.entries(recordSchema.entries).filter(([name, schema]) => v.is(schema, json[name]));
  return v.parse(v.partial(recordSchema), Object.fromEntries(readable.map(([name]) => [name, json[name]])));
}
