import type { HttpReply } from './exchange';

export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** Relative to the base URL (section 9: `/w/v1/` for tasks, `/x/v1/` for files and users). */
  readonly path: string;
  readonly title: string;
  /** Whether it takes a request id, so that "not found" means an unknown task. */
  readonly isAboutTask?: true;
}

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

/** Sections 4.1 to 4.9. */
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
