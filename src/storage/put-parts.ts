import { setTimeout as delay } from 'node:timers/promises';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  UploadPartCommand,
  type CompletedPart,
} from '@aws-sdk/client-s3';
import type { FileToPut } from './put-file';
import { isUnavailable, readS3Error } from './s3-error';
import { FileUnreadableError, sendRange } from './send-range';

/** How a large file is cut up and sent. */
export interface PartPlan {
  /** Files above this size go in parts. */
  readonly aboveBytes: number;
  /** Length of a part; S3 takes no smaller one than 5 MiB, but the last. */
  readonly partBytes: number;
  /** Parts on their way at the same time. */
  readonly parallel: number;
  /** How often one part is sent before the upload is given up. */
  readonly attempts: number;
  /** Pause before a part is sent again, doubled each time. */
  readonly pauseMs: number;
}

const mebibyte = 1024 * 1024;

/** The plan unless told otherwise. Beside it, one PUT is as quick and simpler (docs/decisions, "Large files in parts"). */
export const defaultPartPlan: PartPlan = {
  aboveBytes: 64 * mebibyte,
  partBytes: 16 * mebibyte,
  parallel: 4,
  attempts: 3,
  pauseMs: 250,
};

/** The storage takes no multipart upload from these credentials; nothing was begun. The SDK's error is the cause. */
export class PartsRefusedError extends Error {}

const refusedStatuses: readonly (number | undefined)[] = [403, 405, 501];
const refusedCodes: readonly string[] = ['AccessDenied', 'MethodNotAllowed', 'NotImplemented'];

/** As many as S3 and OSS take for one object. */
const maxParts = 10_000;
/** The storage is told that an upload was given up, but not waited for longer than this. */
const abortWithinMs = 10_000;

/**
 * Puts a large file by a multipart upload; the object is there, whole, once the last request succeeds, and not before.
 * A part that fails for the moment is sent again; after any other failure the upload is aborted, so that its parts are
 * not kept and charged.
 *
 * @throws PartsRefusedError, or what `sendRange` throws, with the SDK's errors.
 */
export async function putParts(put: FileToPut, plan: PartPlan): Promise<void> {
  const { client, bucket, objectKey, contentType, metadata, signal } = put;
  const target = { Bucket: bucket, Key: objectKey };
  const abortSignal = signal ?? new AbortController().signal;
  const begin = new CreateMultipartUploadCommand({
    ...target,
    ContentType: contentType,
    ...(metadata !== undefined && { Metadata: metadata }),
  });
  const { UploadId } = await client.send(begin, { abortSignal }).catch(asRefusal);
  const upload = { ...target, UploadId };
  try {
    const parts = await sendParts(put, plan, upload);
    const complete = new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts: parts } });
    await client.send(complete, { abortSignal });
  } catch (error) {
    // Where the credentials may not abort, the storage's own rules clean up.
    const abort = new AbortMultipartUploadCommand(upload);
    await client.send(abort, { abortSignal: AbortSignal.timeout(abortWithinMs) }).catch(() => undefined);
    signal?.throwIfAborted();
    throw error;
  }
}

function asRefusal(error: unknown): never {
  const { httpStatus, storageCode } = readS3Error(error);
  const isRefused = refusedStatuses.includes(httpStatus) && refusedCodes.includes(storageCode);
  throw isRefused ? new PartsRefusedError('no multipart upload', { cause: error }) : error;
}

interface Upload {
  readonly Bucket: string;
  readonly Key: string;
  readonly UploadId: string | undefined;
}

/** Sends all parts, some at a time. The first that fails for good stops the others. */
async function sendParts(put: FileToPut, plan: PartPlan, upload: Upload): Promise<CompletedPart[]> {
  const { sizeBytes, onProgress } = put;
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
      const range = { ...put, startByte, sizeBytes: Math.min(partBytes, sizeBytes - startByte), signal };
      parts[index] = await sendPart({ ...range, onProgress: onPartProgress }, plan, {
        ...upload,
        PartNumber: index + 1,
      });
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

/** Sends one part until it is there. Sending a part again replaces it, so nothing depends on what became of the first. */
async function sendPart(
  range: FileToPut & { readonly startByte: number },
  plan: PartPlan,
  part: Upload & { readonly PartNumber: number },
): Promise<CompletedPart> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { reply } = await sendRange(range, (body, abortSignal) => {
        const command = new UploadPartCommand({ ...part, Body: body, ContentLength: range.sizeBytes });
        return range.client.send(command, { abortSignal });
      });
      return { PartNumber: part.PartNumber, ETag: reply.ETag };
    } catch (error) {
      range.signal?.throwIfAborted();
      const isFinal = error instanceof FileUnreadableError || !isUnavailable(readS3Error(error));
      if (isFinal || attempt >= plan.attempts) throw error;
      await pause(plan.pauseMs * 2 ** (attempt - 1), range.signal);
    }
  }
}

/** Waits about this long; parts that failed together are not sent again together. */
async function pause(aboutMs: number, signal: AbortSignal | undefined): Promise<void> {
  const options = signal === undefined ? {} : { signal };
  await delay(aboutMs * (0.5 + Math.random()), undefined, options).catch(() => signal?.throwIfAborted());
}
