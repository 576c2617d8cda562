import { Readable } from 'node:stream';
import { S3Client, type S3ClientConfig } from './aws-sdk';
import { isRecord } from '../../core/json';
import { knownSecrets } from '../../core/redact';
import type { FindAddresses } from '../connection-rule';
import { type Timeouts, userAgent } from '../connections';
import { S3HttpHandler } from './s3-http-handler';
import { UnexpectedAnswerError } from './s3-error';

/** Each request is sent once, on a connection of its own, and nothing is printed. */
export function s3Settings(timeouts: Timeouts, addresses?: FindAddresses): S3ClientConfig {
  return {
    // OSS refuses aws-chunked bodies and does not support CRC headers.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 1,
    logger: silent,
    customUserAgent: userAgent,
    requestHandler: new S3HttpHandler(timeouts, addresses),
  };
}

/** The SDK signs with the storage’s date once this machine’s clock was refused. A stream is not sent again. */
function repeatAfterClockCorrection(client: S3Client): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (error) {
        const hasStream = isRecord(args.request) && args.request['body'] instanceof Readable;
        if (!isClockCorrected(error) || hasStream) throw error;
        return await next(args);
      }
    },
    { step: 'build', priority: 'low', name: 'repeatAfterClockCorrection' },
  );
}

const skewCodes: readonly unknown[] = ['RequestTimeTooSkewed', 'RequestExpired', 'RequestInTheFuture'];

/** The next request of its client will be signed by the storage's clock. */
export function isClockCorrected(error: unknown): boolean {
  if (!isRecord(error) || !isRecord(error['$metadata'])) return false;
  return error['$metadata']['clockSkewCorrected'] === true && skewCodes.includes(error['name']);
}

/** The SDK would write warnings to the console; every failure is thrown as well. */
const silent = {
  debug: (): void => undefined,
  info: (): void => undefined,
  warn: (): void => undefined,
  error: (): void => undefined,
};

export interface BucketPlace {
  /** Null: there is none. */
  readonly region?: string | null;
  /** Null: Amazon's own. */
  readonly endpoint?: string | null;
  readonly keys?: { readonly accessKeyId: string; readonly secretAccessKey: string; readonly sessionToken?: string };
  /** Of the shared files. With one the SDK leaves out the keys of the process. */
  readonly profile?: string;
}

/** For the operator's own buckets, with `AWS_*`, the shared files or the machine's role. */
export function createArchiveClient(
  isPathStyle: boolean,
  { region, endpoint, keys, profile }: BucketPlace = {},
): S3Client {
  const refuseRegion = (): Promise<never> => Promise.reject(new Error('Region is missing'));
  const client = new S3Client({
    ...s3Settings({ connectMs: 5_000, idleMs: 30_000 }),
    region: region === null ? refuseRegion : region,
    endpoint: endpoint ?? undefined,
    ignoreConfiguredEndpointUrls: endpoint === null ? true : undefined,
    credentials: keys,
    profile,
    forcePathStyle: isPathStyle ? true : undefined,
  });
  guard(client);
  // They may change while the process runs, as those of a role do.
  client.middlewareStack.add(
    (next) => async (args) => {
      knownSecrets.addTemporary(...(await readSecrets(client)));
      return await next(args);
    },
    { step: 'initialize', name: 'rememberCredentials' },
  );
  return client;
}

export function guard(client: S3Client): void {
  repeatAfterClockCorrection(client);
  requireETags(client);
  boundAnswers(client);
}

const objectCommands: readonly string[] = [
  'CompleteMultipartUploadCommand',
  'GetObjectCommand',
  'HeadObjectCommand',
  'PutObjectCommand',
  'UploadPartCommand',
];

/** A success without an ETag is not the storage’s, such as the page of a proxy. */
function requireETags(client: S3Client): void {
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        const reply = await next(args);
        const { ETag, Body } = reply.output as { readonly ETag?: unknown; readonly Body?: unknown };
        // OSS names encryption in a header of its own, and the ETag is then no MD5.
        if (isAnswer(reply.response) && 'x-oss-server-side-encryption' in reply.response.headers) {
          Object.assign(reply.output as object, { ServerSideEncryption: 'oss' });
        }
        if (!objectCommands.includes(commandName) || typeof ETag === 'string') return reply;
        if (Body instanceof Readable) Body.on('error', () => undefined).destroy();
        throw new UnexpectedAnswerError(
          'the answer has no ETag, as that of a page in its place; check the endpoint, and that proxies before it pass the header on',
        );
      },
    // Within what makes signed links, which sends nothing.
    { step: 'deserialize', priority: 'high', name: 'requireETags' },
  );
}

/** A list of 1000 of the longest keys has 7 MiB, every other answer a few kilobytes. */
const maxListBytes = 16 * 1024 * 1024;
const maxAnswerBytes = 256 * 1024;

/** Answered without a body. */
const storeCommands: readonly string[] = ['PutObjectCommand', 'UploadPartCommand'];

/** The SDK collects answers in memory: ends each that is too long for a storage’s, but for an object’s content. */
function boundAnswers(client: S3Client): void {
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        const reply = await next(args);
        const { response } = reply;
        if (!isAnswer(response) || (commandName === 'GetObjectCommand' && response.statusCode < 300)) return reply;
        const chunks = await readAtMost(response, commandName.startsWith('List') ? maxListBytes : maxAnswerBytes);
        const isStored = storeCommands.includes(commandName) && 'etag' in response.headers;
        if (isStored && response.statusCode < 300 && Buffer.concat(chunks).toString().trim() !== '') {
          throw new UnexpectedAnswerError(
            'the answer has a body, as that of a page in its place; check the endpoint and the proxies before it',
          );
        }
        response.body = Readable.from(chunks, { objectMode: false });
        return reply;
      },
    { step: 'deserialize', priority: 'low', name: 'boundAnswers' },
  );
}

interface Answer {
  readonly statusCode: number;
  readonly headers: object;
  body: Readable;
}

function isAnswer(response: unknown): response is Answer {
  return isRecord(response) && isRecord(response['headers']) && response['body'] instanceof Readable;
}

async function readAtMost({ statusCode, body }: Answer, maxBytes: number): Promise<readonly Buffer[]> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Leaving the loop destroys the body, and with it the connection.
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      throw new UnexpectedAnswerError(
        `the answer is longer than ${maxBytes} bytes (HTTP ${statusCode}), as no storage’s is; check the endpoint and the proxies before it`,
      );
    }
    chunks.push(chunk);
  }
  return chunks;
}

/** Empty when the client has none. */
export async function readSecrets(client: S3Client): Promise<readonly string[]> {
  return await client.config.credentials().then(
    ({ accessKeyId, secretAccessKey, sessionToken = '' }) => [accessKeyId, secretAccessKey, sessionToken],
    () => [],
  );
}
