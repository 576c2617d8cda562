import { basename } from 'node:path';
import { extension } from 'mime-types';
import type { Dispatcher } from 'undici';
import { safeText } from '../../domain/text';
import { redactUrl, signatureParameterOf } from '../../domain/uri';
import { ConnectionRule, isAddressNotAllowed } from '../connection-rule';
import { connectionFault, openAgent } from '../connections';
import { SourceError } from '../errors';
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

const maxRedirects = 3;
const connectMs = 5_000;
/** Without a byte from the other side. */
const idleMs = 30_000;

type HttpsRules = Pick<SourceRules, 'inputHosts' | 'maxBytes' | 'spoolFolder'>;
type Response = Dispatcher.ResponseData;

/** Fetches a URL into a temporary file, within the rules, which hold for every redirect as well. */
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
  try {
    const { url, response } = await follow(parse(source, fail), { rule, connections, signal, fail });
    const { body } = response;
    // Before the first wait: a body that fails before it is read would end the process.
    ignoreLateErrors(body);
    requireContent(response, fail);
    const announcedBytes = Number(getHeader(response, 'content-length') ?? 0);
    return await spoolSource(body, {
      name: toFileName(url, response),
      announcedBytes,
      rules,
      signal,
      onProgress,
      fail,
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof SourceError ? error : fromNetwork(error, fail);
  } finally {
    await connections.destroy();
  }
}

interface Fetch {
  readonly rule: ConnectionRule;
  readonly connections: Dispatcher;
  readonly signal: AbortSignal | undefined;
  readonly fail: Fail;
}

function parse(address: string, fail: Fail, base?: URL): URL {
  if (!URL.canParse(address, base?.href)) throw fail('URL_INVALID', 'is no valid URL', 'check the address');
  const url = new URL(address, base);
  if (url.username !== '' || url.password !== '') {
    throw fail('URL_INVALID', 'has a user name or password in it', 'use an address that needs none');
  }
  return url;
}

/** Asks for the URL and where it redirects to, each on a connection that the rules allow. */
async function follow(
  start: URL,
  { rule, connections, signal, fail }: Fetch,
): Promise<{ url: URL; response: Response }> {
  let url = start;
  for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && rule.isConfigured(url))) {
      const remedy = 'use https:, or add the host to LONGHAUL_INPUT_HOSTS of the worker';
      throw fail('HOST_NOT_ALLOWED', `leads to ${url.protocol}//${url.host}, which is not https`, remedy);
    }
    const response = await connections.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: 'GET',
      headers: { 'accept-encoding': 'identity' },
      signal: signal ?? null,
    });
    const location = isRedirect(response.statusCode) ? getHeader(response, 'location') : undefined;
    if (location === undefined) return { url, response };
    // Not read, as it may be endless.
    response.body.on('error', () => undefined).destroy();
    url = parse(location, fail, url);
  }
  throw fail('FETCH_REFUSED', `redirects more than ${maxRedirects} times`, 'use the address it ends at');
}

function requireContent(response: Response, fail: Fail): void {
  const { statusCode } = response;
  if (statusCode === 200) {
    const encoding = getHeader(response, 'content-encoding')?.trim().toLowerCase() ?? '';
    if (encoding === '' || encoding === 'identity') return;
    // Kept as they come, the bytes would be those of another file under the name of this one, and paid for.
    const remedy = 'use an address that gives the file as it is';
    const words = `comes encoded (Content-Encoding: ${safeText(encoding, [], 40)}), although it was asked for as it is`;
    throw fail('FETCH_REFUSED', words, remedy);
  }
  const isTemporary = statusCode >= 500 || statusCode === 429 || statusCode === 408;
  const code = isTemporary ? 'FETCH_FAILED' : 'FETCH_REFUSED';
  throw fail(code, `was answered with HTTP ${statusCode}`, 'check that the address gives the file to anyone');
}

function fromNetwork(error: unknown, fail: Fail): SourceError {
  if (isAddressNotAllowed(error)) {
    const remedy = 'use a public address, or add the host to LONGHAUL_INPUT_HOSTS of the worker';
    return fail('HOST_NOT_ALLOWED', 'leads to an address that is not public', remedy, error);
  }
  const fault = connectionFault(error) || 'connection failed';
  return fail('FETCH_FAILED', `could not be fetched (${fault})`, 'check the address', error);
}

/** The file name of the URL's path, with an extension by the reply's type when it has none. */
function toFileName(url: URL, response: Response): string {
  const name = plainFileName(safeDecode(basename(url.pathname)));
  if (/\.[A-Za-z0-9]{1,10}$/.test(name)) return name;
  const ext = extension(getHeader(response, 'content-type') ?? '');
  return ext === false ? name : `${name}.${ext}`;
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function isRedirect(statusCode: number): boolean {
  return [301, 302, 303, 307, 308].includes(statusCode);
}

function getHeader(response: Response, name: string): string | undefined {
  const value = response.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
