import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { safeText } from '../core/text';
import { redactUrl } from '../core/uri';
import { type ConnectionRule, isAddressNotAllowed } from './connection-rule';
import { connectionFault, openAgent, type Timeouts } from './connections';
import { BodyProof } from './download-proof';
import { type BodyReply, headersToResume, isRest, readLength } from './download-resume';
import { type Came, DownloadError, safeCause } from './errors';

const redirectStatuses: readonly number[] = [300, 301, 302, 303, 307, 308];
const expiredStatuses: readonly number[] = [403, 404, 410];
const maxRedirects = 3;
const maxShownLength = 500;

export interface Followed {
  readonly url: URL;
  readonly response: Dispatcher.ResponseData;
}

/** Follows up to three redirects unless `allow` throws. One that cannot be followed is the answer. `more` are headers. */
export async function follow(
  start: URL,
  allow: (url: URL) => void,
  { dispatcher, signal }: Pick<DownloadOptions, 'dispatcher' | 'signal'>,
  more: Readonly<Record<string, string>> = {},
): Promise<Followed> {
  let url = start;
  for (let redirects = 0; ; redirects += 1) {
    allow(url);
    const { origin, pathname, search } = url;
    const headers = { 'accept-encoding': 'identity', ...more };
    const path = `${pathname}${search}`;
    const response = await dispatcher.request({ origin, path, method: 'GET', headers, signal: signal ?? null });
    const { location } = response.headers;
    const isFollowed = redirectStatuses.includes(response.statusCode) && redirects < maxRedirects;
    if (!isFollowed || typeof location !== 'string' || !URL.canParse(location, url.href)) return { url, response };
    discard(response);
    url = new URL(location, url);
  }
}

function discard({ body }: Dispatcher.ResponseData): void {
  body.on('error', () => undefined).destroy();
}

export interface DownloadOptions {
  readonly dispatcher: Dispatcher;
  readonly signal?: AbortSignal;
  /** In bytes; the reply's own length is checked in any case. */
  readonly expectedBytes?: number;
  /** Name or extension: what comes must not be of another kind. */
  readonly name?: string;
  /** What an earlier fetch brought without a proof of its end; the same again is believed. */
  readonly earlier?: Came | undefined;
  /** Called often, with the bytes received so far. */
  readonly onProgress?: (bytes: number) => void;
}

export interface Download {
  /** Must be read or destroyed. It ends with a DownloadError unless every byte came. */
  readonly body: Readable;
  /** In bytes; absent when the storage did not say. */
  readonly sizeBytes?: number;
  /** Such as `gzip`, although plain bytes were asked for; absent when plain. */
  readonly contentEncoding?: string;
}

/**
 * Opens a signed link of the service (specification, section 2.4), over up to three redirects. A body that breaks off goes
 * on with another request where that is sure to bring the rest of the same version.
 * @throws DownloadError; `LINK_EXPIRED` on HTTP 403, 404 and 410: ask for fresh links. Or the signal's abort reason.
 */
export async function download(url: string, options: DownloadOptions): Promise<Download> {
  const { expectedBytes, name = '', earlier } = options;
  options.signal?.throwIfAborted();
  const link: Link = { url, shown: safeText(redactUrl(url), [], maxShownLength), options };
  const { shown } = link;
  const first = await request(link);
  const { response, headers, sizeBytes } = first;
  if (response.statusCode !== 200) {
    discard(response);
    const { statusCode: httpStatus } = response;
    if (expiredStatuses.includes(httpStatus)) {
      const words = `the link ${shown} is no longer valid (HTTP ${httpStatus})`;
      throw new DownloadError('LINK_EXPIRED', words, { httpStatus });
    }
    throw new DownloadError('DOWNLOAD_FAILED', `${shown} was answered with HTTP ${httpStatus}`, { httpStatus });
  }
  if (expectedBytes !== undefined && sizeBytes !== undefined && sizeBytes !== expectedBytes) {
    discard(response);
    const words = `${shown} brought ${sizeBytes} bytes instead of ${expectedBytes}`;
    throw new DownloadError('DOWNLOAD_CUT_SHORT', words);
  }
  const proof = new BodyProof({ shown, headers, bytes: expectedBytes ?? sizeBytes, name, earlier });
  const bodies = new ResumedBodies(link, first, () => body.destroyed);
  const body: Readable = Readable.from(checked(bodies, proof, options), {
    objectMode: false,
    highWaterMark: 1024 * 1024,
  });
  // A generator that was never started does not run its `finally`.
  body.once('close', () => {
    bodies.discard();
  });
  const encoding = [headers['content-encoding'] ?? []].flat().join(', ').trim();
  const isPlain = encoding === '' || encoding.toLowerCase() === 'identity';
  return { body, sizeBytes, contentEncoding: isPlain ? undefined : encoding };
}

interface Link {
  readonly url: string;
  readonly shown: string;
  readonly options: DownloadOptions;
}

interface Reply extends BodyReply, Followed {}

async function request({ url: link, shown, options }: Link, headers?: Record<string, string>): Promise<Reply> {
  const isHttp = (url: URL): boolean => /^https?:$/.test(url.protocol);
  if (!URL.canParse(link) || !isHttp(new URL(link))) {
    throw new DownloadError('LINK_INVALID', 'the service gave a link that is no http or https URL');
  }
  const allow = (url: URL): void => {
    if (isHttp(url)) return;
    throw new DownloadError('DOWNLOAD_FAILED', `${shown} redirects to what is no http or https URL`);
  };
  try {
    const { url, response } = await follow(new URL(link), allow, options, headers);
    return { url, response, headers: response.headers, sizeBytes: readLength(response.headers) };
  } catch (error) {
    options.signal?.throwIfAborted();
    throw error instanceof DownloadError ? error : failed(error, shown);
  }
}

/** A request that brings less of the whole than this share is a poor one. */
const leastShare = 1 / 64;
const maxPoorRequests = 2;

/** The chunks of a body over as many requests as it takes, until poor ones follow each other. */
class ResumedBodies {
  readonly #link: Link;
  readonly #first: Reply;
  readonly #isDestroyed: () => boolean;
  #response: Dispatcher.ResponseData;
  #chunks: AsyncIterator<Buffer>;
  #bytes = 0;
  #askedFrom = 0;
  #poorRequests = 0;

  /** @param isDestroyed - whether its reader takes no more */
  constructor(link: Link, first: Reply, isDestroyed: () => boolean) {
    this.#link = link;
    this.#first = first;
    this.#isDestroyed = isDestroyed;
    this.#response = first.response;
    this.#chunks = readChunks(first.response);
  }

  discard(): void {
    discard(this.#response);
  }

  /** Undefined at the end. */
  async next(): Promise<Buffer | undefined> {
    for (;;) {
      try {
        const step = await this.#chunks.next();
        if (step.done === true) return undefined;
        this.#bytes += step.value.length;
        return step.value;
      } catch (error) {
        this.#link.options.signal?.throwIfAborted();
        if (!(await this.#resume())) throw failed(error, this.#link.shown);
      }
    }
  }

  /** What prevents it is less than what broke the body off: the whole begins anew either way. */
  async #resume(): Promise<boolean> {
    const fromByte = this.#bytes;
    const isPoor = fromByte - this.#askedFrom < (this.#first.sizeBytes ?? 0) * leastShare;
    this.#poorRequests = isPoor ? this.#poorRequests + 1 : 0;
    const headers = headersToResume(this.#first, fromByte);
    if (this.#isDestroyed() || headers === undefined || this.#poorRequests >= maxPoorRequests) return false;
    const next = await request(this.#link, headers).catch(() => undefined);
    this.#link.options.signal?.throwIfAborted();
    if (next === undefined) return false;
    this.#response = next.response;
    if (this.#isDestroyed() || !isRest(this.#first, { ...next, statusCode: next.response.statusCode }, fromByte))
      return false;
    this.#chunks = readChunks(next.response);
    this.#askedFrom = fromByte;
    return true;
  }
}

function readChunks({ body }: Dispatcher.ResponseData): AsyncIterator<Buffer> {
  return (body as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
}

async function* checked(
  bodies: ResumedBodies,
  proof: BodyProof,
  { onProgress }: DownloadOptions,
): AsyncGenerator<Buffer, void, undefined> {
  for (let chunk = await bodies.next(); chunk !== undefined; chunk = await bodies.next()) {
    const passed = proof.take(chunk);
    onProgress?.(proof.receivedBytes);
    if (passed !== undefined) yield passed;
  }
  const last = proof.end();
  if (last !== undefined) yield last;
}

function failed(error: unknown, shown: string): DownloadError {
  if (isAddressNotAllowed(error)) {
    const problem = `${shown} leads to a host that is not at a public address`;
    const remedy = 'add the host to LONGHAUL_STORAGE_HOSTS of the worker if that is right';
    return new DownloadError('DOWNLOAD_FAILED', `${problem}; ${remedy}`, { cause: safeCause(error) });
  }
  const words = `${shown} could not be fetched completely (${connectionFault(error) || 'connection failed'})`;
  return new DownloadError('DOWNLOAD_FAILED', words, { cause: safeCause(error) });
}

/** To be closed by the caller. The rule holds for links and redirects alike. */
export function createDownloadAgent(
  rule: ConnectionRule,
  timeouts: Timeouts = { connectMs: 5_000, idleMs: 30_000 },
): Dispatcher {
  return openAgent({ ...timeouts, addresses: rule.addresses });
}
