import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { S3Client } from '../s3/aws-sdk';
import { ArchiveError } from '../errors';
import { hashStream, type Measure } from '../hash';
import { lookUpContentType } from '../local-file';
import { type Hashes, type KeptContent, memoryFor, type Metadata, putContent } from '../s3/put-content';
import { defaultPartPlan, type ObjectToPut, type PartPlan, putFile } from '../s3/put-object';
import { type FoundObject, isTaken, S3Bucket } from '../s3/s3-bucket';
import { UnexpectedAnswerError } from '../s3/s3-error';
import { ContentError, ignoreLateErrors, SpoolError, spoolFile } from '../spool';
import {
  type AddTo,
  type Archive,
  type ArchivedFile,
  boundedContent,
  isArchiveName,
  shownName,
  splitArchiveName,
  testFileName,
  type Expectation,
  type ListedFile,
  compareContent,
  type OpenedArchiveFile,
  type PutOptions,
} from './archive';
import { diskError, readFreeBytes } from './disk';

export interface S3ArchiveOptions {
  readonly client: S3Client;
  readonly bucket: string;
  readonly prefix: string;
  /** Where files wait on their way into the bucket. */
  readonly spoolFolder: string;
  /** @default {@link defaultPartPlan} */
  readonly parts?: PartPlan;
}

/** Metadata: the SHA-256 (hex) of the content. */
const hashKey = 'sha256';
/** Metadata: the MD5 (hex) of the content, which most storages have as the object's tag, too. */
const tagKey = 'md5';

/** As many as S3 and OSS take. */
const maxKeyBytes = 1023;

const mebibyte = 1024 * 1024;
/** Of contents on their way from a link into the bucket. */
const maxMemoryBytes = 128 * mebibyte;
const maxPartInMemoryBytes = 8 * mebibyte;

/**
 * What is not as expected never becomes an object. The first attempt sends a file of known size as it comes, from a
 * bounded memory; otherwise, and where that memory is in use, the file waits in the spool folder. The SHA-256 is in the
 * metadata, but for files that were sent in parts as they came: theirs is known by the storage's tag, or the object is
 * read.
 */
export class S3Archive implements Archive {
  readonly location: string;
  readonly maxNameBytes: number;
  readonly #options: S3ArchiveOptions;
  readonly #bucket: S3Bucket;
  readonly #prefix: string;
  #hasOtherTags = false;
  #usedMemoryBytes = 0;

  constructor(options: S3ArchiveOptions) {
    const { client, bucket, prefix } = options;
    this.#options = options;
    this.#bucket = new S3Bucket(client, bucket);
    this.#prefix = prefix === '' ? '' : `${prefix}/`;
    this.maxNameBytes = maxKeyBytes - Buffer.byteLength(this.#prefix);
    this.location = prefix === '' ? `s3://${bucket}` : `s3://${bucket}/${prefix}`;
  }

  locate(name: string): string {
    return `s3://${this.#options.bucket}/${this.#key(name)}`;
  }

  get disk(): string {
    return `the temporary folder ${this.#options.spoolFolder}, where outputs wait on their way to ${this.location},`;
  }

  async freeBytes(): Promise<number | undefined> {
    return await readFreeBytes(this.#options.spoolFolder);
  }

  async check(): Promise<void> {
    const name = testFileName();
    try {
      const isMade = await this.#putOnlyNew(name, 'first');
      const isMadeAgain = await this.#putOnlyNew(name, 'second');
      const kept = await this.read(name);
      if (!isMade || isMadeAgain || kept?.toString() !== 'first') {
        const words =
          `the archive ${this.location} takes a second file under a name that is taken (it does not honour ` +
          'If-None-Match: *), so two workers could pay for one task; use a storage with conditional writes';
        throw new ArchiveError('ARCHIVE_UNUSABLE', words);
      }
      await this.put(name, Readable.from([Buffer.from('third')]));
    } finally {
      await this.remove(name);
    }
    // Without the right to list, a name that is not there is refused, not missing.
    await this.find(name);
    await this.list(name).next();
  }

  async put(name: string, content: Readable, expected: PutOptions = {}, signal?: AbortSignal): Promise<ArchivedFile> {
    const key = this.#key(name);
    const check = (measured: Measure): void => {
      const problem = compareContent(measured, expected);
      if (problem !== undefined) throw new ArchiveError('NOT_WHOLE', `${this.locate(name)} is not kept: ${problem}`);
    };
    ignoreLateErrors(content);
    try {
      const sizeBytes = expected.isFirst === true ? expected.bytes : undefined;
      const streamed = await this.#stream(key, content, sizeBytes, check, signal);
      const { bytes, sha256, tag } = streamed ?? (await this.#keepSpooled(key, name, content, check, signal));
      return { path: this.locate(name), bytes, sha256, tag };
    } catch (error) {
      content.destroy();
      signal?.throwIfAborted();
      throw error instanceof ContentError ? error.cause : await this.#failure(error, name);
    }
  }

  async find(name: string, expected: Expectation = {}, signal?: AbortSignal): Promise<ArchivedFile | undefined> {
    const key = this.#key(name);
    const compare = async (): Promise<ArchivedFile | undefined> => {
      const found = await this.#bucket.head(key);
      if (found === undefined) return undefined;
      if (expected.bytes !== undefined && expected.bytes !== found.bytes) return undefined;
      const isSame = expected.tag !== undefined && expected.tag === found.tag;
      const sha256 = (isSame ? expected.sha256 : undefined) ?? (await this.#readHash(key, found, signal));
      const tag = found.metadata[hashKey] === undefined ? found.tag : undefined;
      const file = { bytes: found.bytes, sha256, tag };
      return compareContent(file, expected) === undefined ? { path: this.locate(name), ...file } : undefined;
    };
    return await this.#attempt(name, compare, signal);
  }

  async isKept(name: string, file: Measure & Expectation): Promise<boolean> {
    return (await this.find(name, file)) !== undefined;
  }

  async size(name: string): Promise<number | undefined> {
    const key = this.#key(name);
    return await this.#attempt(name, async () => (await this.#bucket.head(key))?.bytes);
  }

  async read(name: string): Promise<Buffer | undefined> {
    const key = this.#key(name);
    return await this.#attempt(name, () => this.#bucket.read(key));
  }

  async open(name: string, signal?: AbortSignal): Promise<OpenedArchiveFile | undefined> {
    const key = this.#key(name);
    return await this.#attempt(
      name,
      async () => {
        const opened = await this.#bucket.openIfThere(key, signal);
        if (opened === undefined) return undefined;
        const { body, bytes } = opened;
        const toError = (error: unknown): Promise<ArchiveError> => this.#failure(error, name);
        const where = this.locate(name);
        const content = boundedContent(body as AsyncIterable<Buffer>, { where, bytes, signal, toError });
        // A generator that was never started does not run its `finally`.
        content.once('close', () => body.on('error', () => undefined).destroy());
        return { content, bytes };
      },
      signal,
    );
  }

  async link(name: string, expiresInSeconds: number): Promise<string> {
    const key = this.#key(name);
    return await this.#attempt(name, () => this.#bucket.link(key, expiresInSeconds));
  }

  async putIfAbsent(name: string, content: string): Promise<boolean> {
    // A storage or proxy that ignores the condition once would replace what is there.
    if ((await this.size(name)) !== undefined) return false;
    return await this.#putOnlyNew(name, content);
  }

  /** Reads what is there afterwards: the answer may be lost, untrue, or that of a proxy's second try. */
  async #putOnlyNew(name: string, content: string): Promise<boolean> {
    const key = this.#key(name);
    return await this.#attempt(name, async () => {
      const object = { content, contentType: lookUpContentType(name), isOnlyNew: true };
      const failure = await this.#bucket.put(key, object).then(
        () => undefined,
        (error: unknown) => error as Error,
      );
      const kept = await this.#bucket.read(key).catch((error: unknown) => {
        throw failure ?? (error as Error);
      });
      if (kept === undefined && !isTaken(failure)) {
        throw failure ?? new UnexpectedAnswerError('it was taken, and is not there');
      }
      return kept?.toString('utf8') === content;
    });
  }

  async append(name: string, add: AddTo): Promise<boolean> {
    const content = await this.read(name);
    if (content === undefined) return false;
    const addition = await add(content);
    if (addition !== undefined) await this.replace(name, `${content.toString('utf8')}${addition.text}`);
    return true;
  }

  async replace(name: string, content: string): Promise<void> {
    const metadata = { [hashKey]: createHash('sha256').update(content).digest('hex') };
    const key = this.#key(name);
    await this.#attempt(name, () => this.#bucket.put(key, { content, contentType: lookUpContentType(name), metadata }));
  }

  async remove(name: string): Promise<void> {
    const key = this.#key(name);
    await this.#attempt(name, () => this.#bucket.remove(key));
  }

  async *list(
    folder: string,
    onForeign?: (place: string) => void,
    prefix = '',
  ): AsyncGenerator<ListedFile, void, undefined> {
    const place = folder === '' ? this.#prefix : `${this.#key(folder)}/`;
    try {
      for await (const { key, ...file } of this.#bucket.list(`${place}${prefix}`)) {
        // Some tools keep an empty object for a folder.
        if (key.endsWith('/')) continue;
        const name = key.slice(this.#prefix.length);
        if (isArchiveName(name) && Buffer.byteLength(key) <= maxKeyBytes) yield { name, ...file };
        else onForeign?.(key);
      }
    } catch (error) {
      throw await this.#failure(error, folder);
    }
  }

  #key(name: string): string {
    const key = `${this.#prefix}${splitArchiveName(name).join('/')}`;
    if (Buffer.byteLength(key) > maxKeyBytes) {
      throw new ArchiveError('NAME_INVALID', `${JSON.stringify(name)} is too long for a name in ${this.location}`);
    }
    return key;
  }

  /** Undefined, with nothing read, where it cannot be sent as it comes. */
  async #stream(
    key: string,
    content: Readable,
    sizeBytes: number | undefined,
    check: (measured: Measure) => void,
    signal: AbortSignal | undefined,
  ): Promise<KeptContent | undefined> {
    const { parts = defaultPartPlan } = this.#options;
    const plan = { ...parts, partBytes: Math.min(parts.partBytes, maxPartInMemoryBytes) };
    const memoryBytes = sizeBytes === undefined ? undefined : memoryFor(sizeBytes, plan);
    if (sizeBytes === undefined || memoryBytes === undefined) return undefined;
    if (this.#usedMemoryBytes + memoryBytes > maxMemoryBytes) return undefined;
    this.#usedMemoryBytes += memoryBytes;
    try {
      const metadata = ({ sha256, md5 }: Hashes): Metadata => ({ [hashKey]: sha256, [tagKey]: md5 });
      return await putContent({ ...this.#object(key, sizeBytes, signal), content, check, metadata }, plan);
    } finally {
      this.#usedMemoryBytes -= memoryBytes;
    }
  }

  async #keepSpooled(
    key: string,
    name: string,
    content: Readable,
    check: (measured: Measure) => void,
    signal: AbortSignal | undefined,
  ): Promise<KeptContent> {
    const { spoolFolder, parts = defaultPartPlan } = this.#options;
    const hash = createHash('md5');
    const spooled = await spoolFile(content, spoolFolder, { signal, md5: hash }).catch((error: unknown) => {
      if (!(error instanceof SpoolError)) throw new ContentError('', { cause: error });
      throw diskError(error.cause, `${this.locate(name)} cannot be kept: ${error.problem}; ${error.remedy}`);
    });
    const { file, bytes, sha256 } = spooled;
    try {
      check(spooled);
      // Of an attempt whose worker died, which may have streamed. Without the right to list them, the bucket's lifecycle
      // rules clean up.
      if (bytes > Math.min(parts.aboveBytes, maxPartInMemoryBytes)) {
        await this.#bucket.abortUploads(key).catch(() => undefined);
      }
      const metadata = { [hashKey]: sha256, [tagKey]: hash.digest('hex') };
      await putFile({ ...this.#object(key, bytes, signal), file, metadata }, parts);
      return { bytes, sha256, tag: undefined };
    } finally {
      await file.close();
    }
  }

  #object(key: string, sizeBytes: number, signal: AbortSignal | undefined): ObjectToPut {
    const { client, bucket } = this.#options;
    const contentType = lookUpContentType(key);
    // A browser that opened it would run what is in it, as from the bucket's own address.
    const isDownloaded = /html|svg|xml|javascript/.test(contentType);
    return { client, bucket, objectKey: key, sizeBytes, signal, contentType, isDownloaded };
  }

  /** As kept with the object; without that, or where the tag is not the MD5 of what was sent, the object is read. */
  async #readHash(key: string, { metadata, md5 }: FoundObject, signal: AbortSignal | undefined): Promise<string> {
    const kept = metadata[hashKey];
    const isAsSent = this.#hasOtherTags || md5 === undefined || (metadata[tagKey] ?? md5) === md5;
    if (isAsSent && kept !== undefined && /^[0-9a-f]{64}$/.test(kept)) return kept;
    const { sha256 } = await hashStream((await this.#bucket.open(key, signal)).body, signal);
    this.#hasOtherTags ||= !isAsSent && sha256 === kept;
    return sha256;
  }

  async #attempt<T>(name: string, action: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    try {
      return await action();
    } catch (error) {
      signal?.throwIfAborted();
      throw await this.#failure(error, name);
    }
  }

  async #failure(error: unknown, name: string): Promise<ArchiveError> {
    if (error instanceof ArchiveError) return error;
    const { problem, words, cause } = await this.#bucket.explain(error, 'LONGHAUL_ARCHIVE');
    const code = problem === 'full' ? 'ARCHIVE_FULL' : 'ARCHIVE_UNUSABLE';
    const what = `the archive ${this.location} cannot keep or give ${shownName(name)}`;
    return new ArchiveError(code, `${what}${words}`, { cause });
  }
}
