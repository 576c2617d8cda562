import * as z from 'zod';
import type { CostTimes } from '../contract/task-result';
import { parseJson } from '../core/json';
import { isMoney, type Money } from '../money/money';

const endSchema = z.object({
  status: z.enum(['Success', 'Failed', 'Canceled']),
  /** When the service created the task; null when it did not say. */
  createdAt: z.string().nullable(),
  costTimes: z.custom<CostTimes>((value) => z.record(z.string(), z.number()).safeParse(value).success),
  /** Null when it is not known. */
  cost: z.custom<Money>(isMoney).nullable(),
});

/** How the task of a create ended at the service, and what it cost. */
export type CreateEnd = Readonly<z.infer<typeof endSchema>>;

const createRecordSchema = z.object({
  workflowId: z.string(),
  createNumber: z.number().int(),
  /** ISO-8601, by the clock of its worker: other clocks may be hours off. */
  sentAt: z.string(),
  /** Random: the attempt that made it, and those of the same create after one that provably created nothing. */
  maker: z.string(),
  /** Whether the service was asked to call back. */
  callbackAsked: z.boolean(),
  /** Of what was sent. */
  createDigest: z.string().optional(),
  account: z.string().optional(),
  webAppId: z.number().int().optional(),
  requestId: z.string().nullable(),
  /** Absent until a worker has seen it. */
  end: endSchema.optional(),
});

/** What stands in a create record: written before a create is sent, completed with the request id afterwards. */
export type CreateRecord = Readonly<z.infer<typeof createRecordSchema>>;

const { shape } = createRecordSchema;
/** A field that is damaged takes none of the others with it. */
const fields = z.object({
  workflowId: shape.workflowId.optional().catch(undefined),
  createNumber: shape.createNumber.optional().catch(undefined),
  sentAt: shape.sentAt.optional().catch(undefined),
  maker: shape.maker.optional().catch(undefined),
  callbackAsked: shape.callbackAsked.optional().catch(undefined),
  createDigest: shape.createDigest.catch(undefined),
  account: shape.account.catch(undefined),
  webAppId: shape.webAppId.catch(undefined),
  end: shape.end.catch(undefined),
  requestId: shape.requestId.optional().catch(undefined),
});

/** A create record as the text of its file. */
export function createRecordText(record: CreateRecord): string {
  return `${JSON.stringify(record, null, 2)}\n`;
}

/** What can be read of a create record; nothing when its writer died half-way: what it did is not known. */
export function parseCreateRecord(content: Buffer | undefined): Readonly<z.infer<typeof fields>> {
  return fields.safeParse(parseJson(content?.toString('utf8') ?? '')).data ?? {};
}
