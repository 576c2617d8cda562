import { S3Client } from '@aws-sdk/client-s3';
import { knownSecrets } from '../domain/redact';
import { connectLocalhostToLoopback, repeatAfterClockCorrection, s3Settings } from './s3-settings';

/**
 * A client for the operator's own buckets. Endpoint, region and credentials come from where every AWS tool finds them:
 * `AWS_*`, the shared files, or the machine's role.
 *
 * @param isPathStyle - whether the bucket stands in the path of a URL instead of its host.
 */
export function createArchiveClient(isPathStyle: boolean): S3Client {
  const client = new S3Client({
    ...s3Settings({ connectMs: 5_000, idleMs: 30_000 }),
    ...(isPathStyle && { forcePathStyle: true }),
  });
  connectLocalhostToLoopback(client);
  repeatAfterClockCorrection(client);
  rememberCredentials(client);
  return client;
}

/** They may change while the process runs, as those of a role do; each request uses those of now. */
function rememberCredentials(client: S3Client): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      knownSecrets.addTemporary(...(await secretsOf(client)));
      return await next(args);
    },
    { step: 'initialize', name: 'rememberCredentials' },
  );
}

/** What must not be told of a client's requests; nothing when it has no credentials. */
export async function secretsOf(client: S3Client): Promise<readonly string[]> {
  return await client.config.credentials().then(
    ({ accessKeyId, secretAccessKey, sessionToken = '' }) => [accessKeyId, secretAccessKey, sessionToken],
    () => [],
  );
}
