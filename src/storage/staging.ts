import { realpath } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Readable } from 'node:stream';
import type { S3Client } from './s3/aws-sdk';
import { s3Uri } from '../core/uri';
import { errorCode, errorMessage, safeText } from '../core/text';
import { testFileName } from './archive/archive';
import { lookUpContentType, NotAFileError, type OpenedFile, openRegularFile } from './local-file';
import { safeCause, StagingError } from './errors';
import { hashOpenFile } from './hash';
import { type PartPlan, putFile } from './s3/put-object';
import { S3Bucket } from './s3/s3-bucket';
import { plainFileName } from './input/input-source';
import { SpoolError, spoolFile } from './spool';

export interface StagingPlace {
  readonly bucket: string;
  /** Without slashes at its ends; may be empty. */
  readonly prefix: string;
}

export interface StagingOptions extends StagingPlace {
  readonly client: S3Client;
  /** @default {@link defaultPartPlan} */
  readonly parts?: PartPlan;
}

export interface StagedCount {
  /** Files that were uploaded. */
  readonly sent: number;
  readonly sentBytes: number;
  /** Files that were there before. */
  readonly found: number;
}

type Count = { -readonly [Name in keyof StagedCount]: StagedCount[Name] };

const newCount = (): Count => ({ sent: 0, sentBytes: 0, found: 0 });

const maxRemembered = 10_000;

/** By the content first, so that it never changes. @internal exported for tests */
export function stagedKey(prefix: string, sha256: string, path: string): string {
  const name = plainFileName(basename(path)).replace(/[?#]/g, '_');
  return [prefix, sha256, name].filter(Boolean).join('/');
}

export function stagedUri({ bucket, prefix }: StagingPlace, sha256: string, path: string): string {
  return s3Uri({ bucket, key: stagedKey(prefix, sha256, path) });
}

/** A caller's files for workers on other machines. What is there is not sent again. Methods throw StagingError. */
export class Staging {
  readonly location: string;
  readonly #options: StagingOptions;
  readonly #bucket: S3Bucket;
  readonly #uris = new Map<string, string>();
  readonly #count = newCount();

  constructor(options: StagingOptions) {
    this.#options = options;
    this.#bucket = new S3Bucket(options.client, options.bucket);
    this.location = s3Uri({ bucket: options.bucket, key: options.prefix });
  }

  /** Without the files of {@link keepAs}. */
  get count(): StagedCount {
    return { ...this.#count };
  }

  /** Whether the bucket can be read; nothing is put there. */
  async check(): Promise<void> {
    try {
      await this.#bucket.read([this.#options.prefix, testFileName()].filter(Boolean).join('/'));
    } catch (error) {
      throw await this.#failure(error, 'be read');
    }
  }

  /** By its absolute path; returns its `s3:` URI. */
  async keepInput(path: string): Promise<string> {
    const known = this.#uris.get(path);
    if (known !== undefined) return known;
    const uri = await this.#keepFile(path, (sha256) => this.#key(sha256, path), this.#count);
    this.#uris.set(path, uri);
    const [oldest] = this.#uris.keys();
    if (this.#uris.size > maxRemembered && oldest !== undefined) this.#uris.delete(oldest);
    return uri;
  }

  /** Under a name that no other content has; returns its `s3:` URI. */
  async keepAs(name: string, path: string): Promise<string> {
    return await this.#keepFile(path, () => [this.#options.prefix, name].filter(Boolean).join('/'), newCount());
  }

  /** Returns the `s3:` URI. Throws the signal's reason, or StagingError: `UNREADABLE` with the content's error. */
  async keepContent(content: Readable, name: string, signal?: AbortSignal): Promise<string> {
    const spooled = await spoolFile(content, undefined, { signal }).catch((error: unknown) => {
      signal?.throwIfAborted();
      if (!(error instanceof SpoolError)) {
        const message = `${JSON.stringify(name)} cannot be read (${safeText(errorMessage(error))})`;
        throw new StagingError(message, { code: 'UNREADABLE', cause: error });
      }
      const words = `${JSON.stringify(name)} cannot be staged: ${error.problem}; ${error.remedy}`;
      throw new StagingError(words, { cause: safeCause(error.cause) });
    });
    const { file, bytes, sha256 } = spooled;
    try {
      if (bytes === 0) throw new StagingError(`${JSON.stringify(name)} is empty`, { code: 'EMPTY' });
      const stats = await file.stat({ bigint: true });
      return await this.#keepObject(name, { file, stats }, bytes, this.#key(sha256, name), this.#count, signal);
    } finally {
      await file.close();
    }
  }

  #key(sha256: string, path: string): string {
    return stagedKey(this.#options.prefix, sha256, path);
  }

  /** Opened once, so that what is sent is what was hashed. */
  async #keepFile(path: string, keyFor: (sha256: string) => string, count: Count): Promise<string> {
    const { file, stats } = await asReadable(path, async () => openRegularFile(await realpath(path)));
    try {
      const { bytes, sha256 } = await asReadable(path, () => hashOpenFile(file, Number(stats.size)));
      return await this.#keepObject(path, { file, stats }, bytes, keyFor(sha256), count);
    } finally {
      await file.close();
    }
  }

  async #keepObject(
    path: string,
    { file, stats }: OpenedFile,
    bytes: number,
    key: string,
    count: Count,
    signal?: AbortSignal,
  ): Promise<string> {
    const { client, bucket, parts } = this.#options;
    try {
      if ((await this.#bucket.head(key))?.bytes === bytes) count.found += 1;
      else {
        const contentType = lookUpContentType(path);
        await putFile({ client, bucket, objectKey: key, file, sizeBytes: bytes, contentType, signal }, parts);
        const { size, mtimeNs } = await file.stat({ bigint: true });
        if (size !== stats.size || mtimeNs !== stats.mtimeNs) {
          // Otherwise the wrong content would be found next time. Not every credential may remove it.
          await this.#bucket.remove(key).catch(() => undefined);
          throw new StagingError(`${JSON.stringify(path)} changed while it was staged`);
        }
        count.sent += 1;
        count.sentBytes += bytes;
      }
      return s3Uri({ bucket, key });
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof StagingError) throw error;
      throw await this.#failure(error, `take ${JSON.stringify(path)}`);
    }
  }

  async #failure(error: unknown, what: string): Promise<StagingError> {
    const { words, cause } = await this.#bucket.explain(error, 'LONGHAUL_STAGING');
    return new StagingError(`${this.location} cannot ${what}${words}`, { cause });
  }
}

async function asReadable<Result>(path: string, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    const problem = error instanceof NotAFileError ? 'is no regular file' : `cannot be read (${errorCode(error)})`;
    throw new StagingError(`${JSON.stringify(path)} ${problem}`, { cause: safeCause(error) });
  }
}
