import type { FileHandle } from 'node:fs/promises';
import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { sendRange } from './send-range';

/** An open file that becomes an object. */
export interface FileToPut {
  readonly client: S3Client;
  readonly bucket: string;
  readonly objectKey: string;
  readonly file: FileHandle;
  readonly sizeBytes: number;
  readonly contentType: string;
  /** Kept with the object. */
  readonly metadata?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** Called often, with the bytes that were read for sending so far. */
  readonly onProgress?: ((bytes: number) => void) | undefined;
}

/**
 * Puts a file in one streamed request, sent once.
 *
 * @returns the SHA-256 (hex) of what was sent.
 * @throws what `sendRange` throws, with the SDK's errors.
 */
export async function putFile(put: FileToPut): Promise<string> {
  const { client, sizeBytes, contentType, metadata } = put;
  const { sha256 } = await sendRange({ ...put, startByte: 0 }, (body, abortSignal) => {
    const command = new PutObjectCommand({
      Bucket: put.bucket,
      Key: put.objectKey,
      Body: body,
      ContentLength: sizeBytes,
      ContentType: contentType,
      ...(metadata !== undefined && { Metadata: metadata }),
    });
    return client.send(command, { abortSignal });
  });
  return sha256;
}
