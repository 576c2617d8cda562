import { lookup as systemLookup } from 'node:dns';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { LookupFunction } from 'node:net';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { NodeHttpHandler } from '@smithy/node-http-handler';

/** What is needed for the upload of one object (section 2.6). */
export interface PutTarget {
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly objectKey: string;
  readonly accessKeyId: string;
  readonly accessKeySecret: string;
  readonly securityToken: string;
}

/** What the object storage made of an upload: nothing wrong, or the name of its error. */
export type PutOutcome = 'stored' | `refused: ${string}`;

/** Names under `localhost` are this machine, which not every system's resolver knows. */
export const localhostLookup: LookupFunction = (host, options, callback) => {
  if (!/(^|\.)localhost$/i.test(host)) systemLookup(host, options, callback);
  else if (options.all === true) callback(null, [{ address: '127.0.0.1', family: 4 }]);
  else callback(null, '127.0.0.1', 4);
};

/** Puts one object by one plain signed request. The endpoint is taken as it is; the region loses its `oss-` prefix. */
export async function putObject(target: PutTarget, bytes: Buffer): Promise<PutOutcome> {
  const agents = { lookup: localhostLookup, keepAlive: false };
  const client = new S3Client({
    endpoint: /^https?:\/\//.test(target.endpoint) ? target.endpoint : `https://${target.endpoint}`,
    region: target.region.replace(/^oss-/, ''),
    forcePathStyle: false,
    credentials: {
      accessKeyId: target.accessKeyId,
      secretAccessKey: target.accessKeySecret,
      sessionToken: target.securityToken,
    },
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 1,
    requestHandler: new NodeHttpHandler({ httpAgent: new HttpAgent(agents), httpsAgent: new HttpsAgent(agents) }),
  });
  try {
    await client.send(new PutObjectCommand({ Bucket: target.bucket, Key: target.objectKey, Body: bytes }));
    return 'stored';
  } catch (error) {
    return `refused: ${error instanceof Error ? error.name : 'unknown'}`;
  } finally {
    client.destroy();
  }
}
