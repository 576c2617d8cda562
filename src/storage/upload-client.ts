import { S3Client } from '@aws-sdk/client-s3';
import { UploadError } from './errors';
import type { ConnectionRule } from './connection-rule';
import {
  connectByRule,
  connectLocalhostToLoopback,
  hasHostname,
  repeatAfterClockCorrection,
  s3Settings,
  type S3Timeouts,
} from './s3-settings';
import type { UploadEndpoint } from './upload-endpoint';

/** Temporary credentials and the bucket that they are for (specification, section 2.6). */
export interface UploadAccess {
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly accessKeySecret: string;
  readonly securityToken: string;
}

/**
 * A client with the credentials of an upload token; destroy it afterwards. Every setting is what Alibaba OSS needs of an
 * S3 client, or what keeps the environment of the process from changing it.
 */
export function createUploadClient(
  access: UploadAccess,
  endpoint: UploadEndpoint,
  { timeouts, rule }: { readonly timeouts: S3Timeouts; readonly rule: ConnectionRule },
): S3Client {
  const client = new S3Client({
    ...s3Settings(timeouts),
    endpoint: endpoint.url,
    region: endpoint.signingRegion,
    forcePathStyle: endpoint.isPathStyle,
    useFipsEndpoint: false,
    useDualstackEndpoint: false,
    credentials: {
      accessKeyId: access.accessKeyId,
      secretAccessKey: access.accessKeySecret,
      sessionToken: access.securityToken,
    },
  });
  onlyTo(client, access.bucket, endpoint.bucketHost);
  if (endpoint.isConfigured) connectLocalhostToLoopback(client);
  else connectByRule(client, rule);
  repeatAfterClockCorrection(client);
  client.config.systemClockOffset = clockOffsetsMs.get(endpoint.bucketHost) ?? 0;
  return client;
}

/** How far the clock of a storage is from this machine's, by host: a client lives for one upload. */
const clockOffsetsMs = new Map<string, number>();
const maxRemembered = 100;

/** Keeps what the SDK found out about the storage's clock, for the next client. */
export function rememberClock(client: S3Client, { bucketHost }: UploadEndpoint): void {
  clockOffsetsMs.delete(bucketHost);
  clockOffsetsMs.set(bucketHost, client.config.systemClockOffset);
  const [oldest] = clockOffsetsMs.keys();
  if (clockOffsetsMs.size > maxRemembered && oldest !== undefined) clockOffsetsMs.delete(oldest);
}

/** The SDK falls back to path style by itself, also for an odd bucket name at a named host; OSS refuses that. */
function onlyTo(client: S3Client, bucket: string, bucketHost: string): void {
  client.middlewareStack.add(
    (next) => (args) => {
      if (hasHostname(args.request) && args.request.hostname === bucketHost) return next(args);
      const words = `bucket "${bucket}" has no host of its own at the storage endpoint of the upload token`;
      throw new UploadError('ENDPOINT_UNUSABLE', words);
    },
    { step: 'finalizeRequest', priority: 'low', name: 'onlyTo' },
  );
}
