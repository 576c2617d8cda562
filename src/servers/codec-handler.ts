import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Payload } from '@temporalio/common';
import * as z from 'zod';
import { ConfigError } from '../config/environment';
import { isRecord, parseJson } from '../core/json';
import { errorMessage, safeText } from '../core/text';
import { readBody } from './incoming-request';
import { PayloadBrokenError, type PayloadCipher } from '../client/codec/payload-cipher';

/** The answer to one request, and what is logged of it. What is logged holds neither a token nor anything of a payload. */
export interface HandledRequest {
  readonly httpStatus: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: string;
  /** For the log; absent for requests that are not logged, such as health checks. */
  readonly outcome?: string;
  /** As the caller names it. */
  readonly namespace?: string;
  readonly payloads?: number;
  /** How many were left as they are, and why the first of them was. */
  readonly unreadable?: { readonly payloads: number; readonly reason: string };
}

/** Options of a {@link CodecHandler}. */
export interface CodecHandlerOptions {
  readonly cipher: PayloadCipher;
  readonly mayEncode: boolean;
  /** Of the pages that a browser may call from. */
  readonly origins: readonly string[];
  readonly isAccepted: (authorization: string | undefined) => boolean;
  readonly maxBodyBytes: number;
  /** Requests that are read at the same time; further ones are answered with 503 and Retry-After. */
  readonly maxInFlight: number;
}

const healthPaths: readonly string[] = ['/live', '/ready', '/health'];
/** `temporal --codec-endpoint 'http://…/{namespace}'` puts the namespace in front. */
const codecPath = /^(?:\/[^/]{1,200})?\/(encode|decode)$/;
const corsHeaders: OutgoingHttpHeaders = {
  'access-control-allow-methods': 'POST, OPTIONS',
  'access-control-allow-headers': 'authorization, content-type, x-namespace',
  // A proxy in front may know people by their cookies.
  'access-control-allow-credentials': 'true',
  'access-control-max-age': '600',
};
const maxNamespaceLength = 100;
/** A page of a history has far fewer; each costs memory, and time in which nothing else is answered, before it is looked at. */
const maxPayloads = 10_000;
/** Of all payloads together: each of Temporal's and of this codec has one to three. */
const maxMetadata = 5 * maxPayloads;

/** Payloads as the protocol has them: bytes are in base64. */
const base64 = z.string().transform((text) => Buffer.from(text, 'base64'));
const payload = z
  .object({ metadata: z.record(z.string(), base64).nullish(), data: base64.nullish() })
  .transform(({ metadata, data }): Payload => ({ metadata: metadata ?? {}, data: data ?? undefined }));
const requestBody = z.object({ payloads: z.array(payload) });

/** Handles each request of Temporal's remote codec protocol: checks who asks, and decrypts or encrypts. */
export class CodecHandler {
  readonly #options: CodecHandlerOptions;
  #inFlight = 0;

  constructor(options: CodecHandlerOptions) {
    this.#options = options;
  }

  /** Rejects when the sender gives up before its request is there. */
  async handle(request: IncomingMessage): Promise<HandledRequest> {
    const { origin } = request.headers;
    const [path = ''] = (request.url ?? '').split('?', 1);
    if (healthPaths.includes(path)) return health(request);
    // A browser tells which page calls; what it does not tell comes from no page.
    if (origin !== undefined && !this.#options.origins.includes(origin)) {
      return { httpStatus: 403, headers: {}, outcome: 'a page of another origin' };
    }
    const answer = await this.#handleAllowed(request, codecPath.exec(path)?.[1]);
    const allowed = origin === undefined ? {} : { 'access-control-allow-origin': origin, ...corsHeaders };
    return { ...answer, headers: { ...answer.headers, ...allowed, vary: 'origin', 'cache-control': 'no-store' } };
  }

  async #handleAllowed(request: IncomingMessage, verb: string | undefined): Promise<HandledRequest> {
    const { isAccepted, mayEncode, maxInFlight } = this.#options;
    if (verb === undefined) return { httpStatus: 404, headers: {}, outcome: 'another path' };
    if (request.method === 'OPTIONS') return { httpStatus: 204, headers: {} };
    if (request.method !== 'POST') {
      return { httpStatus: 405, headers: { allow: 'POST, OPTIONS' }, outcome: 'another method' };
    }
    if (!isAccepted(request.headers.authorization)) {
      return { httpStatus: 401, headers: { 'www-authenticate': 'Bearer' }, outcome: 'wrong token' };
    }
    if (verb === 'encode' && !mayEncode) {
      const body = 'This codec server only decodes. LONGHAUL_CODEC_ENCODE=true lets it encode, too.\n';
      return { httpStatus: 403, headers: { 'content-type': 'text/plain' }, body, outcome: 'may not encode' };
    }
    if (this.#inFlight >= maxInFlight) {
      return { httpStatus: 503, headers: { 'retry-after': '1' }, outcome: 'too many at the same time' };
    }
    this.#inFlight += 1;
    try {
      return await this.#convert(request, verb);
    } finally {
      this.#inFlight -= 1;
    }
  }

  async #convert(request: IncomingMessage, verb: string): Promise<HandledRequest> {
    const { cipher, maxBodyBytes } = this.#options;
    const namespace = safeText(String(request.headers['x-namespace'] ?? ''), [], maxNamespaceLength);
    const body = await readBody(request, maxBodyBytes);
    if (body === undefined) return { httpStatus: 413, headers: {}, outcome: 'too large', namespace };
    const json = parseJson(body.toString('utf8'));
    if (hasTooMany(json)) return { httpStatus: 413, headers: {}, outcome: 'too much in it', namespace };
    const parsed = requestBody.safeParse(json);
    if (!parsed.success) return { httpStatus: 400, headers: {}, outcome: 'malformed', namespace };
    const given = parsed.data.payloads;
    const reasons: string[] = [];
    const converted = given.map((one) =>
      verb === 'encode' ? cipher.encrypt(one) : decryptOrKeep(cipher, one, reasons),
    );
    const [reason] = reasons;
    return {
      httpStatus: 200,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ payloads: converted.map(toJson) }),
      outcome: verb === 'encode' ? 'encoded' : 'decoded',
      namespace,
      payloads: given.length,
      unreadable: reason === undefined ? undefined : { payloads: reasons.length, reason },
    };
  }
}

function hasTooMany(json: unknown): boolean {
  const payloads: unknown = isRecord(json) ? json['payloads'] : undefined;
  if (!Array.isArray(payloads)) return false;
  if (payloads.length > maxPayloads) return true;
  let metadata = 0;
  for (const one of payloads as readonly unknown[]) {
    const given = isRecord(one) ? one['metadata'] : undefined;
    if (isRecord(given)) metadata += Object.keys(given).length;
  }
  return metadata > maxMetadata;
}

/** One payload that cannot be read must not hide the others of a page. */
function decryptOrKeep(cipher: PayloadCipher, payload: Payload, reasons: string[]): Payload {
  try {
    return cipher.decrypt(payload);
  } catch (error) {
    if (!(error instanceof ConfigError) && !(error instanceof PayloadBrokenError)) throw error;
    reasons.push(error instanceof ConfigError ? error.problems.join(' ') : errorMessage(error));
    return payload;
  }
}

function toJson({ metadata, data }: Payload): object {
  const entries = Object.entries(metadata ?? {}).map(([name, value]) => [name, toBase64(value)] as const);
  return { metadata: Object.fromEntries(entries), data: data == null ? undefined : toBase64(data) };
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** No word but the status: the endpoint needs no token. */
function health({ method }: IncomingMessage): HandledRequest {
  if (method === 'GET' || method === 'HEAD') return { httpStatus: 200, headers: {} };
  return { httpStatus: 405, headers: { allow: 'GET, HEAD' } };
}
