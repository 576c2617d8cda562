import { z } from 'zod';
import { parseJson } from '../domain/json';

const createRecordSchema = z.object({
  workflowId: z.string(),
  createNumber: z.number().int(),
  /** ISO-8601. */
  sentAt: z.string(),
  /** Whether the service was asked to call back. */
  callbackAsked: z.boolean(),
  /** Of what was sent. Absent in a record that an earlier version wrote. */
  createDigest: z.string().optional(),
  /** Of the whole input; what is compared where there is no `createDigest`. */
  inputDigest: z.string().optional(),
  requestId: z.string().nullable(),
});

/** What stands in a create record: written before a create is sent, completed with the request id afterwards. */
export type CreateRecord = Readonly<z.infer<typeof createRecordSchema>>;

const { shape } = createRecordSchema;
/** A field that is damaged, or that an earlier version did not write, takes none of the others with it. */
const fields = z.object({
  workflowId: shape.workflowId.optional().catch(undefined),
  createNumber: shape.createNumber.optional().catch(undefined),
  sentAt: shape.sentAt.optional().catch(undefined),
  callbackAsked: shape.callbackAsked.optional().catch(undefined),
  createDigest: shape.createDigest.catch(undefined),
  inputDigest: shape.inputDigest.catch(undefined),
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
