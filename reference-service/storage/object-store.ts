import { Readable } from 'node:stream';
import {
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { lookup } from 'mime-types';
import type { StorageServer } from './storage-server';

/** Whether signed links name the bucket in the path (any client can open them) or in the host. */
export type LinkStyle = 'path' | 'virtual-host';

/** The service's own access to its bucket: reading inputs, keeping outputs, signing links. */
export class ObjectStore {
  readonly bucket: string;
  readonly #client: S3Client;
  readonly #linkClient: S3Client;

  constructor(server: StorageServer, bucket: string, linkStyle: LinkStyle) {
    this.bucket = bucket;
    this.#client = createClient(server, 'path');
    this.#linkClient = createClient(server, linkStyle);
  }

  /** Creates the bucket unless it is there. */
  async prepare(): Promise<void> {
    try {
      await this.#client.send(new CreateBucketCommand({ Bucket: this.bucket }));
    } catch (error) {
      if (!(error instanceof S3ServiceException) || error.name !== 'BucketAlreadyOwnedByYou') throw error;
    }
  }

  /** Size in bytes of an object, or undefined when it does not exist. */
  async sizeBytes(objectKey: string): Promise<number | undefined> {
    try {
      const head = await this.#client.send(new HeadObjectCommand({ Bucket: this.bucket, Key: objectKey }));
      return head.ContentLength ?? 0;
    } catch (error) {
      if (error instanceof S3ServiceException && error.$metadata.httpStatusCode === 404) return undefined;
      throw error;
    }
  }

  /** The whole object in memory; for inputs of image nodes, whose size the commit has limited. */
  async read(objectKey: string, signal?: AbortSignal): Promise<Buffer> {
    const object = await this.#client.send(
      new GetObjectCommand({ Bucket: this.bucket, Key: objectKey }),
      signal === undefined ? {} : { abortSignal: signal },
    );
    if (object.Body === undefined) throw new Error(`the object ${objectKey} has no body`);
    return Buffer.from(await object.Body.transformToByteArray());
  }

  /** The object as a stream; for what only passes through. */
  async open(objectKey: string): Promise<Readable> {
    const object = await this.#client.send(new GetObjectCommand({ Bucket: this.bucket, Key: objectKey }));
    if (!(object.Body instanceof Readable)) throw new Error(`the object ${objectKey} has no body`);
    return object.Body;
  }

  /** Stores `bytes` under `objectKey`. */
  async write(objectKey: string, bytes: Buffer, contentType: string): Promise<void> {
    await this.#client.send(
      new PutObjectCommand({ Bucket: this.bucket, Key: objectKey, Body: bytes, ContentType: contentType }),
    );
  }

  /** Copies an object inside the bucket; its bytes never pass through this process. */
  async copy(fromKey: string, toKey: string): Promise<void> {
    await this.#client.send(
      new CopyObjectCommand({ Bucket: this.bucket, Key: toKey, CopySource: `${this.bucket}/${fromKey}` }),
    );
  }

  /** Removes an object; one that does not exist is no error. */
  async remove(objectKey: string): Promise<void> {
    await this.#client.send(new DeleteObjectCommand({ Bucket: this.bucket, Key: objectKey }));
  }

  /**
   * A download link that stops working `lifetimeMs` after `signedAt` (whole seconds, at least one). The content type
   * of its answer is derived from the key's extension (specification section 4.6), whatever the upload said.
   */
  link(objectKey: string, lifetimeMs: number, signedAt = new Date()): Promise<string> {
    const type = lookup(objectKey) || 'application/octet-stream';
    const object = { Bucket: this.bucket, Key: objectKey, ResponseContentType: type };
    return getSignedUrl(this.#linkClient, new GetObjectCommand(object), {
      expiresIn: Math.max(1, Math.ceil(lifetimeMs / 1000)),
      signingDate: signedAt,
    });
  }

  /** Closes the connections to the S3 server. */
  close(): void {
    this.#client.destroy();
    this.#linkClient.destroy();
  }
}

function createClient(server: StorageServer, style: LinkStyle): S3Client {
  return new S3Client({
    endpoint: style === 'path' ? server.endpoint : `http://${server.virtualDomain}`,
    forcePathStyle: style === 'path',
    region: server.region,
    credentials: { accessKeyId: server.rootAccessKeyId, secretAccessKey: server.rootSecretAccessKey },
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
}
