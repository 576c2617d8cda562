import { request } from 'undici';
import type { ReferenceService } from '../../../reference-service/start-reference-service';
import { putObject, type PutTarget } from '../../conformance/storage-put';
import { eventually } from '../../support/eventually';

/** An answer as it came over the wire. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

export interface Resource {
  readonly id: number;
  readonly name: string;
  readonly url: string;
}
type Detail = Readonly<Record<string, unknown>> & { readonly status: string };
export interface Outputs {
  readonly status: string;
  readonly outputs: readonly (Readonly<Record<string, unknown>> & { readonly object_url: string })[];
}

const ENDED = ['Success', 'Failed', 'Canceled'];
const TASK_PATH = '/w/v1/webapp/task/openapi';

/** Plain HTTP with the service, for whoever expects it to do as asked; `test/conformance` looks closer. */
export class PlainClient {
  readonly #service: Pick<ReferenceService, 'url' | 'apiKey'>;

  constructor(service: Pick<ReferenceService, 'url' | 'apiKey'>) {
    this.#service = service;
  }

  async ask(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await request(`${this.#service.url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${this.#service.apiKey}`, 'Content-Type': 'application/json', ...headers },
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
    return (answer.body as { requestId: string }).requestId;
  }

  askDetail(requestId: string): Promise<Answer> {
    return this.ask('GET', `${TASK_PATH}/detail?requestId=${requestId}`);
  }

  async detail(requestId: string): Promise<Detail> {
    return dataOf(await this.askDetail(requestId)) as Detail;
  }

  /** Polls until the task is in this state; throws when it ends in another. */
  async waitFor(requestId: string, state: string): Promise<Detail> {
    const detail = await eventually(
      async () => {
        const seen = await this.detail(requestId);
        return [state, ...ENDED].includes(seen.status) && seen;
      },
      { everyMs: 15, what: `the task to be ${state}` },
    );
    if (detail === false || detail.status !== state) {
      throw new Error(`the task ended: ${JSON.stringify(detail)}`);
    }
    return detail;
  }

  askOutputs(requestId: string): Promise<Answer> {
    return this.ask('GET', `${TASK_PATH}/outputs?requestId=${requestId}`);
  }

  async outputs(requestId: string): Promise<Outputs> {
    return dataOf(await this.askOutputs(requestId)) as Outputs;
  }

  stop(verb: 'cancel' | 'interrupt', requestId: string): Promise<Answer> {
    return this.ask('PUT', `${TASK_PATH}/${verb}?requestId=${requestId}`);
  }

  /** Upload credentials, and where to put the file. */
  async token(fileName: string): Promise<PutTarget> {
    const answer = await this.ask('GET', `/x/v1/upload/token?file_name=${fileName}&file_type=inputs`);
    const { file, storage } = dataOf(answer) as Record<'file' | 'storage', Record<string, string>>;
    const { object_key = '', access_key_id = '', access_key_secret = '', security_token = '' } = file;
    const { endpoint = '', bucket = '', region = '' } = storage;
    return {
      ...{ endpoint, bucket, region, objectKey: object_key },
      ...{ accessKeyId: access_key_id, accessKeySecret: access_key_secret, securityToken: security_token },
    };
  }

  commit(name: string, objectKey: string): Promise<Answer> {
    return this.ask('POST', '/x/v1/input_resource/commit', { name, object_key: objectKey });
  }

  /** Token, PUT and commit in one. */
  async upload(name: string, bytes: Buffer): Promise<Resource> {
    const token = await this.token(name);
    const endpoint = token.endpoint.replace(/^(?!http)/, 'http://');
    const put = await putObject({ ...token, endpoint }, bytes);
    if (put !== 'stored') throw new Error(`the upload was ${put}`);
    return dataOf(await this.commit(name, token.objectKey)) as Resource;
  }
}

function dataOf({ body }: Answer): unknown {
  return (body as { readonly data: unknown }).data;
}
