import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { Agent } from 'node:http';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { request } from 'undici';
import { z } from 'zod';
import type { ReferenceService } from '../../../reference-service/start-reference-service';
import { eventually } from '../../support/eventually';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** An answer as it came over the wire. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

const tokenSchema = z.object({
  data: z.object({
    file: z.object({
      object_key: z.string(),
      access_key_id: z.string(),
      access_key_secret: z.string(),
      security_token: z.string(),
    }),
    storage: z.object({ endpoint: z.string(), bucket: z.string(), region: z.string() }),
  }),
});
const resourceSchema = z.object({
  data: z.object({ id: z.number(), name: z.string(), ext: z.string(), url: z.string() }),
});
const createdSchema = z.strictObject({ requestId: z.string().min(1) });
const detailSchema = z.object({ data: z.looseObject({ status: z.string() }) });
const outputsSchema = z.object({
  data: z.object({
    request_id: z.string(),
    status: z.string(),
    outputs: z.array(z.looseObject({ object_url: z.string() })),
  }),
});

export type UploadToken = z.output<typeof tokenSchema>['data'];
export type Resource = z.output<typeof resourceSchema>['data'];
export type Detail = z.output<typeof detailSchema>['data'];
export type Outputs = z.output<typeof outputsSchema>['data'];

const TERMINAL = ['Success', 'Failed', 'Canceled'];
const TASK_PATH = '/w/v1/webapp/task/openapi';

/** Speaks plain HTTP with the service: what these tests know of it comes from the specification alone. */
export class PlainClient {
  readonly #url: string;
  readonly #apiKey: string;

  constructor(service: Pick<ReferenceService, 'url' | 'apiKey'>) {
    this.#url = service.url;
    this.#apiKey = service.apiKey;
  }

  /** Names of headers go out in the spelling given. */
  async ask(method: Method, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await request(`${this.#url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${this.#apiKey}`, 'Content-Type': 'application/json', ...headers },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await response.body.text();
    const answered = new Headers();
    for (const [name, value] of Object.entries(response.headers)) answered.set(name, String(value));
    return { status: response.statusCode, headers: answered, body: text === '' ? undefined : JSON.parse(text) };
  }

  create(body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.ask('POST', `${TASK_PATH}/create`, body, { 'X-Svc-Task-Async': 'enable', ...headers });
  }

  /** Creates a task that must be accepted. */
  async createTask(webAppId: number, inputValues: Record<string, unknown>, headers = {}): Promise<string> {
    const answer = await this.create({ web_app_id: webAppId, input_values: inputValues }, headers);
    if (answer.status !== 202) throw new Error(`create answered ${answer.status} ${JSON.stringify(answer.body)}`);
    return createdSchema.parse(answer.body).requestId;
  }

  askDetail(requestId: string): Promise<Answer> {
    return this.ask('GET', `${TASK_PATH}/detail?requestId=${requestId}`);
  }

  async detail(requestId: string): Promise<Detail> {
    return detailSchema.parse((await this.askDetail(requestId)).body).data;
  }

  /** Polls until the task is in one of these states; throws when it ends in another. */
  async waitFor(requestId: string, ...states: string[]): Promise<Detail> {
    const detail = await eventually(
      async () => {
        const seen = await this.detail(requestId);
        return [...states, ...TERMINAL].includes(seen.status) ? seen : undefined;
      },
      { everyMs: 15, what: `the task to be ${states.join(' or ')}` },
    );
    if (!states.includes(detail?.status ?? '')) throw new Error(`the task ended: ${JSON.stringify(detail)}`);
    return detailSchema.shape.data.parse(detail);
  }

  askOutputs(requestId: string): Promise<Answer> {
    return this.ask('GET', `${TASK_PATH}/outputs?requestId=${requestId}`);
  }

  async outputs(requestId: string): Promise<Outputs> {
    return outputsSchema.parse((await this.askOutputs(requestId)).body).data;
  }

  cancel(requestId: string): Promise<Answer> {
    return this.ask('PUT', `${TASK_PATH}/cancel?requestId=${requestId}`);
  }

  interrupt(requestId: string): Promise<Answer> {
    return this.ask('PUT', `${TASK_PATH}/interrupt?requestId=${requestId}`);
  }

  askToken(fileName: string, fileType = 'inputs'): Promise<Answer> {
    return this.ask('GET', `/x/v1/upload/token?file_name=${encodeURIComponent(fileName)}&file_type=${fileType}`);
  }

  async token(fileName: string): Promise<UploadToken> {
    return tokenSchema.parse((await this.askToken(fileName)).body).data;
  }

  commit(name: string, objectKey: string): Promise<Answer> {
    return this.ask('POST', '/x/v1/input_resource/commit', { name, object_key: objectKey });
  }

  /** Token, PUT and commit in one. */
  async upload(name: string, bytes: Buffer): Promise<Resource & { objectKey: string }> {
    const token = await this.token(name);
    const objectKey = token.file.object_key;
    const storage = storageClient(token);
    await storage.send(new PutObjectCommand({ Bucket: token.storage.bucket, Key: objectKey, Body: bytes }));
    storage.destroy();
    return { ...resourceSchema.parse((await this.commit(name, objectKey)).body).data, objectKey };
  }
}

/** An S3 client with a token's credentials, virtual-hosted as the object storage wants it. */
export function storageClient(token: UploadToken, change: { secret?: string; securityToken?: string } = {}): S3Client {
  // Node does not resolve names under localhost by itself on every system.
  const httpAgent = new Agent({
    lookup: (_host, options, callback) => {
      if (options.all === true) callback(null, [{ address: '127.0.0.1', family: 4 }]);
      else callback(null, '127.0.0.1', 4);
    },
  });
  return new S3Client({
    endpoint: token.storage.endpoint.replace(/^(?!http)/, 'http://'),
    region: token.storage.region.replace(/^oss-/, ''),
    forcePathStyle: false,
    maxAttempts: 1,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    requestHandler: new NodeHttpHandler({ httpAgent }),
    credentials: {
      accessKeyId: token.file.access_key_id,
      secretAccessKey: change.secret ?? token.file.access_key_secret,
      sessionToken: change.securityToken ?? token.file.security_token,
    },
  });
}
