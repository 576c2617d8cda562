import * as v from 'valibot';
import { isRequestId } from '../core/create-outcome';
import { isRecord, parseExactJson } from '../core/json';
import type { EnvelopeRules } from '../core/service-dialect';
import { boundedText, safeText } from '../core/text';
import type { Answer } from './endpoints';
import { type ServiceApiError, ServiceResponseInvalidError, toApiError } from './errors';

/*
 * What is read here goes into histories, logs and manifests, so it is bounded and redacted. Missing or malformed
 * details are undefined: they must not keep a paid task from being followed.
 */

export type Wire = Readonly<Record<string, unknown>>;

export function readWord(value: unknown, maxLength: number): string | undefined {
  return typeof value === 'string' ? safeText(value, [], maxLength) || undefined : undefined;
}

const maxMessageLength = 4_000;

export function readMessage(value: unknown): string | undefined {
  return typeof value === 'string' ? boundedText(value, maxMessageLength) || undefined : undefined;
}

const maxLinkLength = 32 * 1024;

/** Unchanged, and a secret: it must not be shown. */
export function readLink(value: unknown): string | undefined {
  return typeof value === 'string' && value.length <= maxLinkLength ? value || undefined : undefined;
}

/** A number, or a numeric string; none beyond the safe integers. */
export function readNumber(value: unknown): number | undefined {
  const isDecimal = typeof value === 'string' && /^-?\d{1,15}(\.\d{1,20})?$/.test(value);
  const number = isDecimal ? Number(value) : value;
  return typeof number === 'number' && Math.abs(number) <= Number.MAX_SAFE_INTEGER ? number : undefined;
}

export function readInteger(value: unknown): number | undefined {
  const number = readNumber(value);
  return Number.isInteger(number) ? number : undefined;
}

const maxEntries = 64;
const maxNameLength = 100;

/** Numeric values by name, numeric strings included; empty where there is no object. */
export function readNumbers(value: unknown): Record<string, number> {
  const numbers: [string, number][] = [];
  for (const [name, field] of Object.entries(isRecord(value) ? value : {})) {
    const number = readNumber(field);
    if (number !== undefined) numbers.push([safeText(name, [], maxNameLength), number]);
    if (numbers.length === maxEntries) break;
  }
  return Object.fromEntries(numbers);
}

export function required<T>(read: (value: unknown) => T | undefined): v.GenericSchema<unknown, T> {
  return v.pipe(
    v.unknown(),
    v.transform(read),
    v.custom<T>((value) => value !== undefined, 'missing or malformed'),
  );
}

export function boundedList<T>(item: v.GenericSchema<unknown, T>, maxLength: number): v.GenericSchema<unknown[], T[]> {
  return v.pipe(
    v.custom<unknown[]>((value) => Array.isArray(value), 'no list'),
    v.check((items) => items.length <= maxLength, `more than ${maxLength} items`),
    v.array(item),
  );
}

/** Section 2.1, as far as a body is one. */
interface Envelope {
  readonly code?: number;
  readonly message?: string;
  readonly status?: boolean;
  readonly data?: unknown;
}

function readEnvelope(json: unknown): Envelope {
  if (!isRecord(json)) return {};
  const { code, message, status, data } = json;
  return {
    code: readNumber(code),
    message: typeof message === 'string' ? message : undefined,
    status: typeof status === 'boolean' ? status : undefined,
    data,
  };
}

/** `data` of section 2.1. Throws ServiceApiError for a refusal, ServiceResponseInvalidError for no envelope. */
export function openEnvelope(answer: Answer, rules: EnvelopeRules): unknown {
  const { json, envelope } = readAccepted(answer, rules);
  if (json === undefined) throw invalidResponse(answer, 'is no JSON');
  if (envelope.code === undefined) throw invalidResponse(answer, 'is no envelope: it has no code');
  return envelope.data;
}

/** Any 2xx is success unless an envelope says otherwise (sections 4.4, 4.5, 4.9). Undefined: the body is no JSON. */
export function acceptedJson(answer: Answer, rules: EnvelopeRules): unknown {
  const { json } = readAccepted(answer, rules);
  if (json === undefined && answer.reply.text.trimStart().startsWith('<'))
    throw invalidResponse(answer, 'is a web page');
  return json;
}

function readAccepted(answer: Answer, rules: EnvelopeRules): { readonly json: unknown; readonly envelope: Envelope } {
  const json = parseExactJson(answer.reply.text);
  const envelope = readEnvelope(json);
  const { code, status } = envelope;
  const isRefused = status === false || (code !== undefined && !rules.successCodes.includes(code));
  if (isRefused || isRefusedByStatus(answer)) throw toRefusal(answer, json, rules);
  return { json, envelope };
}

/** Throws ServiceResponseInvalidError where `data` has the id of another task. */
export function requireTask(requestId: string, data: unknown, answer: Answer): void {
  if (!isRecord(data)) return;
  const named = [data['request_id'], data['requestId']].filter(isRequestId);
  const isAsked = (id: string): boolean => id.toLowerCase() === requestId.toLowerCase();
  if (named.length === 0 || named.some(isAsked)) return;
  throw invalidResponse(answer, `is about the task ${named.join(', ')}, and ${requestId} was asked about`);
}

export function unwrapped(json: unknown): unknown {
  const { code, data } = readEnvelope(json);
  return code === undefined || data === undefined ? json : data;
}

export function isRefusedByStatus({ reply: { httpStatus } }: Answer): boolean {
  return httpStatus < 200 || httpStatus >= 300;
}

export function toRefusal(answer: Answer, json: unknown, rules: EnvelopeRules): ServiceApiError {
  return toApiError(answer, readEnvelope(json), rules.codes);
}

/** Throws ServiceResponseInvalidError that names every wrong field, and no value. */
export function parseData<T>(read: (data: unknown) => T, data: unknown, answer: Answer): T {
  try {
    return read(data);
  } catch (error) {
    throw invalidResponse(answer, `is not as specified: ${formatProblems(error)}`);
  }
}

export function invalidResponse({ endpoint, reply }: Answer, problem: string): ServiceResponseInvalidError {
  const message = `${endpoint.title}: the reply (HTTP ${reply.httpStatus}) ${problem}`;
  return new ServiceResponseInvalidError(message, { httpStatus: reply.httpStatus });
}

const maxProblems = 5;

/** The fields that a schema refuses, without values. Any other error is thrown on. */
export function formatProblems(error: unknown): string {
  if (!v.isValiError(error)) throw error;
  const issues: readonly v.BaseIssue<unknown>[] = error.issues;
  const shown = issues.slice(0, maxProblems).map((issue) => {
    const problem = issue.type === 'check' || issue.type === 'custom' ? issue.message : 'missing or malformed';
    return `${v.getDotPath(issue) ?? 'body'}: ${problem}`;
  });
  const further = issues.length - shown.length;
  return safeText([...shown, ...(further > 0 ? [`and ${further} more`] : [])].join('; '));
}
