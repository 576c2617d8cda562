import { extname } from 'node:path';
import * as z from 'zod';
import { pathPart, safeExtension } from '../core/archive-name';
import { parseJson } from '../core/json';

/** A content as rows share it. */
export interface UploadContent {
  readonly account: string;
  /** Hex. */
  readonly sha256: string;
  /** The original file name. */
  readonly name: string;
}

const resourceSchema = z.object({
  resourceId: z.union([z.number().int(), z.string()]),
  name: z.string(),
  objectKey: z.string().min(1),
});
const recordSchema = z.object({ account: z.string(), sha256: z.string(), ...resourceSchema.shape });

/** The resource that a content was made. */
export type RecordedResource = Readonly<z.infer<typeof resourceSchema>>;

/**
 * The archive's name of the record of an uploaded content. The service derives a file's type from its extension, so the
 * same bytes under another extension are another content; otherwise the file's name makes no difference.
 */
export function uploadRecordName({ account, sha256, name }: UploadContent): string {
  return `.uploads/${pathPart(account)}/${sha256}${safeExtension(extname(name))}.json`;
}

/** What the record holds: no URL and no credential. */
export function uploadRecordText(
  { account, sha256 }: UploadContent,
  { resourceId, name, objectKey }: RecordedResource,
): string {
  return `${JSON.stringify({ account, sha256, resourceId, name, objectKey }, null, 2)}\n`;
}

/** The resource on record; undefined when there is none, or the record is damaged or stands in the place of another. */
export function parseUploadRecord(text: Buffer | undefined, content: UploadContent): RecordedResource | undefined {
  const record = recordSchema.safeParse(parseJson(text?.toString('utf8') ?? '')).data;
  if (record === undefined || uploadRecordName(record) !== uploadRecordName(content)) return undefined;
  return resourceSchema.parse(record);
}
