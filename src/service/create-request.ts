import { type CreateOutcome, classifyCreate, type CreateEvidence, type CreatePolicy } from '../domain/create-outcome';
import { isRecord, parseJson } from '../domain/json';
import { unknownNameProblems } from '../domain/nearest-name';
import { safeText, showValue } from '../domain/text';
import { ServiceArgumentError } from './errors';
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

/**
 * The body of a create.
 *
 * @throws ServiceArgumentError when it cannot be sent as JSON without loss.
 */
export function createBody(request: CreateTaskRequest): Buffer {
  checkRequest(request);
  for (const [key, value] of Object.entries(request.inputValues)) {
    if (typeof value !== 'string' && !Number.isFinite(value)) {
      throw new ServiceArgumentError(`inputValues["${key}"] must be a string or a finite number`);
    }
  }
  return Buffer.from(
    JSON.stringify({
      web_app_id: request.webAppId,
      ...(request.suppressPreviewOutput !== undefined && { suppress_preview_output: request.suppressPreviewOutput }),
      input_values: request.inputValues,
    }),
  );
}

const requestFields: readonly (keyof CreateTaskRequest)[] = ['webAppId', 'inputValues', 'suppressPreviewOutput'];

function checkRequest(request: unknown): void {
  if (!isRecord(request)) throw new ServiceArgumentError('The request is missing; give { webAppId, inputValues }.');
  const { webAppId, inputValues, suppressPreviewOutput } = request;
  const problems = unknownNameProblems('field', Object.keys(request), requestFields);
  if (!Number.isSafeInteger(webAppId)) problems.push(`webAppId is ${shown(webAppId)}; give a whole number.`);
  if (!isRecord(inputValues)) {
    problems.push(`inputValues is ${shown(inputValues)}; give an object such as { "2:ImageScale.width": 512 }.`);
  }
  if (suppressPreviewOutput !== undefined && typeof suppressPreviewOutput !== 'boolean') {
    problems.push(`suppressPreviewOutput is ${shown(suppressPreviewOutput)}; give true or false.`);
  }
  if (problems.length > 0) throw new ServiceArgumentError(problems.join(' '));
}

function shown(value: unknown): string {
  return value === undefined ? 'missing' : showValue(value);
}

/**
 * The headers that choose the mode, and the caller's own, which the service echoes in callbacks.
 *
 * @throws ServiceArgumentError when one cannot be sent, lacks the prefix or is one of the mode's own.
 */
export function createHeaders(
  prefix: string,
  mode: CreateMode,
  extra: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const headers = modeHeaders(prefix, mode);
  const reserved = ['Async', 'WebHook-Url', 'Authorization'].map((name) => `${prefix}${name}`.toLowerCase());
  for (const [name, value] of Object.entries(extra)) {
    if (!name.toLowerCase().startsWith(prefix.toLowerCase()) || !headerName.test(name)) {
      throw new ServiceArgumentError(`header "${name}" must be a header name that begins with ${prefix}`);
    }
    if (reserved.includes(name.toLowerCase())) {
      throw new ServiceArgumentError(`header "${name}" is set by the mode; use the options of the call instead`);
    }
    headers[name] = value;
  }
  for (const [name, value] of Object.entries(headers)) {
    if (!headerValue.test(value)) throw new ServiceArgumentError(`header "${name}" must be printable ASCII`);
  }
  return headers;
}

function modeHeaders(prefix: string, mode: CreateMode): Record<string, string> {
  switch (mode.mode) {
    case 'sync':
      return {};
    case 'async':
      return { [`${prefix}Async`]: 'enable' };
    case 'callback':
      if (!URL.canParse(mode.to.url)) throw new ServiceArgumentError('callback.url must be an absolute URL');
      return {
        [`${prefix}WebHook-Url`]: mode.to.url,
        ...(mode.to.token !== undefined && { [`${prefix}Authorization`]: `Bearer ${mode.to.token}` }),
      };
  }
}

/** The outcome of a create, from its exchange; free of secrets. */
export function toCreateOutcome(exchanged: SingleExchange, policy: CreatePolicy): CreateOutcome {
  const outcome = classifyCreate(evidenceIn(exchanged), policy);
  return outcome.outcome === 'rejected' ? { ...outcome, message: safeText(outcome.message) } : outcome;
}

function evidenceIn(exchanged: SingleExchange): CreateEvidence {
  if ('fault' in exchanged) {
    return { kind: 'failure', requestLeft: exchanged.requestLeft, reason: exchanged.fault.message };
  }
  const { httpStatus, retryAfterMs, text, bodyFault } = exchanged.reply;
  return {
    kind: 'reply',
    httpStatus,
    body: parseJson(text),
    ...(bodyFault !== undefined && { bodyFault: bodyFault.message }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}
