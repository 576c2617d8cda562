import type { HttpReply } from './exchange';

/** One endpoint of the service. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** Relative to the base URL (section 9: `/w/v1/` for tasks, `/x/v1/` for files and users). */
  readonly path: string;
  /** How messages name it. */
  readonly title: string;
  /** Whether it is asked about one request id, so that an unknown one is an unknown task. */
  readonly isAboutTask?: true;
}

/** A complete reply, and the endpoint that gave it. */
export interface Answer {
  readonly endpoint: Endpoint;
  readonly reply: HttpReply;
  /** Whether a 401 or 403 is about the API key. */
  readonly refusesKey: boolean;
}

/** Names of the nine endpoints (specification, section 4). */
export type EndpointName =
  | 'create'
  | 'detail'
  | 'outputs'
  | 'cancel'
  | 'interrupt'
  | 'uploadToken'
  | 'commitInput'
  | 'listInputs'
  | 'userMetadata';

/** The nine endpoints as the specification has them, sections 4.1 to 4.9. */
export const endpoints: Readonly<Record<EndpointName, Endpoint>> = {
  create: { method: 'POST', path: 'w/v1/webapp/task/openapi/create', title: 'create task' },
  detail: { method: 'GET', path: 'w/v1/webapp/task/openapi/detail', title: 'query task status', isAboutTask: true },
  outputs: { method: 'GET', path: 'w/v1/webapp/task/openapi/outputs', title: 'query task results', isAboutTask: true },
  cancel: { method: 'PUT', path: 'w/v1/webapp/task/openapi/cancel', title: 'cancel task', isAboutTask: true },
  interrupt: { method: 'PUT', path: 'w/v1/webapp/task/openapi/interrupt', title: 'interrupt task', isAboutTask: true },
  uploadToken: { method: 'GET', path: 'x/v1/upload/token', title: 'get upload credentials' },
  commitInput: { method: 'POST', path: 'x/v1/input_resource/commit', title: 'commit input resource' },
  listInputs: { method: 'GET', path: 'x/v1/input_resource', title: 'list input resources' },
  userMetadata: { method: 'GET', path: 'x/v1/user/metadata', title: 'get user metadata' },
};
