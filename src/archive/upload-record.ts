import { extname } from 'node:path';
import * as v from 'valibot';
import { pathPart, safeExtension } from '../core/archive-name';
import { parseStored, storedText } from './stored';

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

export type RecordedResource = Readonly<Pick<v.InferOutput<typeof recordSchema>, 'resourceId' | 'name' | 'objectKey'>>;

/** The service derives a file's type from its extension, so that is part of the name. */
export function uploadRecordName({ account, sha256, name }: UploadContent): string {
  return `.uploads/${pathPart(account)}/${sha256}${safeExtension(extname(name))}.json`;
}

/** No URL and no credential. */
export function uploadRecordText({ account, sha256 }: UploadContent, resource: RecordedResource): string {
  const { resourceId, name, objectKey } = resource;
  return storedText({ account, sha256, resourceId, name, objectKey });
}

/** Undefined when there is no record, or it is damaged or that of another content. */
export function parseUploadRecord(text: Buffer | undefined, content: UploadContent): RecordedResource | undefined {
  const record = parseStored(recordSchema, text);
  if (record === undefined || uploadRecordName(record) !== uploadRecordName(content)) return undefined;
  const { resourceId, name, objectKey } = record;
  return { resourceId, name, objectKey };
}
