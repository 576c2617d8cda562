import { type CreateOutcome, type CreateRejected, classifyCreate, type CreateEvidence } from '../core/create-outcome';
import { isFields, isRecord, parseJson } from '../core/json';
import { unknownNameProblems } from '../core/nearest-name';
import type { EnvelopeRules } from '../core/service-dialect';
import { safeText, showValue, textRemedy } from '../core/text';
import type { SingleExchange } from './exchange';

/** A task to create (specification, section 2.2). */
export interface CreateTaskRequest {
  readonly webAppId: number;
  /** Keys of the form `<node_id>:<NodeClass>.<parameter>`; values are sent unchanged. */
  readonly inputValues: Readonly<Record<string, string | number>>;
  /** Sent only when given: its meaning beyond its name is not specified. */
  readonly suppressPreviewOutput?: boolean;
}

/** Where the service reports the end of a task (specification, sections 4.1, 5 and 6). */
export interface CallbackTarget {
  /** Must be reachable for the service. */
  readonly url: string;
  /** Sent back as `Authorization: Bearer <token>` of every callback. */
  readonly token?: string;
}

/** How a task is created; a callback takes priority over asynchronous query (specification, section 1). */
export type CreateMode =
  { readonly mode: 'sync' | 'async' } | { readonly mode: 'callback'; readonly to: CallbackTarget };

const headerName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const headerValue = /^[\t\x20-\x7e]*$/;

/** The body of a create. */
export function createBody(request: CreateTaskRequest): Buffer {
  return Buffer.from(
    JSON.stringify({
      web_app_id: request.webAppId,
      suppress_preview_output: request.suppressPreviewOutput,
      input_values: request.inputValues,
    }),
  );
}

const requestFields: readonly (keyof CreateTaskRequest)[] = ['webAppId', 'inputValues', 'suppressPreviewOutput'];

/** Every problem of a request that cannot be sent as JSON without loss. */
export function requestProblems(request: unknown): readonly string[] {
  if (!isRecord(request)) return ['The request is missing; give { webAppId, inputValues }.'];
  const { webAppId, inputValues, suppressPreviewOutput } = request;
  const problems = unknownNameProblems('field', Object.keys(request), requestFields);
  if (!Number.isSafeInteger(webAppId)) problems.push(`webAppId is ${showValue(webAppId)}; give a whole number.`);
  if (!isFields(inputValues)) {
    problems.push(`inputValues is ${showValue(inputValues)}; give an object such as { "2:ImageScale.width": 512 }.`);
  } else {
    const wrong = Object.entries(inputValues).filter(
      ([, value]) => typeof value !== 'string' && !Number.isFinite(value),
    );
    for (const [key, value] of wrong) {
      const remedy = textRemedy(value, 'a text or a finite number');
      problems.push(`inputValues[${showValue(key)}] is ${showValue(value)}; give ${remedy}.`);
    }
  }
  if (suppressPreviewOutput !== undefined && typeof suppressPreviewOutput !== 'boolean') {
    problems.push(`suppressPreviewOutput is ${showValue(suppressPreviewOutput)}; give true or false.`);
  }
  return problems;
}

const callbackFields: readonly (keyof CallbackTarget)[] = ['url', 'token'];

/** Every problem of the target of a callback; none where there is none. No token is quoted. */
export function callbackProblems(callback: unknown): readonly string[] {
  // What is no object is a problem of the options.
  if (!isRecord(callback)) return [];
  const { url, token } = callback;
  const problems = unknownNameProblems('field', Object.keys(callback), callbackFields, 'callback.');
  if (typeof url !== 'string' || !URL.canParse(url) || !headerValue.test(url)) {
    const shown = typeof url === 'string' ? 'no absolute URL' : showValue(url);
    problems.push(`callback.url is ${shown}; give one in printable ASCII.`);
  }
  if (token !== undefined && (typeof token !== 'string' || !headerValue.test(token))) {
    problems.push('callback.token is no text in printable ASCII; give one, or leave it out.');
  }
  if (typeof token === 'string' && /^bearer\s/i.test(token)) {
    problems.push('callback.token begins with "Bearer ", which is put before it; give the token alone.');
  }
  return problems;
}

/** Every problem of the caller's own headers: they begin with the prefix, and none is one of the mode's own. */
export function headerProblems(prefix: string, headers: unknown): readonly string[] {
  const reserved = ['Async', 'WebHook-Url', 'Authorization'].map((name) => `${prefix}${name}`.toLowerCase());
  const problems: string[] = [];
  for (const [name, value] of Object.entries(isRecord(headers) ? headers : {})) {
    const header = `The header ${showValue(name)}`;
    if (!name.toLowerCase().startsWith(prefix.toLowerCase()) || !headerName.test(name)) {
      problems.push(`${header} cannot be sent; give a header name that begins with ${prefix}.`);
    }
    if (reserved.includes(name.toLowerCase())) {
      problems.push(`${header} is set by the mode; use the options of the call instead.`);
    }
    if (typeof value !== 'string' || !headerValue.test(value)) {
      problems.push(`${header} has another value than a text in printable ASCII; give one.`);
    }
  }
  return problems;
}

/** The headers that choose the mode, and the caller's own, which the service echoes in callbacks. */
export function createHeaders(
  prefix: string,
  mode: CreateMode,
  extra: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const headers: Record<string, string> = {};
  if (mode.mode === 'async') headers[`${prefix}Async`] = 'enable';
  if (mode.mode === 'callback') {
    headers[`${prefix}WebHook-Url`] = mode.to.url;
    if (mode.to.token !== undefined) headers[`${prefix}Authorization`] = `Bearer ${mode.to.token}`;
  }
  return { ...headers, ...extra };
}

/** The outcome of a create, from its exchange; free of secrets. */
export function toCreateOutcome(exchanged: SingleExchange, rules: EnvelopeRules): CreateOutcome {
  let evidence: CreateEvidence;
  if ('fault' in exchanged) {
    evidence = { kind: 'failure', requestLeft: exchanged.requestLeft, reason: exchanged.fault.message };
  } else {
    const { httpStatus, retryAfterMs, text, bodyFault } = exchanged.reply;
    evidence = { kind: 'reply', httpStatus, body: parseJson(text), bodyFault: bodyFault?.message, retryAfterMs };
  }
  const outcome = classifyCreate(evidence, rules);
  return outcome.outcome === 'rejected' ? { ...outcome, message: safeText(outcome.message) } : outcome;
}

/** A create that was refused without the service's envelope, while the service takes the API key. */
export function refusedByGateway(rejected: CreateRejected): CreateRejected {
  const { httpStatus } = rejected;
  const words = `a gateway in front of the service refused this request (HTTP ${httpStatus}), not the API key: change its content, or ask who runs the service to let it through`;
  return { ...rejected, meaning: 'INVALID_REQUEST', scope: 'request', message: words };
}
