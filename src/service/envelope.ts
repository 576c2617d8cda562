import * as z from 'zod';
import { isRequestId } from '../core/create-outcome';
import { isRecord, parseExactJson } from '../core/json';
import type { EnvelopeRules } from '../core/service-dialect';
import { safeText } from '../core/text';
import type { Answer } from './endpoints';
import { type ServiceApiError, ServiceResponseInvalidError, toApiError } from './errors';
import type { HttpReply } from './exchange';
import { numberLike } from './wire-values';

const envelope = z.object({
  code: numberLike,
  message: z.string().optional().catch(undefined),
  status: z.boolean().optional().catch(undefined),
  data: z.unknown().optional(),
});

/** What a refusal says, as far as it is an envelope. */
const refusal = z.object({
  code: numberLike.optional().catch(undefined),
  message: envelope.shape.message,
  status: envelope.shape.status,
});

/**
 * Opens the envelope of section 2.1 and returns its `data`.
 *
 * @throws ServiceApiError when the service refused, by its HTTP status or by the envelope.
 * @throws ServiceResponseInvalidError when the reply is no envelope.
 */
export function openEnvelope(answer: Answer, rules: EnvelopeRules): unknown {
  const { json, opened } = readAccepted(answer, rules);
  if (json === undefined) throw invalidResponse(answer, 'is no JSON');
  if (!opened.success) throw invalidResponse(answer, `is no envelope: ${formatProblems(opened.error)}`);
  return opened.data.data;
}

/**
 * Reads a reply whose body the specification does not show (sections 4.4, 4.5 and 4.9): any 2xx is success unless it
 * is an envelope that says otherwise.
 *
 * @returns the parsed JSON; undefined when the body is no JSON.
 */
export function acceptedJson(answer: Answer, rules: EnvelopeRules): unknown {
  const { json } = readAccepted(answer, rules);
  // Such as the page of a sign-in, or of a proxy.
  if (json === undefined && answer.reply.text.trimStart().startsWith('<'))
    throw invalidResponse(answer, 'is a web page');
  return json;
}

/** A reply that the service did not refuse, and its envelope, if it is one. */
function readAccepted(
  answer: Answer,
  rules: EnvelopeRules,
): { readonly json: unknown; readonly opened: z.ZodSafeParseResult<z.infer<typeof envelope>> } {
  const { reply } = answer;
  const json = parseExactJson(reply.text);
  const { code, status } = refusal.safeParse(json).data ?? {};
  const isRefusedByEnvelope = status === false || (code !== undefined && !rules.successCodes.includes(code));
  if (isRefusedByStatus(reply) || isRefusedByEnvelope) throw toRefusal(answer, json, rules);
  return { json, opened: envelope.safeParse(json) };
}

/** Throws ServiceResponseInvalidError where `data` names another task than the one that was asked about; what can be no id names none. */
export function requireTask(requestId: string, data: unknown, answer: Answer): void {
  if (!isRecord(data)) return;
  const named = [data['request_id'], data['requestId']].filter(isRequestId);
  const isAsked = (id: string): boolean => id.toLowerCase() === requestId.toLowerCase();
  if (named.length === 0 || named.some(isAsked)) return;
  throw invalidResponse(answer, `is about the task ${named.join(', ')}, and ${requestId} was asked about`);
}

/** The `data` of an envelope; a reply that is none stands for itself. */
export function unwrapped(json: unknown): unknown {
  const opened = envelope.safeParse(json);
  return opened.success && opened.data.data !== undefined ? opened.data.data : json;
}

/** Whether the HTTP status alone refuses. */
export function isRefusedByStatus({ httpStatus }: HttpReply): boolean {
  return httpStatus < 200 || httpStatus >= 300;
}

/** The error of a reply that refuses. */
export function toRefusal(answer: Answer, json: unknown, rules: EnvelopeRules): ServiceApiError {
  const said = refusal.safeParse(json);
  return toApiError(answer, said.success ? said.data : {}, rules.codes);
}

/**
 * Checks `data` against its schema.
 *
 * @throws ServiceResponseInvalidError naming every field that is wrong, never its value.
 */
export function parseData<T>(schema: z.ZodType<T>, data: unknown, answer: Answer): T {
  const parsed = schema.safeParse(data);
  if (!parsed.success) throw invalidResponse(answer, `is not as specified: ${formatProblems(parsed.error)}`);
  return parsed.data;
}

/** The error of a reply that the specification does not allow. */
export function invalidResponse({ endpoint, reply }: Answer, problem: string): ServiceResponseInvalidError {
  const message = `${endpoint.title}: the reply (HTTP ${reply.httpStatus}) ${problem}`;
  return new ServiceResponseInvalidError(message, { httpStatus: reply.httpStatus });
}

/** Problems that a message lists; a list of thousands of wrong items has thousands. */
const maxProblems = 5;

/** The problems of a value, by their fields, never with a value. */
export function formatProblems({ issues }: z.ZodError): string {
  const shown = issues
    .slice(0, maxProblems)
    .map(({ path, message }) => `${path.map(String).join('.') || 'body'}: ${message}`);
  const further = issues.length > maxProblems ? [`and ${issues.length - maxProblems} more`] : [];
  return safeText([...shown, ...further].join('; '));
}
