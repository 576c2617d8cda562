import { isIP } from 'node:net';
import path from 'node:path';
import * as z from 'zod';
import { parseServiceCodes, parseStateWords } from '../domain/service-dialect';
import { parseDuration } from '../domain/time';
import { isUri } from '../domain/uri';
import { readS3Uri } from './archive-config';

// How the texts of variables are read. What they should be stands beside each variable.

export const port = z
  .string()
  .regex(/^\d{1,5}$/)
  .transform(Number)
  .refine((value) => value <= 65_535);

/** A base URL without its trailing slash: it may have a path, but nothing that belongs to a single request. */
export const baseUrl = z
  .string()
  .refine(isBaseUrl)
  .transform((url) => url.replace(/(?<!\/)\/+$/, ''));

/** Requests a second; in the accounts file it is a number already. */
export const rate = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^\d{1,5}(\.\d{1,3})?$/)
      .transform(Number),
  ])
  .refine((perSecond) => perSecond >= 0.01 && perSecond <= 10_000);

export const wholeNumber = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number);

/**
 * Whether a text is the path of a folder, and not what a shell would have made one of. A file of variables that no shell reads
 * keeps quotes, `~` and `$HOME` as they stand: a folder of that name would be made beside the one that is meant, in a
 * container that is thrown away with it.
 */
function isFolder(text: string): boolean {
  return !/^(?:(["']).*\1$|~(?:\/|$)|\$\{|\$[A-Za-z_])|\p{Cc}/su.test(text);
}

/** A folder, or a bucket with a prefix. */
export const archive = z.string().transform((text, context) => {
  const isPlace = isUri(text);
  if (!isPlace && isFolder(text)) return { kind: 'folder', path: path.resolve(text) } as const;
  const place = isPlace ? readS3Uri(text) : undefined;
  if (place !== undefined) return { kind: 's3', ...place } as const;
  context.addIssue({ code: 'custom' });
  return z.NEVER;
});

/** A bucket with a prefix. */
export const bucketPlace = z.string().transform((text, context) => {
  const place = readS3Uri(text);
  if (place !== undefined) return place;
  context.addIssue({ code: 'custom' });
  return z.NEVER;
});

export const bucketPlaces = z
  .string()
  .transform((text) => splitList(text, ','))
  .pipe(z.array(bucketPlace));

export const duration = z.string().transform((text, context) => {
  const durationMs = parseDuration(text);
  if (durationMs !== undefined) return durationMs;
  context.addIssue({ code: 'custom' });
  return z.NEVER;
});

export const isTrue = z.enum(['true', 'false']).transform((text) => text === 'true');

export const folders = z
  .string()
  .refine(isFolder)
  .transform((text) => splitList(text, path.delimiter))
  .refine((list) => list.every(isFolder))
  .transform((list) => list.map((one) => path.resolve(one)));

export const hosts = z
  .string()
  .transform((text) => splitList(text, ',').map((host) => host.toLowerCase()))
  .refine((list) => list.every(isHost));

export const accountNames = z
  .string()
  .transform((text) => splitList(text, ','))
  .refine((names) => names.length > 0 && names.every((name) => /^[A-Za-z0-9._-]{1,80}$/.test(name)));

/** What a service calls its own headers: what follows is one word more. */
export const headerPrefix = z.string().regex(/^[A-Za-z][A-Za-z0-9-]{0,58}-$/);

export const serviceCodes = z.string().transform((text, context) => {
  const codes = parseServiceCodes(text);
  if (codes !== undefined) return codes;
  context.addIssue({ code: 'custom' });
  return z.NEVER;
});

export const serviceStates = z.string().transform((text, context) => {
  const words = parseStateWords(text);
  if (words !== undefined) return words;
  context.addIssue({ code: 'custom' });
  return z.NEVER;
});

/** A key goes into a header, so it is one word of visible characters. */
export const apiKey = z.string().regex(/^[\x21-\x7e]+$/);

/** Where callbacks come to: as it stands, for the receiver compares its path. `/health` is taken. */
export const callbackUrl = z
  .string()
  .refine(isBaseUrl)
  .transform((url) => new URL(url).href)
  .refine((url) => !['/health', '/live', '/ready'].includes(new URL(url).pathname));

/** One word in a header each; so short that it can be guessed is none. */
export const callbackTokens = z
  .string()
  .transform((text) => text.split(',').map((token) => token.trim()))
  .refine((tokens) => tokens.length <= 2 && tokens.every((token) => /^[\x21-\x7e]{16,200}$/.test(token)));

/** Scheme, host and port as a browser sends them in `Origin`; never `*` or `null`. */
export const origins = z
  .string()
  .transform((text) => splitList(text, ','))
  .refine((list) => list.every(isOrigin))
  .transform((list) => list.map((one) => new URL(one).origin));

function splitList(text: string, separator: string): string[] {
  return text
    .split(separator)
    .map((one) => one.trim())
    .filter((one) => one !== '');
}

/** An IP address and a port, not a name: it is bound. */
export function isSocketAddress(text: string): boolean {
  const [, bracketed, plain, port = ''] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  return isIP(bracketed ?? plain ?? '') === (bracketed === undefined ? 4 : 6) && Number(port) <= 65_535;
}

function isBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  const isHttp = url.protocol === 'http:' || url.protocol === 'https:';
  return isHttp && [url.username, url.password, url.search, url.hash].every((part) => part === '');
}

/** What keeps a URL from being a base URL, without its secrets; empty when that is not known. */
export function baseUrlFaults(text: string): string[] {
  if (!URL.canParse(text)) return [];
  const { protocol, username, password, search, hash } = new URL(text);
  const isHttp = protocol === 'http:' || protocol === 'https:';
  return [
    ...(isHttp ? [] : [`the scheme ${protocol.slice(0, -1)} instead of http or https`]),
    ...(username + password === '' ? [] : ['credentials before its host']),
    ...(search === '' ? [] : ['a query']),
    ...(hash === '' ? [] : ['a fragment']),
  ];
}

function isOrigin(text: string): boolean {
  return isBaseUrl(text) && new URL(text).origin === text.replace(/\/$/, '');
}

function isHost(text: string): boolean {
  // A scheme of no meaning: `https` would remove a `:443`. It takes `*`, which is no pattern here, and a lone dot.
  if (!/^[a-z0-9[]/.test(text) || text.includes('*')) return false;
  return URL.canParse(`host://${text}`) && new URL(`host://${text}`).host === text;
}

/** Levels of the worker's log, from most to least. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

/** One of {@link logLevels}. */
export type LogLevel = (typeof logLevels)[number];
