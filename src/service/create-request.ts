import { type CreateOutcome, type CreateRejected, classifyCreate, type CreateEvidence } from '../core/create-outcome';
import { isFields, isRecord, parseJson } from '../core/json';
import { unknownNameProblems } from '../core/nearest-name';
import type { EnvelopeRules } from '../core/service-dialect';
import { safeText, showValue, textRemedy } from '../core/text';
import type { Exchanged } from './exchange';
import type { Call } from './service-transport';

/** A task to create (specification, section 2.2). */
export interface CreateTaskRequest {
  readonly webAppId: number;
  /** Keys of the form `<node_id>:<NodeClass>.<parameter>`; values are sent unchanged. */
  readonly inputValues: Readonly<Record<string, string | number>>;
  /** Sent only when given: the specification does not define it. */
  readonly suppressPreviewOutput?: boolean;
}

/** Where the service reports the end of a task (specification, sections 4.1, 5 and 6). */
export interface CallbackTarget {
  /** Must be reachable for the service. */
  readonly url: string;
  /** Sent back as `Authorization: Bearer <token>` of every callback. */
  readonly token?: string;
}

const headerName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const headerValue = /^[\t\x20-\x7e]*$/;

export function createCall(
  request: CreateTaskRequest,
  mode: 'sync' | 'async' | CallbackTarget,
  prefix: string,
  headers: Readonly<Record<string, string>> = {},
): Call & { readonly body: Buffer } {
  const modeHeaders: Record<string, string> = {};
  if (mode === 'async') modeHeaders[`${prefix}Async`] = 'enable';
  else if (mode !== 'sync') {
    modeHeaders[`${prefix}WebHook-Url`] = mode.url;
    if (mode.token !== undefined) modeHeaders[`${prefix}Authorization`] = `Bearer ${mode.token}`;
  }
  const body = {
    web_app_id: request.webAppId,
    suppress_preview_output: request.suppressPreviewOutput,
    input_values: request.inputValues,
  };
  return { body: Buffer.from(JSON.stringify(body)), headers: { ...modeHeaders, ...headers } };
}

/** Every problem that prevents sending the request as JSON without loss. */
export function requestProblems(request: unknown): readonly string[] {
  if (!isRecord(request)) return ['The request is missing; give { webAppId, inputValues }.'];
  const { webAppId, inputValues, suppressPreviewOutput } = request;
  const names: readonly (keyof CreateTaskRequest)[] = ['webAppId', 'inputValues', 'suppressPreviewOutput'];
  const problems = unknownNameProblems('field', Object.keys(request), names);
  if (!Number.isSafeInteger(webAppId)) problems.push(`webAppId is ${showValue(webAppId)}; give a whole number.`);
  if (!isFields(inputValues)) {
    problems.push(`inputValues is ${showValue(inputValues)}; give an object such as { "2:ImageScale.width": 512 }.`);
  } else {
    for (const [key, value] of Object.entries(inputValues)) {
      if (typeof value === 'string' || Number.isFinite(value)) continue;
      const remedy = textRemedy(value, 'a text or a finite number');
      problems.push(`inputValues[${showValue(key)}] is ${showValue(value)}; give ${remedy}.`);
    }
  }
  if (suppressPreviewOutput !== undefined && typeof suppressPreviewOutput !== 'boolean') {
    problems.push(`suppressPreviewOutput is ${showValue(suppressPreviewOutput)}; give true or false.`);
  }
  return problems;
}

/** Quotes no token. */
export function callbackProblems(callback: unknown): readonly string[] {
  if (!isRecord(callback)) return [];
  const { url, token } = callback;
  const problems = unknownNameProblems('field', Object.keys(callback), ['url', 'token'], 'callback.');
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

export function toCreateOutcome({ reply, fault, requestLeft }: Exchanged, rules: EnvelopeRules): CreateOutcome {
  const reason = fault?.message ?? '';
  const evidence: CreateEvidence =
    reply === undefined
      ? { kind: 'failure', requestLeft: requestLeft !== false, reason }
      : { kind: 'reply', ...reply, body: parseJson(reply.text), bodyFault: fault?.message };
  const outcome = classifyCreate(evidence, rules);
  return outcome.outcome === 'rejected' ? { ...outcome, message: safeText(outcome.message) } : outcome;
}

/** A create refused without the service's envelope while the service accepts the API key. */
export function refusedByGateway(rejected: CreateRejected): CreateRejected {
  const { httpStatus } = rejected;
  const words = `a gateway in front of the service refused this request (HTTP ${httpStatus}), not the API key: change its content, or ask who runs the service to let it through`;
  return { ...rejected, meaning: 'INVALID_REQUEST', scope: 'request', message: words };
}
