/** An object of a bucket, or where several lie. */
export interface S3Place {
  readonly bucket: string;
  /** Key of an object, or what the keys of several begin with; may be empty. */
  readonly key: string;
}

const uri = /^s3:\/\/(?<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(?<key>.*))?$/s;

/** Reads `s3://bucket/key`; undefined when it is none, or its key could be taken for another place by a storage. */
export function parseS3Uri(text: string): S3Place | undefined {
  const { bucket, key = '' } = uri.exec(text)?.groups ?? {};
  if (bucket === undefined) return undefined;
  const parts = key === '' ? [] : key.split('/');
  const isPlain = parts.every((part) => !['', '.', '..'].includes(part) && !/[\p{Cc}\\]/u.test(part));
  return isPlain ? { bucket, key } : undefined;
}

/** `s3://bucket/key`. */
export function s3Uri({ bucket, key }: S3Place): string {
  return `s3://${bucket}/${key}`;
}

/** Whether a place is under another one, folder by folder: `photos-private/a` is not under `photos`. */
export function isUnder(place: S3Place, { bucket, key }: S3Place): boolean {
  return place.bucket === bucket && (key === '' || place.key.startsWith(`${key}/`));
}
