import { isIP } from 'node:net';
import path from 'node:path';
import * as z from 'zod';
import { parseServiceDialect } from '../core/service-dialect';
import { parseDuration } from '../core/time';
import { isUri, parseS3Uri } from '../core/uri';
import { maxWorkflowTasks } from '../core/workflow-tasks';

// How the texts of variables are read. What they should be stands beside each variable.

export const port = z
  .string()
  .regex(/^\d{1,5}$/)
  .transform(Number)
  .refine((value) => value <= 65_535);

/** A text that `parse` reads; it returns undefined for one that cannot be used. */
function parsed<Value>(parse: (text: string) => Value | undefined) {
  return z.string().transform((text, context): Value => {
    const value = parse(text);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom' });
    return z.NEVER;
  });
}

/** A base URL without its trailing slash: it may have a path, but nothing that belongs to a single request. */
export const baseUrl = z
  .string()
  .refine(isBaseUrl, 'the base URL of a service, without a query')
  .transform((url) => url.replace(/(?<!\/)\/+$/, ''));

/** Requests a second. */
export const rate = z
  .string()
  .regex(/^\d{1,5}(\.\d{1,3})?$/)
  .transform(Number)
  .refine((perSecond) => perSecond >= 0.01 && perSecond <= 10_000);

export const wholeNumber = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number);

/** Not with quotes, `~` and `$HOME`, which a file of variables keeps as they stand: a folder of that name would be made. */
function isFolder(text: string): boolean {
  return !/^(?:(["']).*\1$|~(?:\/|$)|\$\{|\$[A-Za-z_])|\p{Cc}/su.test(text);
}

/** Outputs are kept in a folder. */
export interface FolderArchiveConfig {
  readonly kind: 'folder';
  /** Absolute. */
  readonly path: string;
}

/** Outputs are kept in a bucket. Endpoint, region and credentials are in `AWS_*`, which the AWS SDK reads itself. */
export interface BucketArchiveConfig {
  readonly kind: 's3';
  readonly bucket: string;
  /** What all keys begin with, without slashes at its ends; may be empty. */
  readonly prefix: string;
  /** Whether the bucket stands in the path of a URL instead of its host. */
  readonly isPathStyle: boolean;
}

/** Where outputs, manifests and create records are kept. */
export type ArchiveConfig = FolderArchiveConfig | BucketArchiveConfig;

/** Bucket and prefix in `s3://bucket/prefix`; undefined when it is none. */
function readS3Uri(uri: string): Pick<BucketArchiveConfig, 'bucket' | 'prefix'> | undefined {
  const place = parseS3Uri(uri.replace(/\/$/, ''));
  return place === undefined || /[?#]/.test(place.key) ? undefined : { bucket: place.bucket, prefix: place.key };
}

/** A folder, or a bucket with a prefix. */
export const archive = parsed((text) => {
  if (!isUri(text)) return isFolder(text) ? ({ kind: 'folder', path: path.resolve(text) } as const) : undefined;
  const place = readS3Uri(text);
  return place && ({ kind: 's3', ...place } as const);
});

/** A bucket with a prefix. */
export const bucketPlace = parsed(readS3Uri);

export const bucketPlaces = z
  .string()
  .transform((text) => splitList(text, ','))
  .pipe(z.array(bucketPlace));

export const duration = parsed(parseDuration);

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

export const serviceDialect = parsed(parseServiceDialect);

/** How much a worker does at the same time. */
export interface WorkerSlots {
  /**
   * Workflow tasks. Under the timer watch each query holds one until it is answered, and a stalled service may hold 48
   * for each account; 400 of them at once took two minutes of a small machine after a restart.
   */
  readonly workflowTasks: number;
  /** Creates and other short calls; creates that wait for their turn hold at most half of them. */
  readonly activities: number;
  readonly uploads: number;
  readonly archives: number;
  /** Tasks that are watched by activity; a slot that waits costs nothing. */
  readonly watches: number;
  /** Workflows kept in memory; each costs about a megabyte. */
  readonly cachedWorkflows: number;
  /** Requests for work that wait at Temporal, for each kind of work. */
  readonly pollers: number;
}

export const defaultSlots: WorkerSlots = Object.freeze({
  workflowTasks: maxWorkflowTasks,
  activities: 200,
  uploads: 16,
  archives: 16,
  watches: 5_000,
  cachedWorkflows: 500,
  pollers: 10,
});

/** Temporal's SDK needs two of these. */
const atLeastTwo = ['workflowTasks', 'activities', 'pollers'];
/** More slots than any machine could serve. */
const maxSlots = 100_000;

/** Reads `uploads=4,archives=4`, the rest by default. */
export const slots = parsed((text): WorkerSlots | undefined => {
  const given: Record<string, number> = {};
  for (const entry of splitList(text, ',')) {
    const [, name = '', digits = ''] = /^(\w+)\s*=\s*(\d{1,6})$/.exec(entry) ?? [];
    const count = Number(digits);
    const most = name === 'workflowTasks' ? maxWorkflowTasks : maxSlots;
    if (!(name in defaultSlots) || name in given || count < (atLeastTwo.includes(name) ? 2 : 1) || count > most) {
      return undefined;
    }
    given[name] = count;
  }
  return Object.freeze({ ...defaultSlots, ...given });
});

const choices = ['tuning', 'recreate'] as const;

/** What inputs of tasks may not choose. */
export const refusedChoices = z
  .string()
  .transform((text) => splitList(text, ','))
  .pipe(z.array(z.enum(choices)));

/** `build` or `deployment/build`. */
export const buildVersion = parsed((text) => {
  const [, deploymentName = 'longhaul', buildId] =
    /^(?:([A-Za-z0-9][A-Za-z0-9_-]{0,79})\/)?([A-Za-z0-9][A-Za-z0-9._-]{0,79})$/.exec(text) ?? [];
  return buildId === undefined ? undefined : { deploymentName, buildId };
});

/** A key goes into a header, so it is one word of visible characters. */
export const apiKey = z.string().regex(/^[\x21-\x7e]+$/, 'one word of visible characters');

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
  .refine((list) => list.every((one) => isBaseUrl(one) && new URL(one).origin === one.replace(/\/$/, '')))
  .transform((list) => list.map((one) => new URL(one).origin));

function splitList(text: string, separator: string): string[] {
  return text
    .split(separator)
    .map((one) => one.trim())
    .filter((one) => one !== '');
}

/** An IP address and a port, not a name: it is bound. */
export interface SocketAddress {
  readonly host: string;
  readonly port: number;
}

function parseSocketAddress(text: string): SocketAddress | undefined {
  const [, bracketed, plain = '', digits = ''] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const isAddress = isIP(host) === (bracketed === undefined ? 4 : 6) && Number(digits) <= 65_535;
  return isAddress ? { host, port: Number(digits) } : undefined;
}

export const socketAddress = parsed(parseSocketAddress);

/** Where the metrics of a process go: Prometheus asks for them at an address, or a collector gets them. */
export type MetricsConfig =
  { readonly kind: 'prometheus'; readonly address: string } | { readonly kind: 'otlp'; readonly url: string };

export const metricsPlace = parsed((text): MetricsConfig | undefined => {
  if (parseSocketAddress(text) !== undefined) return { kind: 'prometheus', address: text };
  const isUrl = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  return isUrl ? { kind: 'otlp', url: text } : undefined;
});

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

function isHost(text: string): boolean {
  // A scheme of no meaning: `https` would remove a `:443`. It takes `*`, which is no pattern here, and a lone dot.
  if (!/^[a-z0-9[]/.test(text) || text.includes('*')) return false;
  return URL.canParse(`host://${text}`) && new URL(`host://${text}`).host === text;
}

/** Levels of the worker's log, from most to least. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

/** One of {@link logLevels}. */
export type LogLevel = (typeof logLevels)[number];
