import { basename } from 'node:path';
import { redactUrl, isUnder, parseS3Uri } from '../../core/uri';
import { SourceError } from '../errors';
import { S3Bucket } from '../s3/s3-bucket';
import { isUnavailable, readS3Error } from '../s3/s3-error';
import {
  type Fail,
  createFail,
  type OnProgress,
  type OpenedSource,
  plainFileName,
  type SourceRules,
  spoolSource,
} from './input-source';

export interface ObjectRanges {
  /** From `start` to before `end`; fewer when the object ends earlier. Throws SourceError. */
  read(start: number, end: number): Promise<Uint8Array>;
}

/** The object must lie where the rules allow: the worker’s credentials may reach more. */
export async function openS3Source(
  source: string,
  rules: SourceRules,
  signal: AbortSignal | undefined,
  onProgress: OnProgress,
): Promise<OpenedSource> {
  const fail = createFail(redactUrl(source));
  const { bucket, key } = allowedObject(source, rules, fail);
  return await asSourceError(bucket, fail, signal, async () => {
    const { body, bytes } = await bucket.open(key, signal);
    const name = plainFileName(basename(key));
    try {
      return await spoolSource(body, { name, announcedBytes: bytes, rules, signal, onProgress, fail });
    } finally {
      body.destroy();
    }
  });
}

/** Asks nothing of the bucket yet. Throws SourceError. */
export function openS3Ranges(source: string, rules: SourceRules): ObjectRanges {
  const fail = createFail(redactUrl(source));
  const { bucket, key } = allowedObject(source, rules, fail);
  return { read: (start, end) => asSourceError(bucket, fail, undefined, () => bucket.readRange(key, start, end)) };
}

function allowedObject(source: string, { objects }: SourceRules, fail: Fail): { bucket: S3Bucket; key: string } {
  const place = parseS3Uri(source);
  if (place === undefined || place.key === '') {
    const remedy = 'give s3://bucket/key, the key without empty parts, "." and ".."';
    throw fail('URL_INVALID', 'is no s3: URI of an object', remedy);
  }
  const isAllowed = objects?.places.some((allowed) => isUnder(place, allowed)) ?? false;
  if (objects === undefined || !isAllowed) {
    const folder = `s3://${[place.bucket, ...place.key.split('/').slice(0, -1)].join('/')}`;
    const remedy = `move it there, or add ${folder} to LONGHAUL_INPUT_BUCKETS of the worker`;
    throw fail('BUCKET_NOT_ALLOWED', 'is outside the buckets and prefixes that this worker may read', remedy);
  }
  return { bucket: new S3Bucket(objects.client, place.bucket), key: place.key };
}

async function asSourceError<Result>(
  bucket: S3Bucket,
  fail: Fail,
  signal: AbortSignal | undefined,
  act: () => Promise<Result>,
): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof SourceError) throw error;
    const { problem, words } = await bucket.explain(error, 'LONGHAUL_INPUT_BUCKETS');
    const remedy = 'compare the bucket, the key and AWS_* of the worker';
    if (problem === 'missing' || problem === 'noBucket') throw fail('NOT_FOUND', `does not exist${words}`, remedy);
    const said = readS3Error(error);
    // Also where no reply came, or the content ended early.
    const mayPass = isUnavailable(said) && problem !== 'noCredentials' && problem !== 'noRegion';
    const code = mayPass || said.storageCode === 'ExpiredToken' ? 'FETCH_FAILED' : 'FETCH_REFUSED';
    throw fail(code, `cannot be fetched${words}`, remedy);
  }
}
