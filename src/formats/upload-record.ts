import { extname } from 'node:path';
import * as z from 'zod';
import { pathPart, safeExtension } from '../domain/archive-name';
import { parseJson } from '../domain/json';

/** A content as rows share it. */
export interface UploadContent {
  readonly account: string;
  /** Hex. */
  readonly sha256: string;
  /** The original file name. */
  readonly name: string;
}

const recordSchema = z.object({
  resourceId: z.union([z.number().int(), z.string()]),
  name: z.string(),
  objectKey: z.string().min(1),
});

/** The resource that a content was made. */
export type UploadRecord = Readonly<z.infer<typeof recordSchema>>;

/**
 * The archive's name of the record of an uploaded content. The service derives a file's type from its extension, so the
 * same bytes under another extension are another content; otherwise the file's name makes no difference.
 */
export function uploadRecordName({ account, sha256, name }: UploadContent): string {
  return `.uploads/${pathPart(account)}/${sha256}${safeExtension(extname(name))}.json`;
}

/** What the record holds: no URL and no credential. */
export function uploadRecordText({ resourceId, name, objectKey }: UploadRecord): string {
  return `${JSON.stringify({ resourceId, name, objectKey }, null, 2)}\n`;
}

/** The resource on record; undefined when there is none, or the record is damaged. */
export function parseUploadRecord(content: Buffer | undefined): UploadRecord | undefined {
  return recordSchema.safeParse(parseJson(content?.toString('utf8') ?? '')).data;
}
