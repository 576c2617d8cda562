import type { HonestReply } from './wire-reply';

/** The endpoints, and the two of the storage: where inputs are put, and where results are fetched. */
export type RogueEndpoint =
  | 'create'
  | 'detail'
  | 'outputs'
  | 'cancel'
  | 'interrupt'
  | 'token'
  | 'commit'
  | 'list'
  | 'metadata'
  | 'put'
  | 'result';

const TASK = '/w/v1/webapp/task/openapi';
const endpointByPath: Readonly<Record<string, RogueEndpoint>> = {
  [`POST ${TASK}/create`]: 'create',
  [`GET ${TASK}/detail`]: 'detail',
  [`GET ${TASK}/outputs`]: 'outputs',
  [`PUT ${TASK}/cancel`]: 'cancel',
  [`PUT ${TASK}/interrupt`]: 'interrupt',
  'GET /x/v1/upload/token': 'token',
  'POST /x/v1/input_resource/commit': 'commit',
  'GET /x/v1/input_resource': 'list',
  'GET /x/v1/user/metadata': 'metadata',
};

/** Which endpoint a method and a path, without its query, belong to. */
export function endpointAt(method: string, path: string): RogueEndpoint {
  return endpointByPath[`${method} ${path}`] ?? (method === 'GET' ? 'result' : 'put');
}

/** A success in the envelope of section 2.1. */
export function success(data: unknown): HonestReply {
  return { status: 200, body: { code: 20000, message: 'Ok', status: true, data } };
}

/** As the service writes a time: in UTC+8. */
export function timestamp(timeMs: number): string {
  return new Date(timeMs + 8 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ');
}

const envelope = ['code', 'message', 'status', 'data'];
const item = ['object_url', 'output_ext', 'cost_time', 'audit_status', 'error_type', 'error_msg', 'error_message'];
const resource = ['id', 'name', 'ext', 'url'];
const times = ['created_at', 'updated_at', 'executed_at', 'running_at', 'ended_at', 'expired_at'];

/** Every field of every reply (specification, section 2), and some that an object has by itself. */
export const fieldsOf: Readonly<Record<RogueEndpoint, readonly string[]>> = {
  create: ['requestId', 'request_id', 'data', 'code', 'message', 'status', '__proto__'],
  detail: [
    ...envelope,
    ...[...times, 'type', 'status', 'queue_info', 'queueInfo', 'cost_times', 'group_id', 'inference_cost_time'].map(
      inData,
    ),
    ...['error_message', 'error_msg', 'requestId', 'request_id', '__proto__', 'toString'].map(inData),
    ...['queue_info.queue_count', 'cost_times.total_cost_time', 'cost_times.__proto__', 'cost_times.a\u0000b'].map(
      inData,
    ),
  ],
  outputs: [
    ...envelope,
    ...['request_id', 'requestId', 'status', 'outputs', '__proto__', 'outputs.0', 'outputs.1'].map(inData),
    ...[...item, '__proto__'].flatMap((name) => [inData(`outputs.0.${name}`), inData(`outputs.1.${name}`)]),
  ],
  cancel: envelope,
  interrupt: envelope,
  token: [
    ...envelope,
    ...['file', 'file.object_key', 'file.access_key_id', 'file.access_key_secret', 'file.security_token'].map(inData),
    ...['storage', 'storage.endpoint', 'storage.bucket', 'storage.region', '__proto__'].map(inData),
  ],
  commit: [...envelope, ...[...resource, '__proto__'].map(inData)],
  list: [
    ...envelope,
    ...['list', 'total', 'current', 'page_size', 'list.0', ...resource.map((name) => `list.0.${name}`)].map(inData),
  ],
  metadata: [...envelope, 'data.id', 'data.__proto__'],
  put: [],
  result: [],
};

function inData(name: string): string {
  return `data.${name}`;
}
