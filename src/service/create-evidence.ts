import { classifyCreate, type CreateEvidence, type CreateOutcome, type CreatePolicy } from '../domain/create-outcome';
import { parseJson } from '../domain/json';
import { safeText } from '../domain/text';
import type { SingleExchange } from './single-exchange';

/** The outcome of a create, from what its one exchange came to; free of secrets. */
export function createOutcomeOf(exchanged: SingleExchange, policy: CreatePolicy): CreateOutcome {
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
