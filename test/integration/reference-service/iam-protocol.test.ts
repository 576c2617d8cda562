import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { CredentialAuthority } from '../../../reference-service/storage/credential-authority';
import {
  IAM_PROTOCOL,
  IAM_PROTOCOL_HEADER,
  startIamServer,
  type IamServer,
} from '../../../reference-service/storage/iam-server';
import { startS3 } from '../../../tools/s3-server';
import { textLike } from './matchers';

/** What the S3 server asked its identity service, and how that answered. */
interface Question {
  readonly path: string;
  readonly protocol: unknown;
  readonly status: number | undefined;
}

/** Stands between the S3 server and the identity service and writes down what it passes on. */
function createWitness(questions: Question[], target: IamServer): Server {
  return createServer((asked, answer) => {
    void buffer(asked).then((body) => {
      const { method, url = '', headers } = asked;
      const passed = request({ socketPath: target.socketPath, method, path: url, headers }, (answered) => {
        const protocol = headers[IAM_PROTOCOL_HEADER.toLowerCase()];
        questions.push({ path: url, protocol, status: answered.statusCode });
        answer.writeHead(answered.statusCode ?? 500, answered.headers);
        answered.pipe(answer);
      });
      passed.end(body);
    });
  });
}

describe('the pinned S3 server', () => {
  it('asks its identity service in the protocol that the service speaks', async () => {
    const authority = new CredentialAuthority();
    const iam = await startIamServer(authority);
    const folder = await mkdtemp(join(tmpdir(), 'iam-witness-'));
    const questions: Question[] = [];
    const witness = createWitness(questions, iam);
    const socketPath = join(folder, 'iam.sock');
    await new Promise<void>((resolve) => witness.listen(socketPath, resolve));
    const s3 = await startS3({ iamSocket: socketPath });
    const { accessKeyId, accessKeySecret, securityToken } = authority.mint({
      bucket: 'any-bucket',
      objectKey: 'any-key',
      lifetimeMs: 60_000,
    });
    const client = new S3Client({
      endpoint: s3.endpoint,
      forcePathStyle: true,
      region: s3.region,
      maxAttempts: 1,
      credentials: { accessKeyId, secretAccessKey: accessKeySecret, sessionToken: securityToken },
    });
    try {
      // There is no such bucket: that the server finds this out shows that the credentials were accepted.
      const put = client.send(new PutObjectCommand({ Bucket: 'any-bucket', Key: 'any-key', Body: 'x' }));
      await expect(put).rejects.toMatchObject({ name: 'NoSuchBucket' });

      expect(questions).toContainEqual({
        path: '/private/derive-signing-key',
        protocol: String(IAM_PROTOCOL),
        status: 200,
      });
      for (const question of questions) {
        expect(question).toEqual({
          path: textLike(/^\/private\/(version|resolve-identity|derive-signing-key|evaluate-policy)$/),
          protocol: String(IAM_PROTOCOL),
          status: 200,
        });
      }
    } finally {
      client.destroy();
      await s3.stop();
      witness.closeAllConnections();
      await new Promise((resolve) => witness.close(resolve));
      await iam.stop();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
