import type { Readable } from 'node:stream';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { UploadError } from './errors';
import type { UploadEndpoint } from './upload-endpoint';

/** One object to put with temporary credentials. */
export interface PutObject {
  readonly endpoint: UploadEndpoint;
  readonly bucket: string;
  readonly objectKey: string;
  readonly accessKeyId: string;
  readonly accessKeySecret: string;
  readonly securityToken: string;
  readonly contentType: string;
  readonly body: Readable;
  /** Exact length of the body. */
  readonly sizeBytes: number;
  readonly signal: AbortSignal;
  readonly timeouts: UploadTimeouts;
}

/** Time limits of the connection to the storage, in milliseconds. */
export interface UploadTimeouts {
  readonly connectMs: number;
  /** Without a byte in either direction. */
  readonly idleMs: number;
}

/**
 * Puts one object in one streamed request, once, on a connection of its own. Every setting is what Alibaba OSS needs
 * of an S3 client, or what keeps the environment of the process from changing it. Throws the SDK's errors.
 */
export async function putObject(put: PutObject): Promise<void> {
  const client = new S3Client({
    endpoint: put.endpoint.url,
    region: put.endpoint.signingRegion,
    forcePathStyle: false,
    useFipsEndpoint: false,
    useDualstackEndpoint: false,
    credentials: {
      accessKeyId: put.accessKeyId,
      secretAccessKey: put.accessKeySecret,
      sessionToken: put.securityToken,
    },
    // OSS refuses aws-chunked bodies and knows no CRC headers.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 1,
    logger: silent,
    requestHandler: new NodeHttpHandler({
      // Options, not agents: only with agents of its own does the SDK wait for "100 Continue" before a large body. A
      // refusal that comes amid the body is often lost in a reset of the connection.
      httpAgent: { keepAlive: false },
      httpsAgent: { keepAlive: false },
      connectionTimeout: put.timeouts.connectMs,
      socketTimeout: put.timeouts.idleMs,
    }),
  });
  onlyVirtualHost(client, put);
  connectLocalhostToLoopback(client);
  try {
    const command = new PutObjectCommand({
      Bucket: put.bucket,
      Key: put.objectKey,
      Body: put.body,
      ContentLength: put.sizeBytes,
      ContentType: put.contentType,
    });
    await client.send(command, { abortSignal: put.signal });
  } finally {
    client.destroy();
  }
}

/** The SDK falls back to path style by itself, for an IP address or an odd bucket name; OSS refuses that. */
function onlyVirtualHost(client: S3Client, { bucket, endpoint }: PutObject): void {
  client.middlewareStack.add(
    (next) => (args) => {
      if (hasHostname(args.request) && args.request.hostname === endpoint.bucketHost) return next(args);
      const words = `bucket "${bucket}" has no host of its own at the storage endpoint of the upload token`;
      throw new UploadError('ENDPOINT_UNUSABLE', words);
    },
    { step: 'finalizeRequest', priority: 'low', name: 'onlyVirtualHost' },
  );
}

/**
 * Names under `localhost` are this machine (RFC 6761, section 6.3), which not every system's resolver knows. Only the
 * address to connect to changes, after signing; the Host header stays.
 */
function connectLocalhostToLoopback(client: S3Client): void {
  client.middlewareStack.add(
    (next) => (args) => {
      const { request } = args;
      if (hasHostname(request) && request.hostname.endsWith('.localhost')) request.hostname = '127.0.0.1';
      return next(args);
    },
    { step: 'deserialize', priority: 'low', name: 'connectLocalhostToLoopback' },
  );
}

/** The SDK would otherwise write warnings of its own to the console; every failure is thrown as well. */
const silent = {
  debug: (): void => undefined,
  info: (): void => undefined,
  warn: (): void => undefined,
  error: (): void => undefined,
};

function hasHostname(request: unknown): request is { hostname: string } {
  return (
    typeof request === 'object' && request !== null && 'hostname' in request && typeof request.hostname === 'string'
  );
}
