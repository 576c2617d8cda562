import { CreateBucketCommand, PutObjectCommand, S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
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
import { startS3, type S3Server } from '../../../tools/s3-server';
import { textLike } from './matchers';

const BUCKET = 'any-bucket';
const KEY = 'any-key';

type AwsCredentialIdentity = Extract<NonNullable<S3ClientConfig['credentials']>, { accessKeyId: string }>;

/** What the S3 server asked its identity service, and how that answered. */
interface Question {
  readonly path: string;
  readonly protocol: unknown;
  readonly status: number | undefined;
}

/** Stands between the S3 server and the identity service and tells `onQuestion` what it passes on. */
function createWitness(onQuestion: (question: Question) => void, target: IamServer): Server {
  return createServer((asked, answer) => {
    void buffer(asked).then((body) => {
      const { method, url = '', headers } = asked;
      const passed = request({ socketPath: target.socketPath, method, path: url, headers }, (answered) => {
        const protocol = headers[IAM_PROTOCOL_HEADER.toLowerCase()];
        onQuestion({ path: url, protocol, status: answered.statusCode });
        answer.writeHead(answered.statusCode ?? 500, answered.headers);
        answered.pipe(answer);
      });
      passed.end(body);
    });
  });
}

/** An S3 server with a bucket, and a witness between it and the identity service of `authority`. */
async function startWitnessedS3(
  authority: CredentialAuthority,
  onQuestion: (question: Question) => void,
): Promise<{ s3: S3Server; stop: () => Promise<void> }> {
  const iam = await startIamServer(authority);
  const folder = await mkdtemp(join(tmpdir(), 'iam-witness-'));
  const witness = createWitness(onQuestion, iam);
  const socketPath = join(folder, 'iam.sock');
  await new Promise<void>((resolve) => witness.listen(socketPath, resolve));
  const s3 = await startS3({ iamSocket: socketPath });
  const stop = async (): Promise<void> => {
    await s3.stop();
    witness.closeAllConnections();
    await new Promise((resolve) => witness.close(resolve));
    await iam.stop();
    await rm(folder, { recursive: true, force: true });
  };
  const root = clientOf(s3, { accessKeyId: s3.rootAccessKeyId, secretAccessKey: s3.rootSecretAccessKey });
  await root.send(new CreateBucketCommand({ Bucket: BUCKET }));
  root.destroy();
  return { s3, stop };
}

function clientOf(s3: S3Server, credentials: AwsCredentialIdentity): S3Client {
  const { endpoint, region } = s3;
  return new S3Client({ endpoint, region, credentials, forcePathStyle: true, maxAttempts: 1 });
}

describe('the pinned S3 server', () => {
  it('asks its identity service in the protocol that the service speaks', async () => {
    const authority = new CredentialAuthority();
    const questions: Question[] = [];
    const { s3, stop } = await startWitnessedS3(authority, (question) => questions.push(question));
    const client = clientOf(s3, sessionFor(authority));
    try {
      await client.send(new PutObjectCommand({ Bucket: BUCKET, Key: KEY, Body: 'x' }));

      for (const path of ['/private/derive-signing-key', '/private/evaluate-policy']) {
        expect(questions).toContainEqual({ path, protocol: String(IAM_PROTOCOL), status: 200 });
      }
      for (const question of questions) {
        expect(question).toEqual({
          path: textLike(/^\/private\/(version|resolve-identity|derive-signing-key|evaluate-policy)$/),
          protocol: String(IAM_PROTOCOL),
          status: 200,
        });
      }
    } finally {
      client.destroy();
      await stop();
    }
  });

  it('serves a request whose credentials end while it is looked at, and refuses the next one', async () => {
    const authority = new CredentialAuthority();
    const { s3, stop } = await startWitnessedS3(authority, ({ path }) => {
      if (path === '/private/derive-signing-key') authority.expireAll();
    });
    const client = clientOf(s3, sessionFor(authority));
    try {
      await client.send(new PutObjectCommand({ Bucket: BUCKET, Key: KEY, Body: 'x' }));

      const next = client.send(new PutObjectCommand({ Bucket: BUCKET, Key: KEY, Body: 'y' }));
      await expect(next).rejects.toMatchObject({ name: 'InvalidToken' });
    } finally {
      client.destroy();
      await stop();
    }
  });
});

function sessionFor(authority: CredentialAuthority): AwsCredentialIdentity {
  const grant = { bucket: BUCKET, objectKey: KEY, lifetimeMs: 60_000 };
  const { accessKeyId, accessKeySecret, securityToken } = authority.mint(grant);
  return { accessKeyId, secretAccessKey: accessKeySecret, sessionToken: securityToken };
}
