import { basename } from 'node:path';
import { redactUrl, isUnder, parseS3Uri } from '../../core/uri';
import { SourceError } from '../errors';
import { S3Bucket } from '../s3/s3-bucket';
import { readSecrets } from '../s3/s3-client';
import { isUnavailable, readS3Error, s3Problem, shownCodes } from '../s3/s3-error';
import {
  type Fail,
  createFail,
  type OnProgress,
  type OpenedSource,
  plainFileName,
  type SourceRules,
  spoolSource,
} from './input-source';

/** An object whose bytes are read in part. */
export interface ObjectRanges {
  /** The bytes from `start` to before `end`; fewer when it ends earlier. Throws SourceError. */
  read(start: number, end: number): Promise<Uint8Array>;
}

/** Fetches an object into a temporary file. It must lie where the rules allow: the worker’s credentials may reach more. */
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

/** An object to read in part, within the rules; nothing is asked of the bucket yet. Throws SourceError. */
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
    throw error instanceof SourceError
      ? error
      : toSourceError(error, fail, bucket.name, await readSecrets(bucket.client));
  }
}

function toSourceError(error: unknown, fail: Fail, bucket: string, secrets: readonly string[]): SourceError {
  const said = readS3Error(error, secrets);
  const shown = shownCodes(error, { ...said, fineCode: '' });
  const problem = s3Problem(error, said);
  switch (problem) {
    case 'noBucket':
      return fail('NOT_FOUND', `is in a bucket that does not exist${shown}`, 'check the bucket’s name and AWS_*');
    case 'missing':
      return fail('NOT_FOUND', `does not exist${shown}`, 'check the bucket and the key');
    case 'refusedCredentials': {
      const code = said.storageCode === 'ExpiredToken' ? 'FETCH_FAILED' : 'FETCH_REFUSED';
      return fail(code, `cannot be read: the credentials are not accepted${shown}`, 'correct AWS_* of the worker');
    }
    case 'elsewhere': {
      const remedy = 'correct AWS_REGION or AWS_ENDPOINT_URL_S3 of the worker';
      return fail('FETCH_REFUSED', `is in a bucket of another region or endpoint${shown}`, remedy);
    }
    case 'forbidden': {
      const remedy = `allow s3:GetObject in the bucket ${bucket} to the worker’s credentials, and s3:ListBucket on it`;
      return fail('FETCH_REFUSED', `may not be read by this worker${shown}`, remedy);
    }
    case 'noCredentials': {
      const remedy = 'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of the worker, or give it a role';
      return fail('FETCH_REFUSED', 'cannot be read: the worker has no credentials', remedy);
    }
    case 'noRegion':
      return fail('FETCH_REFUSED', 'cannot be read: no region is set', 'set AWS_REGION of the worker');
    case 'badEndpoint':
    case 'badRegion':
    case 'noReply':
    case 'unexpected': {
      // No request was sent, no reply came, or the content ended too early.
      const words = `could not be fetched${shown || (said.message === '' ? '' : ` (${said.message})`)}`;
      return fail('FETCH_FAILED', words, 'check the storage and AWS_ENDPOINT_URL_S3 of the worker');
    }
    case 'full':
    case 'refused':
    case 'unavailable': {
      const [code, what] = isUnavailable(said)
        ? (['FETCH_FAILED', 'cannot be fetched now'] as const)
        : (['FETCH_REFUSED', 'is refused'] as const);
      const words = `${what}${shown}${said.message === '' ? '' : `: ${said.message}`}`;
      return fail(code, words, 'check the storage and AWS_* of the worker');
    }
  }
}
