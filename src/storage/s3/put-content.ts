import { createHash, randomUUID } from 'node:crypto';
import { addAbortSignal, type Readable } from 'node:stream';
import { type CompletedPart, PutObjectCommand } from './aws-sdk';
import type { Measure } from '../hash';
import { ContentError, toBytes } from '../spool';
import {
  maxParts,
  type ObjectToPut,
  type PartPlan,
  requestFor,
  sendAgain,
  sendPart,
  type Upload,
  uploadInParts,
} from './put-object';

export interface Hashes {
  /** Hex. */
  readonly sha256: string;
  readonly md5: string;
}

export type Metadata = Readonly<Record<string, string>>;

export interface ContentToPut extends ObjectToPut {
  readonly content: Readable;
  /** Called before there is an object; what it throws keeps it from being made. */
  readonly check: (measured: Measure) => void;
  /** Of a content in one request: its hash is known before. */
  readonly metadata: (hashes: Hashes) => Metadata;
}

export interface KeptContent extends Measure {
  /** Of an object in parts: the storage's tag. */
  readonly tag: string | undefined;
}

/** How many bytes of memory it takes to send a content of this size; undefined: too many parts. */
export function memoryFor(sizeBytes: number, { partBytes, parallel }: PartPlan): number | undefined {
  if (sizeBytes > partBytes * maxParts) return undefined;
  return Math.min(sizeBytes, partBytes * parallel);
}

/**
 * Sends a content as it comes, in one request or in parts, each from memory, so that it can be sent again alone.
 * Undefined, with nothing read: the storage takes no multipart upload.
 * @throws the signal's reason, ContentError, what `check` throws, UnexpectedAnswerError, or the SDK's error.
 */
export async function putContent(put: ContentToPut, plan: PartPlan): Promise<KeptContent | undefined> {
  const parts = new PartReader(put);
  if (put.sizeBytes <= plan.partBytes) return await putWhole(put, plan, parts);
  const object = requestFor(put, { upload: randomUUID() });
  const kept = await uploadInParts(put, plan, object, (upload) => sendParts(put, plan, parts, upload));
  return kept === undefined ? undefined : { ...parts.measure, tag: kept.tag };
}

async function putWhole(put: ContentToPut, plan: PartPlan, parts: PartReader): Promise<KeptContent> {
  const { client, signal } = put;
  if (signal !== undefined) addAbortSignal(signal, put.content);
  const content = (await parts.next(put.sizeBytes)) ?? Buffer.alloc(0);
  // The end of the content may yet fail.
  await parts.next(1);
  const { measure } = parts;
  put.check(measure);
  const md5 = createHash('md5').update(content).digest('hex');
  const object = requestFor(put, put.metadata({ sha256: measure.sha256, md5 }));
  const body = { client, signal, sizeBytes: content.length, read: () => chunksOf(content) };
  await sendAgain(body, plan, (Body, abortSignal) =>
    client.send(new PutObjectCommand({ ...object, Body, ContentLength: content.length }), { abortSignal }),
  );
  return { ...measure, tag: undefined };
}

/** What fails for good, the content or a part, stops the rest. */
async function sendParts(
  put: ContentToPut,
  plan: PartPlan,
  parts: PartReader,
  upload: Upload,
): Promise<CompletedPart[]> {
  const { client, content } = put;
  const failure = new AbortController();
  const signal = put.signal === undefined ? failure.signal : AbortSignal.any([put.signal, failure.signal]);
  addAbortSignal(signal, content);
  const sent: CompletedPart[] = [];
  const onTheirWay = new Set<Promise<void>>();
  const send = async (part: Buffer, index: number): Promise<void> => {
    try {
      const body = { client, signal, sizeBytes: part.length, read: () => chunksOf(part) };
      sent[index] = await sendPart(body, plan, upload, index + 1);
    } catch (error) {
      failure.abort(error);
    }
  };
  try {
    for (let index = 0, part = await parts.next(plan.partBytes); part !== undefined; index += 1) {
      const sending = send(part, index).finally(() => onTheirWay.delete(sending));
      onTheirWay.add(sending);
      // With the one that is read next, never more than `parallel` are in memory.
      if (onTheirWay.size >= plan.parallel) await Promise.race(onTheirWay);
      failure.signal.throwIfAborted();
      part = await parts.next(plan.partBytes);
    }
    put.check(parts.measure);
  } catch (error) {
    failure.abort(error);
  }
  await Promise.all(onTheirWay);
  if (failure.signal.aborted) throw failure.signal.reason;
  return sent;
}

const chunkBytes = 1024 * 1024;

async function* chunksOf(bytes: Buffer): AsyncGenerator<Buffer, void, undefined> {
  for (let start = 0; start < bytes.length; start += chunkBytes) yield bytes.subarray(start, start + chunkBytes);
  await Promise.resolve();
}

/** Cuts a content into parts and measures it on the way. */
class PartReader {
  readonly #chunks: AsyncIterator<unknown>;
  readonly #sha256 = createHash('sha256');
  readonly #maxBytes: number;
  #rest: Buffer = Buffer.alloc(0);
  #bytes = 0;
  #measure: Measure | undefined;

  constructor({ content, sizeBytes }: ContentToPut) {
    this.#chunks = (content as AsyncIterable<unknown>)[Symbol.asyncIterator]();
    this.#maxBytes = sizeBytes;
  }

  /** Once the content is read to its end, or beyond the size that it may have. */
  get measure(): Measure {
    return (this.#measure ??= { bytes: this.#bytes, sha256: this.#sha256.digest('hex') });
  }

  /** So many bytes, fewer at the end; undefined after it. A copy: its memory is what it says. */
  async next(bytes: number): Promise<Buffer | undefined> {
    const part = Buffer.allocUnsafe(bytes);
    let filled = 0;
    while (filled < bytes) {
      if (this.#rest.length === 0 && !(await this.#readMore())) break;
      const copied = this.#rest.copy(part, filled);
      this.#rest = this.#rest.subarray(copied);
      filled += copied;
    }
    return filled === 0 ? undefined : part.subarray(0, filled);
  }

  async #readMore(): Promise<boolean> {
    // What is too long is not read on.
    if (this.#bytes > this.#maxBytes) return false;
    const step = await this.#chunks.next().catch((error: unknown) => {
      throw new ContentError('', { cause: error });
    });
    if (step.done === true) return false;
    this.#rest = toBytes(step.value);
    this.#bytes += this.#rest.length;
    this.#sha256.update(this.#rest);
    return true;
  }
}
