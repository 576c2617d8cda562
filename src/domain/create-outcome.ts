import { redact } from './redact';

/**
 * What became of the one attempt to create a task: the four values of the design, as plain data that may enter a
 * workflow history. It holds no URL and no secret.
 */
export type CreateOutcome = CreateAccepted | CreateNotSent | CreateRejected | CreateUncertain;

/** The service took the task and named it: it exists, it is queued, it will be charged. */
export interface CreateAccepted {
  readonly outcome: 'accepted';
  readonly requestId: string;
}

/** Provably no byte of the request left this process, so no task exists and sending it again is safe. */
export interface CreateNotSent {
  readonly outcome: 'notSent';
  /** In words, with the system's error code where there is one. */
  readonly reason: string;
}

/** The service said no: no task exists. */
export interface CreateRejected {
  readonly outcome: 'rejected';
  /** Whether the same request may be accepted later (too many requests, queue full, unavailable). */
  readonly retryable: boolean;
  readonly httpStatus: number;
  /** The code of the reply's envelope, where it had one. */
  readonly code?: number;
  /** The service's own words, without secrets and bounded; the HTTP status when it said nothing. */
  readonly message: string;
  /** It is the API key that was refused; absent otherwise. */
  readonly keyRefused?: true;
  /** How long the service asked to wait, in milliseconds. */
  readonly retryAfterMs?: number;
}

/** The request left and no usable answer came: a task may exist and be charged. Never sent again by itself. */
export interface CreateUncertain {
  readonly outcome: 'uncertain';
  /** In words, with the system's error code or the HTTP status where there is one. */
  readonly reason: string;
  /** It asked for a callback, which may still bring the request id at the task's end. */
  readonly callbackAsked?: boolean;
  /** When it was sent, or about to be, by its create record: the service may have created the task at any time since. */
  readonly sentAtMs?: number;
}

/** What was seen of one create: either a reply's head arrived, or the exchange failed before it did. */
export type CreateEvidence = CreateReply | CreateFailure;

/** The head of a reply arrived, and all, a part or nothing of its body. */
export interface CreateReply {
  readonly kind: 'reply';
  readonly httpStatus: number;
  /** The body as parsed JSON; `undefined` when it is none. A body that was cut but parses is whole JSON. */
  readonly body: unknown;
  /** Why the body is incomplete, in words; absent when all of it arrived. */
  readonly bodyFault?: string;
  /** The reply's `Retry-After`, in milliseconds. */
  readonly retryAfterMs?: number;
}

/** No reply came. */
export interface CreateFailure {
  readonly kind: 'failure';
  /** Whether the request's headers were handed to the connection: from then on the service may have it. */
  readonly requestLeft: boolean;
  /** What happened, in words. */
  readonly reason: string;
}

/** What is configurable about the classification. */
export interface CreatePolicy {
  /** Envelope codes that mean "not now" (queue full, parallel limit, rate): rejected, but worth another try. */
  readonly retryableCodes: readonly number[];
  /** Envelope codes that mean that the API key is refused, whatever the HTTP status. */
  readonly keyCodes: readonly number[];
  /** Envelope codes of any other meaning. */
  readonly otherCodes: readonly number[];
}

/**
 * Decides which of the four outcomes a create had. Pure: the only place where this is decided.
 *
 * Whatever is not certain ends as `uncertain`, since a second create may be a second charge. Specification sections 4.1 and 7;
 * what they leave open is decided in the design, step 2.
 */
export function classifyCreate(evidence: CreateEvidence, policy: CreatePolicy): CreateOutcome {
  if (evidence.kind === 'failure') {
    return { outcome: evidence.requestLeft ? 'uncertain' : 'notSent', reason: evidence.reason };
  }
  const isSuccess = evidence.httpStatus >= 200 && evidence.httpStatus < 300;
  const requestId = isSuccess ? findRequestId(evidence.body) : undefined;
  // An id wins over everything else in the reply: a task whose id is known is never an orphan.
  if (requestId !== undefined) return { outcome: 'accepted', requestId };
  return rejectionIn(evidence, policy) ?? { outcome: 'uncertain', reason: whyUncertain(evidence, isSuccess) };
}

function findRequestId(body: unknown): string | undefined {
  const candidates = [body, field(body, 'data')].flatMap((place) => [
    field(place, 'requestId'),
    field(place, 'request_id'),
  ]);
  return candidates.find(isRequestId);
}

function rejectionIn(reply: CreateReply, policy: CreatePolicy): CreateRejected | undefined {
  const { httpStatus, retryAfterMs } = reply;
  const refusal = refusalEnvelope(reply.body);
  const isRefusedByStatus = httpStatus >= 300 && httpStatus < 500 && httpStatus !== 408;
  const isAskedToWait = httpStatus === 503 && retryAfterMs !== undefined;
  if (refusal === undefined && !isRefusedByStatus && !isAskedToWait) return undefined;

  const code = refusal?.code ?? numeric(field(reply.body, 'code'));
  const words = refusal?.message ?? text(field(reply.body, 'message'));
  const isKnownRefusal = code !== undefined && policy.retryableCodes.includes(code);
  // A service that fails half-way may well have made the task before it said no, so its word does not count then.
  const isFault = httpStatus === 408 || (httpStatus >= 500 && httpStatus !== 503);
  if (isFault && !isKnownRefusal) return undefined;
  // Who refuses the key does not look further: whatever the code says, the same request is not taken later.
  const isForbiddenForMore = code !== undefined && policy.otherCodes.includes(code);
  const isKeyRefused =
    httpStatus === 401 ||
    (httpStatus === 403 && !isForbiddenForMore) ||
    (code !== undefined && policy.keyCodes.includes(code));
  const isRetryable = !isKeyRefused && (httpStatus === 429 || httpStatus === 503 || isKnownRefusal);
  return {
    outcome: 'rejected',
    retryable: isRetryable,
    httpStatus,
    ...(code !== undefined && { code }),
    message: words ?? formatStatus(httpStatus),
    ...(isKeyRefused && { keyRefused: true as const }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

/** The envelope of section 2.1 with `status` false: the service itself, not a proxy on the way, says no. */
function refusalEnvelope(body: unknown): { code: number | undefined; message: string | undefined } | undefined {
  if (field(body, 'status') !== false) return undefined;
  const code = numeric(field(body, 'code'));
  const message = text(field(body, 'message'));
  return code === undefined && message === undefined ? undefined : { code, message };
}

function formatStatus(httpStatus: number): string {
  return httpStatus < 400
    ? `the service answered with a redirect (HTTP ${httpStatus}), which a create never follows`
    : `the service answered HTTP ${httpStatus} without a message`;
}

function whyUncertain({ httpStatus, body, bodyFault }: CreateReply, isSuccess: boolean): string {
  const requestId = findRequestId(body);
  // Beside an error it may be the id of anything, such as a trace; a person can look whether a task has it.
  if (requestId !== undefined)
    return `HTTP ${httpStatus}; its body has the id ${requestId}, which may be that of the task`;
  if (bodyFault !== undefined) return `HTTP ${httpStatus}, but its body was not received: ${bodyFault}`;
  return isSuccess ? `HTTP ${httpStatus} without a usable request id` : `HTTP ${httpStatus}`;
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
}

function numeric(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : undefined;
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/**
 * Whether this can be a request id: opaque printable text without spaces (specification, section 2.2 calls it
 * UUID-like) that holds no secret: it is shown everywhere. The one rule for a create's reply, a callback and a person's `adopt`: what one of them takes, all take.
 */
export function isRequestId(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]{1,200}$/.test(value) && redact(value) === value;
}
