import { isIP } from 'node:net';
import { isRecord } from '../core/json';
import { S3Client } from './s3/aws-sdk';
import { anyAddress, type ConnectionRule } from './connection-rule';
import { UploadError } from './errors';
import type { Timeouts } from './connections';
import { guard, s3Settings } from './s3/s3-client';

/**
 * Where one file may be uploaded, and the temporary credentials for it (specification, section 2.6). Their lifetime is
 * not specified: take a fresh token for every attempt. Printing or serializing it shows no credential.
 */
export interface UploadToken {
  /** Needed again at commit. */
  readonly objectKey: string;
  readonly accessKeyId: string;
  readonly accessKeySecret: string;
  readonly securityToken: string;
  /** Storage access host, with or without a scheme, with or without the bucket's label in front. */
  readonly endpoint: string;
  readonly bucket: string;
  /** As given, with its `oss-` prefix. */
  readonly region: string;
}

/** Destroy it afterwards. Its settings are what Alibaba OSS needs, and no environment’s. */
export function createUploadClient(
  token: UploadToken,
  endpoint: UploadEndpoint,
  { timeouts, rule }: { readonly timeouts: Timeouts; readonly rule: ConnectionRule },
): S3Client {
  const client = new S3Client({
    ...s3Settings(timeouts, endpoint.isConfigured ? anyAddress : rule.addresses),
    endpoint: endpoint.url,
    region: endpoint.signingRegion,
    forcePathStyle: endpoint.isPathStyle,
    useFipsEndpoint: false,
    useDualstackEndpoint: false,
    credentials: {
      accessKeyId: token.accessKeyId,
      secretAccessKey: token.accessKeySecret,
      sessionToken: token.securityToken,
    },
  });
  onlyTo(client, token.bucket, endpoint.bucketHost);
  guard(client);
  client.config.systemClockOffset = clockOffsetsMs.get(endpoint.bucketHost) ?? 0;
  return client;
}

/** By host, beyond the client of one upload. */
const clockOffsetsMs = new Map<string, number>();
const maxRemembered = 100;

export function hasAnswered({ bucketHost }: UploadEndpoint): boolean {
  return clockOffsetsMs.has(bucketHost);
}

/** The SDK measured the offset; the next client begins with it. */
export function rememberClock(client: S3Client, { bucketHost }: UploadEndpoint): void {
  clockOffsetsMs.delete(bucketHost);
  clockOffsetsMs.set(bucketHost, client.config.systemClockOffset);
  const [oldest] = clockOffsetsMs.keys();
  if (clockOffsetsMs.size > maxRemembered && oldest !== undefined) clockOffsetsMs.delete(oldest);
}

/** The SDK falls back to path style by itself, which OSS refuses. */
function onlyTo(client: S3Client, bucket: string, bucketHost: string): void {
  client.middlewareStack.add(
    (next) => (args) => {
      if (isRecord(args.request) && args.request['hostname'] === bucketHost) return next(args);
      const words = `bucket "${bucket}" has no host of its own at the storage endpoint of the upload token`;
      throw new UploadError('ENDPOINT_UNUSABLE', words);
    },
    { step: 'finalizeRequest', priority: 'low', name: 'onlyTo' },
  );
}

export interface UploadEndpoint {
  /** Without the bucket. */
  readonly url: string;
  /** The only host that the PUT may go to: the bucket's own, or in path style the endpoint's. */
  readonly bucketHost: string;
  /** The operator named it: it may be anywhere, and plain http. */
  readonly isConfigured: boolean;
  /** The bucket stands in the path: an IP address has no host names under it. */
  readonly isPathStyle: boolean;
  readonly signingRegion: string;
}

export const allowHost =
  'add the host to LONGHAUL_STORAGE_HOSTS of the worker, or to storageHosts of a ServiceClient, if that is right';

const loopbackHost = /^(127(\.\d{1,3}){3}|\[::1\]|([a-z0-9-]+\.)*localhost)$/i;

/**
 * The host is never rewritten, but for a bucket label in front. Throws UploadError `ENDPOINT_UNUSABLE` for no host, and
 * for plain http to another machine that is not configured: the body is not signed, so TLS is its only protection.
 */
export function readUploadEndpoint(
  { endpoint, bucket, region }: Pick<UploadToken, 'endpoint' | 'bucket' | 'region'>,
  rule: Pick<ConnectionRule, 'isConfigured'>,
): UploadEndpoint {
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(endpoint) ? endpoint : `https://${endpoint}`;
  if (!URL.canParse(withScheme)) throw unusable('is no host name');
  const { protocol, hostname, port } = new URL(withScheme);
  if (protocol !== 'https:' && protocol !== 'http:') throw unusable('is neither https nor http');
  const label = `${bucket.toLowerCase()}.`;
  const host = hostname.startsWith(label) ? hostname.slice(label.length) : hostname;
  const isPathStyle = isIP(host.replace(/^\[|\]$/g, '')) !== 0;
  const authority = port === '' ? host : `${host}:${port}`;
  const bucketHost = isPathStyle ? host : `${bucket}.${host}`;
  const isConfigured =
    rule.isConfigured({ host: authority, hostname: host }) ||
    rule.isConfigured({ host: port === '' ? bucketHost : `${bucketHost}:${port}`, hostname: bucketHost });
  if (protocol === 'http:' && !loopbackHost.test(host) && !isConfigured) {
    throw unusable(`${host} is plain http, which is refused for everything but this machine; ${allowHost}`);
  }
  return {
    url: `${protocol}//${authority}`,
    bucketHost,
    isConfigured,
    isPathStyle,
    signingRegion: region.replace(/^oss-/, ''),
  };
}

function unusable(problem: string): UploadError {
  return new UploadError('ENDPOINT_UNUSABLE', `the storage endpoint of the upload token ${problem}`);
}
