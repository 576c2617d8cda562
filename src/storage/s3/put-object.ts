import { createHash, type Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from './aws-sdk';
import { errorCode } from '../../core/text';
import { readRange } from '../local-file';
import { inTime, readTag, S3Bucket } from './s3-bucket';
import { isUnavailable, readS3Error, UnexpectedAnswerError } from './s3-error';

export interface ObjectToPut {
  readonly client: S3Client;
  readonly bucket: string;
  readonly objectKey: string;
  readonly sizeBytes: number;
  readonly contentType: string;
  /** Whether a browser saves it instead of opening it. */
  readonly isDownloaded?: boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface FileToPut extends ObjectToPut {
  readonly file: FileHandle;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Called often, with the bytes read for sending so far. */
  readonly onProgress?: ((bytes: number) => void) | undefined;
}

export interface PartPlan {
  /** Files above this size go in parts. */
  readonly aboveBytes: number;
  /** S3 takes no smaller one than 5 MiB, but the last. */
  readonly partBytes: number;
  readonly parallel: number;
  readonly attempts: number;
  /** Before the first repetition of a part, doubled each time. */
  readonly pauseMs: number;
}

const mebibyte = 1024 * 1024;

/** Below it, one PUT is as quick and simpler (docs/decisions, "Large files in parts"). */
export const defaultPartPlan: PartPlan = {
  aboveBytes: 64 * mebibyte,
  partBytes: 16 * mebibyte,
  parallel: 4,
  attempts: 3,
  pauseMs: 250,
};

/**
 * In one request, or in parts when large and the storage takes them. Returns the SHA-256 (hex); undefined for parts.
 * @throws the signal's reason, FileUnreadableError, UnexpectedAnswerError, or the SDK's error.
 */
export async function putFile(put: FileToPut, plan = defaultPartPlan): Promise<string | undefined> {
  const { client, file, sizeBytes } = put;
  const object = requestFor(put, put.metadata);
  if (sizeBytes > plan.aboveBytes) {
    const kept = await uploadInParts(put, plan, object, (upload) => sendParts(put, plan, upload));
    if (kept !== undefined) return undefined;
  }
  const sha256 = createHash('sha256');
  await sendBody({ ...put, read: () => hashed(readRange(file, 0, sizeBytes), sha256) }, (body, abortSignal) => {
    return client.send(new PutObjectCommand({ ...object, Body: body, ContentLength: sizeBytes }), { abortSignal });
  });
  return sha256.digest('hex');
}

async function* hashed(chunks: AsyncIterable<Buffer>, hash: Hash): AsyncGenerator<Buffer, void, undefined> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
}

export interface ObjectRequest {
  readonly Bucket: string;
  readonly Key: string;
  readonly ContentType: string;
  readonly ContentDisposition: string | undefined;
  readonly Metadata: Readonly<Record<string, string>> | undefined;
}

export function requestFor(put: ObjectToPut, metadata?: Readonly<Record<string, string>>): ObjectRequest {
  return {
    Bucket: put.bucket,
    Key: put.objectKey,
    ContentType: put.contentType,
    ContentDisposition: put.isDownloaded === true ? 'attachment' : undefined,
    Metadata: metadata,
  };
}

/** As many as S3 and OSS take for one object. */
export const maxParts = 10_000;

export interface Upload {
  readonly Bucket: string;
  readonly Key: string;
  readonly UploadId: string | undefined;
}

export interface CompletedUpload {
  /** The storage's, of the object. */
  readonly tag: string | undefined;
}

const refusedStatuses: readonly (number | undefined)[] = [403, 405, 501];
const refusedCodes: readonly string[] = ['AccessDenied', 'MethodNotAllowed', 'NotImplemented'];
const abortWithinMs = 10_000;
const abortAttempts = 5;
const abortAgainAfterMs = 200;

/**
 * After a failure the upload is aborted: its parts would be charged. Undefined: the storage takes no multipart upload.
 * @param object - its metadata, if it has any, tells this content from every other
 * @param send - its parts are the object as soon as it returns
 */
export async function uploadInParts(
  put: ObjectToPut,
  plan: PartPlan,
  object: ObjectRequest,
  send: (upload: Upload) => Promise<CompletedPart[]>,
): Promise<CompletedUpload | undefined> {
  const { client, signal } = put;
  const begun = await begin(put, plan, object);
  if (begun === undefined) return undefined;
  const upload = { Bucket: object.Bucket, Key: object.Key, UploadId: begun.UploadId };
  try {
    return await complete(put, plan, object, upload, await send(upload));
  } catch (error) {
    await abortUpload(client, upload);
    signal?.throwIfAborted();
    throw error;
  }
}

/** Without an answer it may have begun twice: an upload without parts costs nothing. */
async function begin(
  { client, signal }: ObjectToPut,
  plan: PartPlan,
  object: ObjectRequest,
): Promise<Partial<Upload> | undefined> {
  const command = new CreateMultipartUploadCommand(object);
  const request = inTime(async (deadline) => {
    const abortSignal = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
    const create = (): Promise<Partial<Upload> | undefined> =>
      client.send(command, { abortSignal }).catch((error: unknown) => {
        const { httpStatus, storageCode } = readS3Error(error);
        if (refusedStatuses.includes(httpStatus) && refusedCodes.includes(storageCode)) return undefined;
        throw error;
      });
    return await whileUnavailable(abortSignal, plan, create);
  });
  return await request.catch((error: unknown) => {
    signal?.throwIfAborted();
    throw error;
  });
}

/** What is there decides when the answer is lost: a storage may not know an upload any more that it has completed. */
async function complete(
  put: ObjectToPut,
  plan: PartPlan,
  object: ObjectRequest,
  upload: Upload,
  Parts: CompletedPart[],
): Promise<CompletedUpload> {
  const { client, signal } = put;
  const command = new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } });
  return await whileUnavailable(signal, plan, async () => {
    try {
      const { ETag } = await client.send(command, { abortSignal: signal ?? new AbortController().signal });
      return { tag: readTag(ETag) };
    } catch (error) {
      signal?.throwIfAborted();
      const kept = await findKept(put, object).catch(() => undefined);
      if (kept === undefined) throw error;
      return kept;
    }
  });
}

/** Undefined where it is not there, or nothing tells it from another object. */
async function findKept(put: ObjectToPut, { Key, Metadata = {} }: ObjectRequest): Promise<CompletedUpload | undefined> {
  const marks = Object.entries(Metadata);
  if (marks.length === 0) return undefined;
  const found = await new S3Bucket(put.client, put.bucket).head(Key);
  if (found?.bytes !== put.sizeBytes) return undefined;
  return marks.every(([name, value]) => found.metadata[name] === value) ? { tag: found.tag } : undefined;
}

/** Repeated where it fails for now: a part that still arrives can keep the upload from being removed. */
async function abortUpload(client: S3Client, upload: Upload): Promise<void> {
  const abortSignal = AbortSignal.timeout(abortWithinMs);
  for (let attempt = 1; attempt <= abortAttempts; attempt += 1) {
    try {
      await client.send(new AbortMultipartUploadCommand(upload), { abortSignal });
      return;
    } catch (error) {
      if ((readS3Error(error).httpStatus ?? 0) < 500 || abortSignal.aborted) return;
    }
    await delay(abortAgainAfterMs);
  }
}

/** The first part that fails for good stops the others. */
async function sendParts(put: FileToPut, plan: PartPlan, upload: Upload): Promise<CompletedPart[]> {
  const { client, file, sizeBytes, onProgress } = put;
  const partBytes = Math.max(plan.partBytes, Math.ceil(sizeBytes / maxParts));
  const count = Math.ceil(sizeBytes / partBytes);
  const failure = new AbortController();
  const signal = put.signal === undefined ? failure.signal : AbortSignal.any([put.signal, failure.signal]);
  const parts: CompletedPart[] = [];
  let sentBytes = 0;
  let next = 0;
  const sendNext = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) {
      const startByte = index * partBytes;
      let sentOfPart = 0;
      const onPartProgress = (bytes: number): void => {
        sentBytes += bytes - sentOfPart;
        sentOfPart = bytes;
        onProgress?.(sentBytes);
      };
      const ownBytes = Math.min(partBytes, sizeBytes - startByte);
      const read = (): AsyncIterable<Buffer> => readRange(file, startByte, ownBytes);
      const body = { client, read, sizeBytes: ownBytes, signal, onProgress: onPartProgress };
      parts[index] = await sendPart(body, plan, upload, index + 1);
    }
  };
  const senders = Array.from({ length: Math.min(plan.parallel, count) }, async () => {
    try {
      await sendNext();
    } catch (error) {
      failure.abort(error);
      throw error;
    }
  });
  await Promise.allSettled(senders);
  if (failure.signal.aborted) throw failure.signal.reason;
  return parts;
}

/** A repeated part replaces the first one. */
export async function sendPart(body: Body, plan: PartPlan, upload: Upload, PartNumber: number): Promise<CompletedPart> {
  const { ETag } = await sendAgain(body, plan, (Body, abortSignal) => {
    const command = new UploadPartCommand({ ...upload, PartNumber, Body, ContentLength: body.sizeBytes });
    return body.client.send(command, { abortSignal });
  });
  return { PartNumber, ETag };
}

/** Again where the storage cannot take it for now. */
export async function sendAgain<T extends StoredReply>(body: Body, plan: PartPlan, send: Send<T>): Promise<T> {
  return await whileUnavailable(body.signal, plan, () => sendBody(body, send));
}

/** Only for what does no harm when it is done twice. */
async function whileUnavailable<T>(
  signal: AbortSignal | undefined,
  plan: PartPlan,
  request: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await request();
    } catch (error) {
      signal?.throwIfAborted();
      const isFinal = error instanceof FileUnreadableError || !isUnavailable(readS3Error(error));
      if (isFinal || attempt >= plan.attempts) throw error;
      const pauseMs = plan.pauseMs * 2 ** (attempt - 1) * (0.5 + Math.random());
      await delay(pauseMs, undefined, { signal }).catch(() => signal?.throwIfAborted());
    }
  }
}

/** What one request sends. */
export interface Body extends Pick<FileToPut, 'client' | 'sizeBytes' | 'signal' | 'onProgress'> {
  /** For each attempt. */
  readonly read: () => AsyncIterable<Buffer>;
}

type Send<T> = (body: Readable, signal: AbortSignal) => Promise<T>;

/** The file failed or was too short; the system's error, if there was one, is the cause. */
export class FileUnreadableError extends Error {}

/** Memory does not grow with the body. */
async function sendBody<T extends StoredReply>(
  { read, sizeBytes, signal, onProgress }: Body,
  send: Send<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const md5 = createHash('md5');
  let bytes = 0;
  const chunks = async function* (): AsyncGenerator<Buffer, void, undefined> {
    for await (const chunk of read()) {
      md5.update(chunk);
      bytes += chunk.length;
      onProgress?.(bytes);
      yield chunk;
    }
    if (bytes !== sizeBytes) throw new FileUnreadableError(`${bytes} bytes instead of ${sizeBytes}`);
  };
  const body = Readable.from(chunks(), { objectMode: false, highWaterMark: 1024 * 1024 });
  const closed = new Promise((resolve) => body.once('close', resolve));
  // The SDK would wait for ever for a body that failed: its end aborts the request.
  const bodyFailure = new AbortController();
  body.on('error', (error) => {
    const isKnown = error instanceof FileUnreadableError;
    bodyFailure.abort(isKnown ? error : new FileUnreadableError(errorCode(error), { cause: error }));
  });
  try {
    const either = signal === undefined ? bodyFailure.signal : AbortSignal.any([signal, bodyFailure.signal]);
    const reply = await send(body, either);
    if (bytes !== sizeBytes) throw new UnexpectedAnswerError('the storage answered before it had everything');
    requireSameMd5(reply, md5.digest('hex'));
    return reply;
  } catch (error) {
    signal?.throwIfAborted();
    throw bodyFailure.signal.aborted ? bodyFailure.signal.reason : error;
  } finally {
    // A request with an early reply is still open, and its body still being read.
    bodyFailure.abort();
    body.destroy();
    await closed;
  }
}

interface StoredReply {
  readonly ETag?: string | undefined;
  readonly ServerSideEncryption?: string | undefined;
}

/** The ETag of one request is its MD5, unless the storage encrypts with a key of the account's. */
function requireSameMd5({ ETag = '', ServerSideEncryption = 'AES256' }: StoredReply, md5: string): void {
  const stored = ETag.replaceAll('"', '').toLowerCase();
  if (ServerSideEncryption !== 'AES256' || !/^[0-9a-f]{32}$/.test(stored) || stored === md5) return;
  throw new UnexpectedAnswerError('the ETag is that of another content: the storage did not keep what was sent');
}
