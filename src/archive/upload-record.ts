import { extname } from 'node:path';
import * as v from 'valibot';
import { pathPart, safeExtension } from '../core/archive-name';
import { parseStored, storedText } from './stored';

/** A content as rows share it. */
export interface UploadContent {
  readonly account: string;
  readonly sha256: string;
  readonly name: string;
}

const recordSchema = v.object({
  account: v.string(),
  sha256: v.string(),
  resourceId: v.union([v.pipe(v.number(), v.safeInteger()), v.string()]),
  name: v.string(),
  objectKey: v.pipe(v.string(), v.minLength(1)),
});

/** The resource that a content was made. */
export type RecordedResource = Readonly<Pick<v.InferOutput<typeof recordSchema>, 'resourceId' | 'name' | 'objectKey'>>;

/** The archive's name of an upload's record. The service derives a file's type from its extension, so that is part of it. */
export function uploadRecordName({ account, sha256, name }: UploadContent): string {
  return `.uploads/${pathPart(account)}/${sha256}${safeExtension(extname(name))}.json`;
}

/** What the record holds: no URL and no credential. */
export function uploadRecordText({ account, sha256 }: UploadContent, resource: RecordedResource): string {
  const { resourceId, name, objectKey } = resource;
  return storedText({ account, sha256, resourceId, name, objectKey });
}

/** The resource on record; undefined when there is none, or the record is damaged or stands in the place of another. */
export function parseUploadRecord(text: Buffer | undefined, content: UploadContent): RecordedResource | undefined {
  const record = parseStored(recordSchema, text);
  if (record === undefined || uploadRecordName(record) !== uploadRecordName(content)) return undefined;
  const { resourceId, name, objectKey } = record;
  return { resourceId, name, objectKey };
}
