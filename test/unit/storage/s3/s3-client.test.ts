import { HeadBucketCommand } from '@aws-sdk/client-s3';
import { redact } from '../../../../src/domain/redact';
import { createArchiveClient } from '../../../../src/storage/s3/s3-client';
import { startHttpServer } from '../../../support/start-http-server';

const credentials = {
  AWS_ACCESS_KEY_ID: 'AKIAOFTHEARCHIVE',
  AWS_SECRET_ACCESS_KEY: 'secret/of+the/archive',
  AWS_SESSION_TOKEN: 'session-token-of-the-archive',
};

describe('the archive’s client', () => {
  it('makes the credentials that it signs with known, so that no text that is redacted shows them', async () => {
    const server = await startHttpServer((_request, response) => response.writeHead(403).end());
    Object.assign(process.env, { ...credentials, AWS_REGION: 'r', AWS_ENDPOINT_URL: server.url });
    const client = createArchiveClient(true);
    await expect(client.send(new HeadBucketCommand({ Bucket: 'b' }))).rejects.toThrow();
    client.destroy();
    await server.close();

    expect(server.requests).toHaveLength(1);
    for (const value of Object.values(credentials)) {
      expect(redact(`a ${value} b`)).toBe('a [redacted] b');
      expect(redact(encodeURIComponent(value))).toBe('[redacted]');
    }
  });
});
