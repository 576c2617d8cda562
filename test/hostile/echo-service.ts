import type { ServerResponse } from 'node:http';
import { type ReceivedRequest, startHttpServer, type TestHttpServer } from '../support/start-http-server';

export const echoEndpoints = [
  // The last one closes the limiter, which holds up whoever comes after it.
  ...['token', 'put', 'commit', 'list', 'detail', 'cancel', 'outputs', 'file', 'create'],
] as const;
export type EchoEndpoint = (typeof echoEndpoints)[number];

export const failureKinds = [
  ...['http400', 'http401', 'http403', 'http404', 'http409', 'http429', 'http500', 'http503', 'redirect'],
  ...['refusal', 'rubbish', 'misshapen', 'cutBody', 'brokenChunks', 'noHttp'],
] as const;
export type FailureKind = (typeof failureKinds)[number];

/** What it knows: what it is sent, and what it hands out. */
export const handedOut = {
  accessKeyId: 'ECHOACCESSKEY4711',
  accessKeySecret: 'echo+secret/of=the"upload',
  securityToken: 'echo-security-token/with+signs==',
  signature: 'echoSignatureOfALink',
};

/**
 * A service that writes everything secret that it knows into every text, header and body that it can write. A task named
 * `<endpoint>-<kind>` (by its file, its object key, its workflow id or its request id) meets that failure there: a
 * create once, anything else three times.
 */
export class EchoService {
  readonly #server: TestHttpServer;
  readonly #met = new Map<string, number>();
  #authorization = '';
  #callbackAuthorization = '';

  private constructor(open: (answer: (request: ReceivedRequest, response: ServerResponse) => void) => TestHttpServer) {
    this.#server = open((request, response) => {
      this.#answer(request, response);
    });
  }

  static async start(): Promise<EchoService> {
    let answer = (_request: ReceivedRequest, response: ServerResponse): void => void response.end();
    const server = await startHttpServer((request, response) => {
      answer(request, response);
    });
    return new EchoService((given) => {
      answer = given;
      return server;
    });
  }

  get url(): string {
    return this.#server.url;
  }

  /** Which failures were met, as `<endpoint>-<kind>`. */
  get met(): readonly string[] {
    return [...this.#met.keys()];
  }

  async close(): Promise<void> {
    await this.#server.close();
  }

  /** All of it, in every form that a text can have. */
  #echo(): string {
    const link = `${this.url}/file/a.png?X-Amz-Signature=${handedOut.signature}&x-oss-security-token=t`;
    const plain = [
      this.#authorization,
      this.#callbackAuthorization,
      this.#authorization.replace('Bearer ', ''),
      this.#callbackAuthorization.replace('Bearer ', ''),
      ...Object.values(handedOut).slice(0, 3),
      link,
      `GET /results/a.png?Expires=1&Signature=${handedOut.signature}`,
      `"security_token":"${handedOut.securityToken}"`,
    ].join(' ');
    return [plain, encodeURIComponent(plain), JSON.stringify(plain), JSON.stringify(JSON.stringify(plain))].join(' ');
  }

  #answer(request: ReceivedRequest, response: ServerResponse): void {
    this.#authorization = request.headers.authorization ?? this.#authorization;
    this.#callbackAuthorization = String(request.headers['x-svc-task-authorization'] ?? this.#callbackAuthorization);
    const endpoint = endpointOf(request);
    const about = `${request.url} ${String(request.headers['x-svc-task-correlation'])} ${request.body.slice(0, 2_000)}`;
    const kind = failureKinds.find((one) => about.includes(`${endpoint}-${one}`));
    const name = `${endpoint}-${String(kind)}`;
    const times = (this.#met.get(name) ?? 0) + 1;
    response.setHeader('x-echo', this.#echo().replaceAll(/[^\x20-\x7e]/g, ' '));
    if (kind !== undefined && times <= (endpoint === 'create' ? 1 : 3)) {
      this.#met.set(name, times);
      this.#fail(kind, endpoint, response);
    } else this.#succeed(endpoint, request, response);
  }

  #fail(kind: FailureKind, endpoint: EchoEndpoint, response: ServerResponse): void {
    const echo = this.#echo();
    const xml = `<Error><Code>${escapeXml(echo)}</Code><Message>${escapeXml(echo)}</Message><EC>${escapeXml(echo)}</EC></Error>`;
    const json = JSON.stringify({ code: 99, message: echo, status: false, data: { status: echo, list: echo } });
    const body = endpoint === 'put' || endpoint === 'file' ? xml : json;
    switch (kind) {
      case 'redirect':
        response.writeHead(302, { location: `${this.url}/file/x?Signature=${handedOut.signature}` }).end(body);
        return;
      case 'refusal':
        response.writeHead(200).end(body);
        return;
      case 'rubbish':
        response.writeHead(200).end(`<html>${echo}`);
        return;
      case 'misshapen':
        response.writeHead(200).end(JSON.stringify({ code: 20000, message: echo, status: true, data: { id: echo } }));
        return;
      case 'cutBody':
        response.writeHead(200, { 'content-length': body.length + 9_999 }).write(body, () => response.destroy());
        return;
      case 'brokenChunks':
        response.socket?.end(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${echo}\r\n`);
        return;
      case 'noHttp':
        response.socket?.end(`${echo}\r\n\r\n`);
        return;
      default:
        response.writeHead(Number(kind.slice(4)), { 'retry-after': echo.slice(0, 200) }).end(body);
    }
  }

  #succeed(endpoint: EchoEndpoint, request: ReceivedRequest, response: ServerResponse): void {
    const { searchParams: query } = new URL(request.url, this.url);
    const echo = this.#echo();
    const data = (value: object): void => {
      response.end(JSON.stringify({ code: 20000, message: echo, status: true, data: { ...value, echo } }));
    };
    const resource = {
      id: 7,
      name: echo,
      ext: `.png${echo}`,
      url: `${this.url}/file/in.png?sig=${handedOut.signature}`,
    };
    switch (endpoint) {
      case 'token': {
        const { accessKeyId, accessKeySecret, securityToken } = handedOut;
        const file = { access_key_id: accessKeyId, access_key_secret: accessKeySecret, security_token: securityToken };
        const { port } = new URL(this.url);
        const storage = { endpoint: `http://localhost:${port}`, bucket: 'echo', region: 'oss-r' };
        data({ file: { ...file, object_key: `inputs/${query.get('file_name') ?? ''}` }, storage });
        return;
      }
      case 'commit':
        data({ ...resource, object_key: (JSON.parse(request.body) as { object_key: string }).object_key });
        return;
      case 'list':
        data({ list: [{ ...resource, object_key: query.get('object_key') }], total: 1 });
        return;
      case 'create': {
        const correlation = String(request.headers['x-svc-task-correlation'] ?? 'none');
        const workflowId = correlation.replace('task:', '').replace(/\/\d+$/, '');
        // An id that is the key itself is no id: it would be shown everywhere.
        const requestId = workflowId.startsWith('idIsKey') ? this.#authorization.slice(7) : `r-${workflowId}`;
        response.writeHead(202).end(JSON.stringify({ requestId, message: echo, data: { echo } }));
        return;
      }
      case 'detail':
        data({ ...this.#detail(query.get('requestId') ?? ''), cost_times: { [echo]: 1, total_cost_time: 2 } });
        return;
      case 'outputs':
        data({
          request_id: query.get('requestId'),
          status: 'Success',
          outputs: this.#outputs(query.get('requestId') ?? ''),
        });
        return;
      case 'cancel':
        data({ echo });
        return;
      case 'put':
      case 'file':
        response.writeHead(200, { etag: '"abc"' }).end(endpoint === 'file' ? 'GIF89a: the file' : '');
    }
  }

  /** Queued for good where a cancel is to fail; else it ends, as failed where the id says so. */
  #detail(requestId: string): object {
    const echo = this.#echo();
    const texts = {
      type: echo,
      error_message: echo,
      created_at: echo,
      ended_at: echo,
      expired_at: echo,
      requestId: echo,
    };
    const isQueued = requestId.includes('cancel-') && !this.met.some((name) => requestId.includes(name));
    if (isQueued) return { ...texts, status: 'Queuing', queue_info: { queue_count: 1, echo } };
    if (requestId.includes('odd-') && this.#count(`odd ${requestId}`) < 3) return { ...texts, status: echo };
    return {
      ...texts,
      status: requestId.includes('cancel-') ? 'Canceled' : requestId.includes('fails') ? 'Failed' : 'Success',
    };
  }

  #outputs(requestId: string): object[] {
    const echo = this.#echo();
    const link = `${this.url}/file/${requestId}.png?X-Amz-Signature=${handedOut.signature}`;
    const failed = { error_type: echo, error_msg: echo, output_ext: `.png${echo}`, audit_status: 4 };
    return [
      { object_url: link, output_ext: '.png', error_type: 'NOT_ERROR', error_msg: echo, cost_time: 5, audit_status: 2 },
      { object_url: encodeURIComponent(link), ...failed },
      { ...failed, object_url: `/file/a.png?Signature=${handedOut.signature}` },
    ];
  }

  #count(what: string): number {
    const times = (this.#met.get(what) ?? 0) + 1;
    this.#met.set(what, times);
    return times;
  }
}

function endpointOf({ method, url, headers }: ReceivedRequest): EchoEndpoint {
  const { pathname } = new URL(url, 'http://h');
  if (String(headers.host).startsWith('echo.')) return 'put';
  if (pathname.startsWith('/file/')) return 'file';
  if (pathname.endsWith('/upload/token')) return 'token';
  if (pathname.endsWith('/commit')) return 'commit';
  if (pathname.endsWith('/input_resource')) return 'list';
  if (pathname.endsWith('/create')) return 'create';
  if (pathname.endsWith('/detail')) return 'detail';
  if (pathname.endsWith('/outputs')) return 'outputs';
  return method === 'PUT' ? 'cancel' : 'file';
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
