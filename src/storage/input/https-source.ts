import { basename } from 'node:path';
import { extension } from 'mime-types';
import type { Dispatcher } from 'undici';
import { safeText } from '../../core/text';
import { redactUrl, safeDecode, signatureParameterOf } from '../../core/uri';
import { ConnectionRule, isAddressNotAllowed } from '../connection-rule';
import { connectionFault, openAgent } from '../connections';
import { headBytes, hasOwnEnd } from '../content-check';
import { follow, type Followed } from '../download';
import { type BodySum, readSum } from '../download-proof';
import { SourceError } from '../errors';
import { hashOpenFile } from '../hash';
import { readRange } from '../local-file';
import { ignoreLateErrors } from '../spool';
import {
  type Fail,
  createFail,
  type OnProgress,
  type OpenedSource,
  plainFileName,
  type SourceRules,
  spoolSource,
} from './input-source';

/** Where nothing proves the end: until two in a row bring the same. */
const maxFetches = 3;
const connectMs = 5_000;
const idleMs = 30_000;

type HttpsRules = Pick<SourceRules, 'inputHosts' | 'maxBytes' | 'spoolFolder'>;
type Response = Dispatcher.ResponseData;

/** The rules hold for every redirect. What comes without a proof of its end is fetched again. */
export async function openHttpsSource(
  source: string,
  rules: HttpsRules,
  signal: AbortSignal | undefined,
  onProgress: OnProgress,
): Promise<OpenedSource> {
  const fail = createFail(redactUrl(source));
  const signature = signatureParameterOf(source);
  if (signature !== undefined) {
    const remedy =
      'a signed link is a secret that must not be kept with the task: put the file under an input root, or give the link without it if it opens without';
    throw fail('URL_SIGNED', `has the query parameter "${signature}", which looks like a signature`, remedy);
  }
  const rule = new ConnectionRule({ hosts: rules.inputHosts });
  const connections = openAgent({ connectMs, idleMs, addresses: rule.addresses });
  let previous: OpenedSource | undefined;
  try {
    for (let fetches = 0; fetches < maxFetches; fetches += 1) {
      const fetch = { rules, rule, connections, signal, fail };
      const { opened, isProven } = await fetchLink(source, fetch, onProgress);
      if (isProven || (previous !== undefined && (await isSame(opened, previous, signal)))) return opened;
      await previous?.release();
      previous = opened;
    }
  } finally {
    await previous?.release();
    await connections.destroy();
  }
  const words = `comes without a length, and with another content each time (${maxFetches} times)`;
  throw fail('FETCH_REFUSED', words, 'use an address that tells the length (Content-Length)');
}

async function isSame(one: OpenedSource, other: OpenedSource, signal: AbortSignal | undefined): Promise<boolean> {
  const [first, second] = await Promise.all([
    hashOpenFile(one.file, one.sizeBytes, signal),
    hashOpenFile(other.file, other.sizeBytes, signal),
  ]);
  return first.sha256 === second.sha256;
}

/** `isProven`: it has the announced length or hash, or came in chunks to the last. */
async function fetchLink(
  source: string,
  fetch: Fetch,
  onProgress: OnProgress,
): Promise<{ readonly opened: OpenedSource; readonly isProven: boolean }> {
  const { rules, signal, fail } = fetch;
  try {
    const { url, response } = await request(source, fetch);
    const { body } = response;
    ignoreLateErrors(body);
    requireContent(response, fail);
    const length = getHeader(response, 'content-length');
    const opened = await spoolSource(body, {
      name: toFileName(url, response),
      announcedBytes: Number(length ?? 0),
      link: { askedName: pathName(new URL(source)), mediaType: getHeader(response, 'content-type') ?? '' },
      rules,
      signal,
      onProgress,
      fail,
    });
    const isEqual = await compareSum(opened, readSum(response.headers), fetch);
    const isChunked = /\bchunked\b/i.test(getHeader(response, 'transfer-encoding') ?? '');
    const isProven = isEqual || length !== undefined || (isChunked && (await mayBeWhole(opened)));
    return { opened, isProven };
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof SourceError ? error : fromNetwork(error, fail);
  }
}

/** Whether it has the checksum of its reply; an unequal tag may be of another kind. */
async function compareSum(opened: OpenedSource, sum: BodySum | undefined, { fail }: Fetch): Promise<boolean> {
  if (sum === undefined) return false;
  for await (const chunk of readRange(opened.file, 0, opened.sizeBytes)) sum.hash.update(chunk);
  const isEqual = sum.digest() === sum.expected;
  if (isEqual || sum.header === 'etag') return isEqual;
  await opened.release();
  throw fail('FETCH_FAILED', `brought another content than its ${sum.header} says`, 'check what gives the file');
}

/** Unless the end that its format needs is missing: chunks alone do not prove that a gateway had all. */
async function mayBeWhole({ file, sizeBytes }: OpenedSource): Promise<boolean> {
  const read = async (start: number): Promise<Buffer> => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, start);
    return buffer.subarray(0, bytesRead);
  };
  return hasOwnEnd(await read(0), await read(Math.max(0, sizeBytes - headBytes)), sizeBytes) !== false;
}

interface Fetch {
  readonly rules: HttpsRules;
  readonly rule: ConnectionRule;
  readonly connections: Dispatcher;
  readonly signal: AbortSignal | undefined;
  readonly fail: Fail;
}

async function request(source: string, { rule, connections, signal, fail }: Fetch): Promise<Followed> {
  if (!URL.canParse(source)) throw fail('URL_INVALID', 'is no valid URL', 'check the address');
  const allow = (url: URL): void => {
    if (url.username !== '' || url.password !== '') {
      throw fail('URL_INVALID', 'has a user name or password in it', 'use an address that needs none');
    }
    if (url.protocol === 'https:' || (url.protocol === 'http:' && rule.isConfigured(url))) return;
    const remedy = 'use https:, or add the host to LONGHAUL_INPUT_HOSTS of the worker';
    throw fail('HOST_NOT_ALLOWED', `leads to ${url.protocol}//${url.host}, which is not https`, remedy);
  };
  return await follow(new URL(source), allow, { dispatcher: connections, signal });
}

function requireContent(response: Response, fail: Fail): void {
  const { statusCode } = response;
  if (statusCode === 200) {
    const encoding = getHeader(response, 'content-encoding')?.trim().toLowerCase() ?? '';
    if (encoding === '' || encoding === 'identity') return;
    // The encoded bytes would be another file under this name, and paid for.
    const remedy = 'use an address that gives the file as it is';
    const words = `comes encoded (Content-Encoding: ${safeText(encoding, [], 40)}), although it was asked for as it is`;
    throw fail('FETCH_REFUSED', words, remedy);
  }
  const isTemporary = statusCode >= 500 || statusCode === 429 || statusCode === 408;
  const code = isTemporary ? 'FETCH_FAILED' : 'FETCH_REFUSED';
  const isRedirect = statusCode >= 300 && statusCode < 400;
  const remedy = isRedirect
    ? 'use the address that it leads to in the end'
    : 'check that the address gives the file to anyone';
  throw fail(code, `was answered with HTTP ${statusCode}`, remedy);
}

function fromNetwork(error: unknown, fail: Fail): SourceError {
  if (isAddressNotAllowed(error)) {
    const remedy = 'use a public address, or add the host to LONGHAUL_INPUT_HOSTS of the worker';
    return fail('HOST_NOT_ALLOWED', 'leads to an address that is not public', remedy, error);
  }
  const fault = connectionFault(error) || 'connection failed';
  return fail('FETCH_FAILED', `could not be fetched (${fault})`, 'check the address', error);
}

/** With an extension by the reply's type when it has none, unless that is a page's. */
function toFileName(url: URL, response: Response): string {
  const name = pathName(url);
  if (/\.[A-Za-z0-9]{1,10}$/.test(name)) return name;
  const ext = extension(getHeader(response, 'content-type') ?? '');
  return ext === false || /^(html|json|xml)$/.test(ext) ? name : `${name}.${ext}`;
}

function pathName(url: URL): string {
  return plainFileName(safeDecode(basename(url.pathname)));
}

function getHeader(response: Response, name: string): string | undefined {
  const value = response.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
