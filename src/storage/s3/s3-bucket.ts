import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  getSignedUrl,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from './aws-sdk';
import { readSecrets } from './s3-client';
import {
  type BucketFailure,
  type BucketVariable,
  explainBucketFailure,
  readS3Error,
  UnexpectedAnswerError,
} from './s3-error';

export interface FoundObject {
  readonly bytes: number;
  readonly metadata: Readonly<Record<string, string>>;
  /** The tag, where it may be the MD5 (hex) of the content: not in parts, not with a key of its own. */
  readonly md5?: string | undefined;
  /** Another one for each content that was kept. */
  readonly tag: string | undefined;
}

export interface ListedObject {
  readonly key: string;
  readonly bytes: number;
  /** In epoch milliseconds, by the bucket's clock. */
  readonly keptAtMs: number;
}

/** Must be read or destroyed. */
export interface OpenedObject {
  readonly body: Readable;
  readonly bytes: number;
}

export interface SmallObject {
  readonly content: string;
  readonly contentType: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Refused with {@link isTaken} when the key has an object already. */
  readonly isOnlyNew?: boolean;
}

/** For a request without a large body. */
const answerWithinMs = 10_000;

/** A storage may look through many keys for a page that has none of them. */
const maxEmptyPages = 100;

/** Only a code in the body tells their reason: bad credentials, a missing right, another region. */
const unexplainedStatuses: readonly number[] = [400, 401, 403];

/** Sends each request once. Throws the SDK's errors. */
export class S3Bucket {
  readonly client: S3Client;
  readonly name: string;

  constructor(client: S3Client, name: string) {
    this.client = client;
    this.name = name;
  }

  async head(key: string): Promise<FoundObject | undefined> {
    return await unlessMissing(async (abortSignal) => {
      const request = this.client.send(new HeadObjectCommand(this.#at(key)), { abortSignal });
      const found = await request.catch(async (error: unknown) => await this.#rethrowWithReason(key, error));
      const { ContentLength = 0, Metadata = {}, ETag = '', ServerSideEncryption = 'AES256' } = found;
      const { SSECustomerAlgorithm } = found;
      const mayBeMd5 = ServerSideEncryption === 'AES256' && SSECustomerAlgorithm === undefined;
      const [, md5] = /^"?([0-9a-f]{32})"?$/i.exec(mayBeMd5 ? ETag : '') ?? [];
      return { bytes: ContentLength, metadata: Metadata, md5: md5?.toLowerCase(), tag: readTag(ETag) };
    });
  }

  /** A refused HEAD has no body: the first byte needs the same right, and its refusal tells the reason. */
  async #rethrowWithReason(key: string, refusal: unknown): Promise<never> {
    if (unexplainedStatuses.includes(readS3Error(refusal).httpStatus ?? 0)) await this.readRange(key, 0, 1);
    throw refusal;
  }

  async read(key: string): Promise<Buffer | undefined> {
    return await unlessMissing(async (abortSignal) => {
      const { Body } = await this.client.send(new GetObjectCommand(this.#at(key)), { abortSignal });
      return Buffer.from((await Body?.transformToByteArray()) ?? []);
    });
  }

  async open(key: string, signal: AbortSignal | undefined): Promise<OpenedObject> {
    const command = new GetObjectCommand(this.#at(key));
    const { Body, ContentLength } = await this.client.send(command, { abortSignal: signal });
    if (!(Body instanceof Readable)) throw new UnexpectedAnswerError('the reply has no body');
    return { body: Body, bytes: ContentLength ?? 0 };
  }

  async openIfThere(key: string, signal: AbortSignal | undefined): Promise<OpenedObject | undefined> {
    return await this.open(key, signal).catch(undefinedIfMissing);
  }

  /** From `start` to before `end`; fewer when the object ends earlier. */
  async readRange(key: string, start: number, end: number): Promise<Uint8Array> {
    const command = new GetObjectCommand({ ...this.#at(key), Range: `bytes=${start}-${end - 1}` });
    try {
      return await inTime(async (abortSignal) => {
        const { Body, ContentLength = 0, ContentRange } = await this.client.send(command, { abortSignal });
        const problem = rangeProblem({ ContentLength, ContentRange }, start, end);
        if (problem !== undefined) {
          if (Body instanceof Readable) Body.on('error', () => undefined).destroy();
          throw new UnexpectedAnswerError(problem);
        }
        return (await Body?.transformToByteArray()) ?? new Uint8Array();
      });
    } catch (error) {
      // Nothing begins there.
      if (readS3Error(error).httpStatus === 416) return new Uint8Array();
      throw error;
    }
  }

  /** Anyone who has the URL can read the object. Asks nothing of the bucket. */
  async link(key: string, expiresInSeconds: number): Promise<string> {
    return await getSignedUrl(this.client, new GetObjectCommand(this.#at(key)), { expiresIn: expiresInSeconds });
  }

  async put(key: string, { content, contentType, metadata, isOnlyNew = false }: SmallObject): Promise<void> {
    const command = new PutObjectCommand({
      ...this.#at(key),
      Body: Buffer.from(content),
      ContentType: contentType,
      Metadata: metadata,
      IfNoneMatch: isOnlyNew ? '*' : undefined,
    });
    await inTime((abortSignal) => this.client.send(command, { abortSignal }));
  }

  async remove(key: string): Promise<void> {
    const command = new DeleteObjectCommand(this.#at(key));
    await inTime((abortSignal) => this.client.send(command, { abortSignal }));
  }

  /** In the order of the keys' UTF-8 bytes. Throws where the answer is no list or does not go on. */
  async *list(prefix: string): AsyncGenerator<ListedObject, void, undefined> {
    let token: string | undefined;
    let last = Buffer.alloc(0);
    let emptyPages = 0;
    do {
      const command = new ListObjectsV2Command({ Bucket: this.name, Prefix: prefix, ContinuationToken: token });
      const page = await inTime((abortSignal) => this.client.send(command, { abortSignal }));
      if (page.Name === undefined && page.IsTruncated === undefined) {
        const words = 'the answer is no list of a bucket; check the endpoint and the proxies before it';
        throw new UnexpectedAnswerError(words);
      }
      const { Contents = [], NextContinuationToken: next } = page;
      const keys = Contents.map(({ Key = '' }) => Buffer.from(Key)).sort((one, other) => one.compare(other));
      const [first, end = last] = [keys[0], keys.at(-1)];
      emptyPages = first === undefined ? emptyPages + 1 : 0;
      const goesOn = first === undefined ? emptyPages <= maxEmptyPages : last.compare(first) < 0;
      if (!goesOn || (next !== undefined && next === token)) {
        throw new UnexpectedAnswerError('the storage lists the same page again and again');
      }
      if (page.IsTruncated === true && next === undefined) {
        throw new UnexpectedAnswerError('the storage ends a list before its end');
      }
      for (const { Key: key = '', Size: bytes = 0, LastModified } of Contents) {
        // A proxy that drops the prefix lists more than was asked for.
        if (key.startsWith(prefix)) yield { key, bytes, keptAtMs: LastModified?.getTime() ?? Date.now() };
      }
      last = end;
      token = page.IsTruncated === false ? undefined : next;
    } while (token !== undefined);
  }

  /** Their parts would be kept and charged. */
  async abortUploads(key: string): Promise<void> {
    const list = new ListMultipartUploadsCommand({ Bucket: this.name, Prefix: key });
    await inTime(async (abortSignal) => {
      const { Uploads = [] } = await this.client.send(list, { abortSignal });
      for (const { Key, UploadId } of Uploads) {
        if (Key !== key) continue;
        await this.client.send(new AbortMultipartUploadCommand({ ...this.#at(key), UploadId }), { abortSignal });
      }
    });
  }

  /** Without the credentials. @param variable - which names the bucket */
  async explain(error: unknown, variable: BucketVariable): Promise<BucketFailure> {
    return explainBucketFailure(error, { bucket: this.name, variable, secrets: await readSecrets(this.client) });
  }

  #at(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.name, Key: key };
  }
}

/** Without its quotes; undefined where there is none that a manifest can keep. */
export function readTag(etag: string | undefined): string | undefined {
  return /^"?([\x21\x23-\x7e]{1,100})"?$/.exec(etag ?? '')?.[1];
}

/** A server may answer with all of an object. */
function rangeProblem(
  { ContentLength, ContentRange }: { readonly ContentLength: number; readonly ContentRange: string | undefined },
  start: number,
  end: number,
): string | undefined {
  if (ContentLength > end - start) return 'the storage answered more than was asked for';
  const begins = ContentRange === undefined ? 0 : Number(/^bytes (\d+)-/.exec(ContentRange)?.[1] ?? Number.NaN);
  return begins === start
    ? undefined
    : 'the storage answered with another part than was asked for; check the proxies before it, and that it takes Range';
}

export function isTaken(error: unknown): boolean {
  return readS3Error(error).httpStatus === 412;
}

async function unlessMissing<T>(request: (abortSignal: AbortSignal) => Promise<T>): Promise<T | undefined> {
  return await inTime(request).catch(undefinedIfMissing);
}

function undefinedIfMissing(error: unknown): undefined {
  const { httpStatus, storageCode } = readS3Error(error);
  if (httpStatus !== 404 || storageCode === 'NoSuchBucket') throw error;
}

/** Aborts it after ten seconds, and throws an error that says so. */
export async function inTime<T>(request: (abortSignal: AbortSignal) => Promise<T>): Promise<T> {
  const deadline = AbortSignal.timeout(answerWithinMs);
  try {
    return await request(deadline);
  } catch (error) {
    throw deadline.aborted ? new Error(`no answer within ${answerWithinMs / 1000} seconds`) : error;
  }
}
