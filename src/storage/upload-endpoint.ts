import { isIP } from 'node:net';
import type { ConnectionRule } from './connection-rule';
import { UploadError } from './errors';

/** The access host and bucket of an upload token, as the service gave them (specification, section 2.6). */
export interface UploadLocation {
  /** With or without a scheme, with or without the bucket's label in front. */
  readonly endpoint: string;
  readonly bucket: string;
  /** May carry an `oss-` prefix. */
  readonly region: string;
}

/** Where to send the PUT, and which region to sign for. */
export interface UploadEndpoint {
  /** Without the bucket. */
  readonly url: string;
  /** The only host that the PUT may go to: the bucket's own, or that of the endpoint in path style. */
  readonly bucketHost: string;
  /** Whether the operator named this host: it may be anywhere, and plain http. */
  readonly isConfigured: boolean;
  /** Whether the bucket stands in the path: an IP address has no host names under it. */
  readonly isPathStyle: boolean;
  readonly signingRegion: string;
}

const loopbackHost = /^(127(\.\d{1,3}){3}|\[::1\]|([a-z0-9-]+\.)*localhost)$/i;

/**
 * Reads the access host of a token. The returned host is authoritative and never rewritten, except that a bucket label
 * in front of it is taken off, because the client puts one there.
 *
 * @throws UploadError `ENDPOINT_UNUSABLE` when it is no host, or asks for plain http to another machine that is not
 * configured: the body is not signed, so TLS is its only protection.
 */
export function readUploadEndpoint(
  { endpoint, bucket, region }: UploadLocation,
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
    const remedy = 'add the host to LONGHAUL_STORAGE_HOSTS of the worker if that is right';
    throw unusable(`${host} is plain http, which is refused for everything but this machine; ${remedy}`);
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
