import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { HeadObjectCommand, ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3';
import { CredentialAuthority } from '../../../reference-service/storage/credential-authority';
import { type IamServer, startIamServer } from '../../../reference-service/storage/iam-server';
import { ArchiveError } from '../../../src/storage/errors';
import { defaultPartPlan } from '../../../src/storage/s3/put-object';
import { S3Archive, type S3ArchiveOptions } from '../../../src/storage/archive/s3-archive';
import { s3Settings } from '../../../src/storage/s3/s3-client';
import { type BucketServer, startBucketServer } from '../../support/bucket-server';
import { temporaryFolder } from '../../support/temporary-folder';

export const mebibyte = 1024 * 1024;
export const settings = s3Settings({ connectMs: 5_000, idleMs: 30_000 });
/** S3 takes no part below 5 MiB but the last. */
export const parts = { ...defaultPartPlan, aboveBytes: 5 * mebibyte, partBytes: 5 * mebibyte, pauseMs: 10 };

/** Archives in one bucket of a server of their own; `prefix` is the one that `open` gives. */
export class S3ArchiveUnderTest {
  readonly #folder = temporaryFolder();
  readonly #iam: IamServer;
  readonly authority: CredentialAuthority;
  readonly storage: BucketServer;
  readonly spoolFolder = join(this.#folder.path, 'spool');
  /** What `stop` destroys. */
  readonly clients: S3Client[] = [];
  prefix: string = randomUUID();

  private constructor(authority: CredentialAuthority, iam: IamServer, storage: BucketServer) {
    this.authority = authority;
    this.#iam = iam;
    this.storage = storage;
  }

  static async start(): Promise<S3ArchiveUnderTest> {
    const authority = new CredentialAuthority();
    const iam = await startIamServer(authority);
    return new S3ArchiveUnderTest(authority, iam, await startBucketServer(iam.socketPath));
  }

  async stop(): Promise<void> {
    for (const client of this.clients) client.destroy();
    await this.storage.stop();
    await this.#iam.stop();
    this.#folder.remove();
  }

  open(change: Partial<S3ArchiveOptions> = {}): S3Archive {
    const { prefix, spoolFolder } = this;
    return new S3Archive({
      client: this.owner(),
      bucket: this.storage.bucket,
      prefix,
      spoolFolder,
      parts,
      ...change,
    });
  }

  /** A client of the archive's own, through the proxy. */
  clientWith(
    credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string },
    endpoint = this.storage.env['AWS_ENDPOINT_URL_S3'] ?? '',
  ): S3Client {
    const { AWS_REGION: region = '' } = this.storage.env;
    const client = new S3Client({ ...settings, endpoint, region, credentials });
    this.clients.push(client);
    return client;
  }

  /** At another endpoint: of a storage that is not there. */
  owner(endpoint?: string): S3Client {
    const { rootAccessKeyId, rootSecretAccessKey } = this.storage.server;
    return this.clientWith({ accessKeyId: rootAccessKeyId, secretAccessKey: rootSecretAccessKey }, endpoint);
  }

  /** For whom the server is one that has never heard of conditional writes. */
  unconditional(): S3Client {
    const client = this.owner();
    client.middlewareStack.add(
      (next) => (args) => {
        const { request } = args as { request: { headers: Record<string, string> } };
        delete request.headers['if-none-match'];
        return next(args);
      },
      { step: 'build', priority: 'low' },
    );
    return client;
  }

  at(name: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.storage.bucket, Key: `${this.prefix}/${name}` };
  }

  async metadataOf(name: string): Promise<unknown> {
    return (await this.storage.client.send(new HeadObjectCommand(this.at(name)))).Metadata;
  }

  async openUploads(): Promise<number> {
    const command = new ListMultipartUploadsCommand({ Bucket: this.storage.bucket, Prefix: this.prefix });
    return (await this.storage.client.send(command)).Uploads?.length ?? 0;
  }
}

export async function failureOf(promise: Promise<unknown>): Promise<ArchiveError> {
  const error: unknown = await promise.catch((thrown: unknown) => thrown);
  if (!(error instanceof ArchiveError)) throw new Error('expected an ArchiveError', { cause: error });
  return error;
}
