import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Payload } from '@temporalio/common';
import type { Logger } from 'pino';
import * as v from 'valibot';
import { PayloadBrokenError, PayloadCipher } from '../client/codec/payload-cipher';
import type { CodecServerConfig } from '../config/codec-keys';
import { ConfigError } from '../config/environment';
import { isRecord, parseJson } from '../core/json';
import { errorMessage, safeText } from '../core/text';
import {
  type Answer,
  createTokenCheck,
  healthAnswer,
  limitInFlight,
  listen,
  type ListeningServer,
  pathOf,
  readBody,
} from './listening-server';

export interface CodecServerOptions {
  readonly config: CodecServerConfig;
  readonly logger: Logger;
  /** A request's body, in bytes. @default 8 MiB: a page of a history has at most 4 MiB, and base64 a third more */
  readonly maxBodyBytes?: number;
  /** @default 16 */
  readonly maxInFlight?: number;
  /** How long a request may take to arrive. @default 10,000 */
  readonly requestTimeoutMs?: number;
}

/** What is logged holds neither a token nor anything of a payload. */
interface Handled extends Answer {
  /** Absent for requests that are not logged, such as health checks. */
  readonly outcome?: string;
  /** As the caller names it. */
  readonly namespace?: string;
  readonly payloads?: number;
  /** How many were left as they are, and why the first was. */
  readonly unreadable?: { readonly payloads: number; readonly reason: string };
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
/** Far more than a page of a history has; each costs memory and blocks other answers. */
const maxPayloads = 10_000;
/** Of all payloads together; each has one to three. */
const maxMetadata = 5 * maxPayloads;

/** The protocol has bytes in base64. */
const base64 = v.pipe(
  v.string(),
  v.transform((text) => Buffer.from(text, 'base64')),
);
const record = v.custom<Record<string, unknown>>(isRecord);
const payload = v.pipe(
  record,
  v.object({ metadata: v.nullish(v.pipe(record, v.record(v.string(), base64)), {}), data: v.nullish(base64) }),
);
const requestBody = v.object({ payloads: v.array(payload) });

/** Temporal's remote codec protocol; checks who asks. Rejects with the system's error if the address is unavailable. */
export async function startCodecServer(options: CodecServerOptions): Promise<ListeningServer> {
  const { config, logger, requestTimeoutMs = 10_000, maxBodyBytes = 8 * 1024 ** 2, maxInFlight = 16 } = options;
  const { codecKeys, host, port, tokens, origins, mayEncode } = config;
  const cipher = new PayloadCipher(codecKeys);
  const isAccepted = tokens === null ? () => true : createTokenCheck(tokens);
  const inTurn = limitInFlight<Handled>(maxInFlight, {
    httpStatus: 503,
    headers: { 'retry-after': '1' },
    outcome: 'too many at the same time',
  });

  const handleAllowed = async (request: IncomingMessage, verb: string | undefined): Promise<Handled> => {
    if (verb === undefined) return { httpStatus: 404, outcome: 'another path' };
    if (request.method === 'OPTIONS') return { httpStatus: 204 };
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
    return await inTurn(() => convert(request, verb, cipher, maxBodyBytes));
  };
  const handle = async (request: IncomingMessage): Promise<Handled> => {
    const { origin } = request.headers;
    const path = pathOf(request);
    if (healthPaths.includes(path)) return healthAnswer(request, true);
    // A browser names the page that calls; other callers name none.
    if (origin !== undefined && !origins.includes(origin)) {
      return { httpStatus: 403, outcome: 'a page of another origin' };
    }
    const answer = await handleAllowed(request, codecPath.exec(path)?.[1]);
    const allowed = origin === undefined ? {} : { 'access-control-allow-origin': origin, ...corsHeaders };
    return { ...answer, headers: { ...answer.headers, ...allowed, vary: 'origin', 'cache-control': 'no-store' } };
  };

  const server = await listen({
    port,
    host,
    requestTimeoutMs,
    logger,
    logAs: 'codec request',
    handle,
    onAnswered: ({ httpStatus, outcome, namespace, payloads, unreadable }, durationMs) => {
      if (outcome === undefined) return;
      // Reads are logged, to show who read what; requests for other paths are usual.
      let level: 'debug' | 'info' | 'warn' = httpStatus === 200 && unreadable === undefined ? 'info' : 'warn';
      if (httpStatus === 404 || httpStatus === 405) level = 'debug';
      logger[level]({ outcome, httpStatus, namespace, payloads, unreadable, durationMs }, 'codec request');
    },
  });
  const place = { address: host, port: server.port, origins };
  logger.info({ ...place, keys: [...codecKeys.keys.keys()], mayEncode }, 'codec server started');
  return server;
}

async function convert(
  request: IncomingMessage,
  verb: string,
  cipher: PayloadCipher,
  maxBodyBytes: number,
): Promise<Handled> {
  const namespace = safeText(String(request.headers['x-namespace'] ?? ''), [], maxNamespaceLength);
  const body = await readBody(request, maxBodyBytes);
  if (body === undefined) return { httpStatus: 413, outcome: 'too large', namespace };
  const json = parseJson(body.toString('utf8'));
  if (hasTooMany(json)) return { httpStatus: 413, outcome: 'too much in it', namespace };
  const parsed = v.safeParse(requestBody, json);
  if (!parsed.success) return { httpStatus: 400, outcome: 'malformed', namespace };
  const reasons: string[] = [];
  const converted = parsed.output.payloads.map((one) =>
    verb === 'encode' ? cipher.encrypt(one) : decryptOrKeep(cipher, one, reasons),
  );
  const [reason] = reasons;
  return {
    httpStatus: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ payloads: converted.map(toJson) }),
    outcome: verb === 'encode' ? 'encoded' : 'decoded',
    namespace,
    payloads: converted.length,
    unreadable: reason === undefined ? undefined : { payloads: reasons.length, reason },
  };
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

/** An unreadable payload must not hide the others of a page. */
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
