import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import type { S3ClientConfig } from '@aws-sdk/client-s3';
import { startS3 } from '../../../tools/s3-server';
import type { S3Server } from '../../../tools/s3-server';
import { isProcessAlive } from './is-process-alive';

const started: S3Server[] = [];
const start: typeof startS3 = async (options) => {
  const server = await startS3(options);
  started.push(server);
  return server;
};

const configOf = (server: S3Server, accessKeyId = server.rootAccessKeyId): S3ClientConfig => ({
  endpoint: server.endpoint,
  region: server.region,
  forcePathStyle: true,
  maxAttempts: 1,
  credentials: { accessKeyId, secretAccessKey: server.rootSecretAccessKey },
});

describe('the S3 server', () => {
  let folder: string;
  let iamSocket: string;
  let iam: Server | undefined;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'longhaul-s3-test-'));
    iamSocket = join(folder, 'iam.sock');
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((server) => server.stop()));
    if (iam) await once(iam.close(), 'close');
    iam = undefined;
    rmSync(folder, { recursive: true });
  });

  /** An IAM service that knows nobody, and notes what it is asked. */
  const serveIam = async (): Promise<string[]> => {
    const asked: string[] = [];
    iam = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.setHeader('X-Vgw-Private-Protocol', '1').setHeader('Connection', 'close');
      const isVersion = request.url === '/private/version';
      response.writeHead(isVersion ? 200 : 403);
      response.end(
        JSON.stringify(
          isVersion ? { protocol: 1, minClient: 1, serverVersion: 'test', accountId: '1' } : { code: 'NoSuchIdentity' },
        ),
      );
    });
    await once(iam.listen(iamSocket), 'listening');
    return asked;
  };

  const put = async (server: S3Server): Promise<void> => {
    const client = new S3Client(configOf(server));
    await client.send(new CreateBucketCommand({ Bucket: 'photos' }));
    await client.send(new PutObjectCommand({ Bucket: 'photos', Key: 'a/b.txt', Body: 'whole' }));
    client.destroy();
  };

  const getAs = async (server: S3Server, accessKeyId: string): Promise<unknown> => {
    const client = new S3Client(configOf(server, accessKeyId));
    try {
      return await client.send(new GetObjectCommand({ Bucket: 'photos', Key: 'a/b.txt' }));
    } finally {
      client.destroy();
    }
  };

  it('starts at once without the IAM service, and asks it when it comes later', async () => {
    const startedAt = Date.now();
    const server = await start({ iamSocket });
    // On its own, this server would wait half a minute for the IAM service.
    expect(Date.now() - startedAt).toBeLessThan(20_000);
    await put(server);
    await expect(getAs(server, 'SOMEBODY')).rejects.toMatchObject({ name: 'InternalError' });
    const asked = await serveIam();
    await expect(getAs(server, 'SOMEBODY')).rejects.toMatchObject({ name: 'InvalidAccessKeyId' });
    expect(asked).toContain('/private/derive-signing-key');
  });

  it('ends when it is stopped, keeps the data folder that it was given, and serves it again', async () => {
    const dataDir = join(folder, 'data');
    mkdirSync(dataDir);
    const first = await start({ iamSocket, dataDir });
    await put(first);
    await Promise.all([first.stop(), first.stop()]);
    expect(isProcessAlive(first.pid)).toBe(false);
    const second = await start({ iamSocket, dataDir });
    expect(await getAs(second, second.rootAccessKeyId)).toMatchObject({ ContentLength: 5 });
  });
});
