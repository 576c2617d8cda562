import { redact } from './redact';
import {
  type EnvelopeRules,
  isForNow,
  type RefusalMeaning,
  refusalMeaning,
  type RefusalScope,
  refusalScopes,
} from './service-dialect';
import { parseServiceStatus } from './task-state';

/** What became of the one attempt to create a task: plain data that may enter a history, without a URL and a secret. */
export type CreateOutcome = CreateAccepted | CreateNotSent | CreateRejected | CreateUncertain;

/** The service took the task and named it: it exists, it is queued, it will be charged. */
export interface CreateAccepted {
  readonly outcome: 'accepted';
  readonly requestId: string;
  /** It asked for a callback, which tells the task's end. Absent: it did not, or that is not known any more. */
  readonly callbackAsked?: boolean;
}

/** Provably no byte of the request left this process, so no task exists and sending it again is safe. */
export interface CreateNotSent {
  readonly outcome: 'notSent';
  readonly reason: string;
}

/** The service said no: no task exists. */
export interface CreateRejected {
  readonly outcome: 'rejected';
  /** Whether the same request may be accepted later (too many requests, queue full, unavailable). */
  readonly retryable: boolean;
  readonly httpStatus: number;
  readonly code?: number;
  /** The service's own words, without secrets and bounded; the HTTP status when it said nothing. */
  readonly message: string;
  readonly meaning: RefusalMeaning;
  /** What was refused: this request, or every create of the app, the account, the key or the address. */
  readonly scope: RefusalScope;
  readonly retryAfterMs?: number;
}

/** The request left and no usable answer came: a task may exist and be charged. Never sent again by itself. */
export interface CreateUncertain {
  readonly outcome: 'uncertain';
  readonly reason: string;
  /** It asked for a callback, which may still bring the request id at the task's end. */
  readonly callbackAsked?: boolean;
  /** By its create record, when it was sent or about to be: the service may have created the task since. */
  readonly sentAtMs?: number;
}

export type CreateEvidence = CreateReply | CreateFailure;

/** The head of a reply arrived, and all, a part or nothing of its body. */
export interface CreateReply {
  readonly kind: 'reply';
  readonly httpStatus: number;
  /** The body as parsed JSON; `undefined` when it is none. A body that was cut but parses is whole JSON. */
  readonly body: unknown;
  readonly bodyFault?: string;
  readonly retryAfterMs?: number;
}

export interface CreateFailure {
  readonly kind: 'failure';
  /** Whether the request's headers were handed to the connection: from then on the service may have it. */
  readonly requestLeft: boolean;
  readonly reason: string;
}

/** Decides which of the four outcomes a create had; the only place that does (specification, sections 4.1 and 7). */
export function classifyCreate(evidence: CreateEvidence, rules: EnvelopeRules): CreateOutcome {
  if (evidence.kind === 'failure') {
    return { outcome: evidence.requestLeft ? 'uncertain' : 'notSent', reason: evidence.reason };
  }
  const signs = readSigns(evidence.body, rules);
  const { requestId } = signs;
  const isSuccess = evidence.httpStatus >= 200 && evidence.httpStatus < 300;
  const isAcceptance = isSuccess && !signs.isRefused && !signs.isDoubtful;
  if (isAcceptance && requestId !== undefined) return { outcome: 'accepted', requestId };
  if (isRefusal(evidence, signs, rules)) return toRejected(evidence, signs, rules);
  return { outcome: 'uncertain', reason: whyUncertain(evidence, signs) };
}

interface Signs {
  readonly requestId: string | undefined;
  /** The id stands where only that of a task does: in the envelope's data, or with nothing beside it. */
  readonly isIdOfTask: boolean;
  readonly code: number | undefined;
  readonly message: string | undefined;
  readonly isAccepted: boolean;
  readonly isRefused: boolean;
  /** A code or status of another form, or a `success` that is not true: it may refuse in words not specified. */
  readonly isDoubtful: boolean;
  /** The whole envelope of section 2.1 refuses, by both signs: the service says no, not a proxy on the way. */
  readonly isClearRefusal: boolean;
}

function readSigns(body: unknown, { successCodes }: EnvelopeRules): Signs {
  const data = field(body, 'data');
  const ids = [
    field(body, 'requestId'),
    field(body, 'request_id'),
    field(data, 'requestId'),
    field(data, 'request_id'),
  ];
  const requestId = ids.find(isRequestId);
  const isAlone = typeof body === 'object' && body !== null && Object.keys(body).length === 1;
  const code = numeric(field(body, 'code'));
  const status = field(body, 'status');
  const isSuccessCode = code !== undefined && successCodes.includes(code);
  const isOtherCode = code !== undefined && !isSuccessCode;
  const isUnreadCode = code === undefined && !isMissing(field(body, 'code'));
  // A word such as `Queuing` is the state of the task that was made; one of a failure may be that of the request.
  const state = typeof status === 'string' ? parseServiceStatus(status) : undefined;
  const isGoodState = state !== undefined && state !== 'Failed' && state !== 'Canceled';
  const isUnreadStatus = typeof status !== 'boolean' && !isMissing(status) && !isGoodState;
  const success = field(body, 'success');
  const message = field(body, 'message');
  return {
    requestId,
    isIdOfTask: requestId !== undefined && (isAlone || ids.slice(2).includes(requestId)),
    code,
    message: typeof message === 'string' && message.trim() !== '' ? message : undefined,
    isAccepted: status === true || isSuccessCode,
    isRefused: status === false || isOtherCode,
    isDoubtful: isUnreadCode || isUnreadStatus || (success !== true && !isMissing(success)),
    isClearRefusal: status === false && isOtherCode,
  };
}

/** Statuses that refuse what was not begun; any other below 500 may come from something on the way. */
const refusingStatuses: readonly number[] = [
  ...[301, 302, 307, 308],
  ...[400, 401, 402, 403, 404, 405, 406, 407, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418],
  ...[421, 422, 423, 424, 426, 428, 429, 431, 451],
];

/** Whether it proves that there is no task. Signs that contradict each other prove nothing. */
function isRefusal({ httpStatus, retryAfterMs }: CreateReply, signs: Signs, { codes }: EnvelopeRules): boolean {
  const { requestId, code, message, isAccepted, isRefused, isClearRefusal } = signs;
  if (isAccepted || signs.isIdOfTask) return false;
  if (refusingStatuses.includes(httpStatus)) return true;
  const isSuccess = httpStatus >= 200 && httpStatus < 300;
  if (isSuccess || httpStatus === 503) {
    // Beside a clear refusal an id is that of a trace.
    if (isClearRefusal || requestId !== undefined) return isClearRefusal;
    return (isRefused && code === undefined && message !== undefined) || (!isSuccess && retryAfterMs !== undefined);
  }
  // A service that fails half-way may have made the task first, unless it looked only at the app, account or key.
  const meaning = code === undefined ? undefined : codes[code];
  return isClearRefusal && meaning !== undefined && ['app', 'account', 'key'].includes(refusalScopes[meaning]);
}

function toRejected({ httpStatus, retryAfterMs }: CreateReply, signs: Signs, { codes }: EnvelopeRules): CreateRejected {
  const { code } = signs;
  const meaning = refusalMeaning(httpStatus, code, codes);
  const isRedirect = httpStatus >= 300 && httpStatus < 400;
  const withoutMessage = isRedirect
    ? `the service answered with a redirect (HTTP ${httpStatus}), which a create never follows`
    : `the service answered HTTP ${httpStatus} without a message`;
  // Without a code, such a status comes from what stands in the service's place: a wrong address, or a proxy.
  const isOfWay = isRedirect || (code === undefined && [404, 405, 407, 421, 426].includes(httpStatus));
  return {
    outcome: 'rejected',
    retryable: isForNow(meaning) || (httpStatus === 503 && meaning === 'SERVICE_UNAVAILABLE'),
    httpStatus,
    code,
    message: signs.message ?? withoutMessage,
    meaning,
    scope: isOfWay ? 'way' : refusalScopes[meaning],
    retryAfterMs,
  };
}

function whyUncertain({ httpStatus, bodyFault }: CreateReply, signs: Signs): string {
  const { requestId, code, isRefused, isDoubtful } = signs;
  let refused = isDoubtful ? ' with a status, code or success that is not understood' : '';
  if (isRefused) refused = ` with a refusal${code === undefined ? '' : `, code ${code}`}`;
  // It may be the id of anything, such as a trace; a person can look whether a task has it.
  if (requestId !== undefined)
    return `HTTP ${httpStatus}${refused}; its body has the id ${requestId}, which may be that of the task`;
  if (bodyFault !== undefined) return `HTTP ${httpStatus}, but its body was not received: ${bodyFault}`;
  const isSuccess = httpStatus >= 200 && httpStatus < 300;
  return `HTTP ${httpStatus}${refused}${isSuccess ? ' without a usable request id' : ''}`;
}

/** Whether it is the envelope of section 2.1: the word of the service, not of a gateway in front of it. */
export function isEnvelope(body: unknown): boolean {
  return typeof field(body, 'status') === 'boolean' && numeric(field(body, 'code')) !== undefined;
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null;
}

function numeric(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : undefined;
  return typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : undefined;
}

/** Printable, no spaces (specification, section 2.2) and no secret, as it is shown everywhere. The only rule for it. */
export function isRequestId(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]{1,200}$/.test(value) && redact(value) === value;
}
