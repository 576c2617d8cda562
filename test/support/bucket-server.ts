import { join } from 'node:path';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { type S3Server, startS3 } from '../../tools/s3-server';
import { FaultProxy } from './fault-proxy';
import { temporaryFolder } from './temporary-folder';

/** A real S3 server with one bucket, and a client that may do anything there. */
export interface BucketServer {
  readonly server: S3Server;
  /** In front of the server, for whoever goes by {@link env}. */
  readonly proxy: FaultProxy;
  readonly bucket: string;
  readonly client: S3Client;
  /** The bucket's folder on the server's disk. */
  readonly bucketFolder: string;
  /** What tells the AWS SDK about it. */
  readonly env: Readonly<Record<string, string>>;
  readonly stop: () => Promise<void>;
}

/**
 * Starts an S3 server for an archive and makes its bucket.
 *
 * @param iamSocket - of whoever knows other credentials than the owner's; nobody unless given.
 */
export async function startBucketServer(iamSocket?: string): Promise<BucketServer> {
  const folder = temporaryFolder();
  const dataDir = join(folder.path, 'data');
  const server = await startS3({ iamSocket: iamSocket ?? join(folder.path, 'unused.sock'), dataDir });
  const proxy = await FaultProxy.start(server.port);
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
    proxy,
    bucket,
    client,
    bucketFolder: join(dataDir, bucket),
    env: {
      AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${proxy.port}`,
      AWS_REGION: server.region,
      AWS_ACCESS_KEY_ID: server.rootAccessKeyId,
      AWS_SECRET_ACCESS_KEY: server.rootSecretAccessKey,
    },
    stop: async () => {
      client.destroy();
      await proxy.close();
      await server.stop();
      folder.remove();
    },
  };
}
