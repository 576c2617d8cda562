import { join } from 'node:path';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { type S3Server, startS3 } from '../../tools/s3-server';
import { temporaryFolder } from './temporary-folder';

/** A real S3 server with one bucket, and a client that may do anything there. */
export interface BucketServer {
  readonly server: S3Server;
  readonly bucket: string;
  readonly client: S3Client;
  /** Folder of the buckets; outlives a stopped server. */
  readonly dataDir: string;
  /** What tells the AWS SDK about it. */
  readonly env: Readonly<Record<string, string>>;
  readonly stop: () => Promise<void>;
}

/** Starts an S3 server for an archive and makes its bucket. */
export async function startBucketServer(): Promise<BucketServer> {
  const folder = temporaryFolder();
  const dataDir = join(folder.path, 'data');
  // Nobody serves this socket: the bucket is its owner's alone.
  const server = await startS3({ iamSocket: join(folder.path, 'iam.sock'), dataDir });
  const bucket = 'archive-of-tests';
  const client = new S3Client({
    endpoint: server.endpoint,
    region: server.region,
    forcePathStyle: true,
    credentials: { accessKeyId: server.rootAccessKeyId, secretAccessKey: server.rootSecretAccessKey },
    maxAttempts: 1,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  return {
    server,
    bucket,
    client,
    dataDir,
    env: {
      AWS_ENDPOINT_URL_S3: server.endpoint,
      AWS_REGION: server.region,
      AWS_ACCESS_KEY_ID: server.rootAccessKeyId,
      AWS_SECRET_ACCESS_KEY: server.rootSecretAccessKey,
    },
    stop: async () => {
      client.destroy();
      await server.stop();
      folder.remove();
    },
  };
}
