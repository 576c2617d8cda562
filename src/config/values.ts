import { isIP } from 'node:net';
import path from 'node:path';
import { isUri, parseS3Uri } from '../core/uri';
import { maxWorkflowTasks } from '../core/workflow-tasks';

/** Undefined: the text cannot be used. What to give instead stands beside each variable. */
export type Parse<Value> = (text: string) => Value | undefined;

function numberLike(pattern: RegExp, least: number, most = Infinity): Parse<number> {
  return (text) => {
    const value = pattern.test(text) ? Number(text) : Number.NaN;
    return value >= least && value <= most ? value : undefined;
  };
}

function textLike(pattern: RegExp): Parse<string> {
  return (text) => (pattern.test(text) ? text : undefined);
}

export function oneOf<const Word extends string>(words: readonly Word[]): Parse<Word> {
  return (text) => words.find((word) => word === text);
}

/** Without surrounding spaces; empty parts are left out. */
function listOf<Value>(parse: Parse<Value>, separator = ','): Parse<readonly Value[]> {
  return (text) => {
    const parts = text.split(separator).map((part) => part.trim());
    const values = parts.filter((part) => part !== '').map(parse);
    return values.includes(undefined) ? undefined : (values as Value[]);
  };
}

export const port = numberLike(/^\d{1,5}$/, 0, 65_535);

/** Requests a second. */
export const rate = numberLike(/^\d{1,5}(\.\d{1,3})?$/, 0.01, 10_000);

export function byteCount(least: number): Parse<number> {
  return numberLike(/^\d{1,15}$/, least);
}

export const isTrue: Parse<boolean> = (text) => {
  const word = oneOf(['true', 'false'])(text);
  return word && word === 'true';
};

export const archiveDigits = textLike(/^[0-9a-f]{8}$/);

/** A key goes into a header, so it is one word of visible characters. */
export const apiKey = textLike(/^[\x21-\x7e]+$/);

/** Three octal digits that leave the owner every right. */
export const umask: Parse<number> = (text) => (/^0?0[0-7]{2}$/.test(text) ? Number.parseInt(text, 8) : undefined);

/** The name of an account, a webhook or a key. */
export const namePattern = /^[A-Za-z0-9._-]{1,80}$/;

export const accountNames: Parse<readonly string[]> = (text) => {
  const names = listOf(textLike(namePattern))(text);
  return names?.length === 0 ? undefined : names;
};

/** What inputs of tasks may not choose. */
export const refusedChoices = listOf(oneOf(['tuning', 'recreate']));

/** A base URL without its trailing slash: it may have a path, but nothing that belongs to a single request. */
export const baseUrl: Parse<string> = (text) => {
  return URL.canParse(text) && baseUrlFaults(text).length === 0 ? text.replace(/(?<!\/)\/+$/, '') : undefined;
};

/** What keeps a URL from being a base URL, without its secrets. */
export function baseUrlFaults(text: string): string[] {
  const { protocol, username, password, search, hash } = new URL(text);
  const faults: string[] = [];
  if (!/^https?:$/.test(protocol)) faults.push(`the scheme ${protocol.slice(0, -1)} instead of http or https`);
  if (username + password !== '') faults.push('credentials before its host');
  if (search !== '') faults.push('a query');
  if (hash !== '') faults.push('a fragment');
  return faults;
}

/** Where callbacks come to: as it stands, for the receiver compares its path. Those of its health are taken. */
export const callbackUrl: Parse<string> = (text) => {
  const url = baseUrl(text) === undefined ? undefined : new URL(text);
  return url === undefined || ['/health', '/live', '/ready'].includes(url.pathname) ? undefined : url.href;
};

/** One word in a header each, too long to be guessed. */
export const callbackTokens: Parse<readonly string[]> = (text) => {
  const tokens = text.split(',').map((token) => token.trim());
  return tokens.length <= 2 && tokens.every((token) => /^[\x21-\x7e]{16,200}$/.test(token)) ? tokens : undefined;
};

/** As a browser sends them in `Origin`; never `*` or `null`. */
export const origins = listOf((text) => {
  const origin = baseUrl(text) === undefined ? undefined : new URL(text).origin;
  return origin === text.replace(/\/$/, '') ? origin : undefined;
});

export const hosts = listOf((text) => {
  const host = text.toLowerCase();
  // A scheme of no meaning: `https` would remove a `:443`. It takes `*`, which is no pattern here, and a lone dot.
  if (!/^[a-z0-9[]/.test(host) || host.includes('*') || !URL.canParse(`host://${host}`)) return undefined;
  return new URL(`host://${host}`).host === host ? host : undefined;
});

/** Absolute. Not with quotes, `~` or `$HOME`, which a file of variables keeps: a folder of that name would be made. */
const folder: Parse<string> = (text) => {
  return /^(?:(["']).*\1$|~(?:\/|$)|\$\{|\$[A-Za-z_])|\p{Cc}/su.test(text) ? undefined : path.resolve(text);
};

export const folders: Parse<readonly string[]> = (text) => {
  return folder(text) === undefined ? undefined : listOf(folder, path.delimiter)(text);
};

export interface FolderArchiveConfig {
  readonly kind: 'folder';
  /** Absolute. */
  readonly path: string;
}

/** The AWS SDK reads endpoint, region and credentials from `AWS_*`. */
export interface BucketPlace {
  readonly bucket: string;
  /** What all keys begin with, without slashes at its ends; may be empty. */
  readonly prefix: string;
}

export interface BucketArchiveConfig extends BucketPlace {
  readonly kind: 's3';
  /** Whether the bucket stands in the path of a URL instead of its host. */
  readonly isPathStyle: boolean;
}

/** Where outputs, manifests and create records are kept. */
export type ArchiveConfig = FolderArchiveConfig | BucketArchiveConfig;

/** `s3://bucket/prefix`. */
export const bucketPlace: Parse<BucketPlace> = (uri) => {
  const place = parseS3Uri(uri.replace(/\/$/, ''));
  return place === undefined || /[?#]/.test(place.key) ? undefined : { bucket: place.bucket, prefix: place.key };
};

export const bucketPlaces = listOf(bucketPlace);

export const archive: Parse<FolderArchiveConfig | Omit<BucketArchiveConfig, 'isPathStyle'>> = (text) => {
  if (isUri(text)) {
    const place = bucketPlace(text);
    return place && { kind: 's3', ...place };
  }
  const absolute = folder(text);
  return absolute === undefined ? undefined : { kind: 'folder', path: absolute };
};

/** How much a worker does at the same time. */
export interface WorkerSlots {
  /** A query of the timer watch holds one: 48 an account if the service stalls. 400 delay a restart by minutes. */
  readonly workflowTasks: number;
  /** Creates and other short calls; creates that wait hold at most half of them. */
  readonly activities: number;
  readonly uploads: number;
  readonly archives: number;
  /** Of the watch by activity; a slot that waits costs nothing. */
  readonly watches: number;
  /** In memory; each costs about a megabyte. */
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

/** The SDK needs two of these. */
const atLeastTwo = ['workflowTasks', 'activities', 'pollers'];
/** More slots than any machine could serve. */
const maxSlots = 100_000;

/** `uploads=4,archives=4`, the rest by default. */
export const slots: Parse<WorkerSlots> = (text) => {
  const pairs = listOf((entry) => {
    const [, name = '', digits = ''] = /^(\w+)\s*=\s*(\d{1,6})$/.exec(entry) ?? [];
    const count = Number(digits);
    const least = atLeastTwo.includes(name) ? 2 : 1;
    const most = name === 'workflowTasks' ? maxWorkflowTasks : maxSlots;
    return Object.hasOwn(defaultSlots, name) && count >= least && count <= most ? ([name, count] as const) : undefined;
  })(text);
  const given = new Map(pairs);
  if (pairs === undefined || given.size < pairs.length) return undefined;
  return Object.freeze({ ...defaultSlots, ...Object.fromEntries(given) });
};

/** `build` or `deployment/build`. */
export const buildVersion: Parse<{ readonly deploymentName: string; readonly buildId: string }> = (text) => {
  const [, deploymentName = 'longhaul', buildId] =
    /^(?:([A-Za-z0-9][A-Za-z0-9_-]{0,79})\/)?([A-Za-z0-9][A-Za-z0-9._-]{0,79})$/.exec(text) ?? [];
  return buildId === undefined ? undefined : { deploymentName, buildId };
};

/** An IP address, not a name: it is bound. */
export interface SocketAddress {
  readonly host: string;
  readonly port: number;
}

export const socketAddress: Parse<SocketAddress> = (text) => {
  const [, bracketed, plain = '', digits = ''] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const isAddress = isIP(host) === (bracketed === undefined ? 4 : 6) && Number(digits) <= 65_535;
  return isAddress ? { host, port: Number(digits) } : undefined;
};

/** Where the metrics of a process go: Prometheus asks for them at an address, or a collector gets them. */
export type MetricsConfig =
  { readonly kind: 'prometheus'; readonly address: string } | { readonly kind: 'otlp'; readonly url: string };

export const metricsPlace: Parse<MetricsConfig> = (text) => {
  if (socketAddress(text) !== undefined) return { kind: 'prometheus', address: text };
  const isUrl = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  return isUrl ? { kind: 'otlp', url: text } : undefined;
};

export function isLoopback(host: string): boolean {
  return host === '::1' || host.startsWith('127.');
}

/** Whether what is sent to this URL crosses a network unencrypted; this machine is none. */
export function isClearText(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

/** Levels of the worker's log, from most to least. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

export type LogLevel = (typeof logLevels)[number];
