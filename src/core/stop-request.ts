import { isTerminal, type ServiceStatus } from './task-state';

/** The service's own verbs, and `stop`: end it, whichever of them applies. */
export type StopVerb = 'cancel' | 'interrupt' | 'stop';

export type StopOutcome =
  /** Not sent yet: it waits for a state in which its verb applies. */
  | 'waiting'
  /** The service took the request; the task has not ended yet. */
  | 'sent'
  | 'refused'
  /** Its verb does not apply any more. */
  | 'notApplicable'
  /** The task is over, and this request is why. */
  | 'confirmed'
  /** The task had ended by itself. */
  | 'tooLate'
  /** Longhaul no longer follows the task, and the service had not confirmed its end. */
  | 'unconfirmed';

/** One request to end the task, as it stands. Plain JSON: it is handed from run to run. */
export interface StopRequest {
  readonly verb: StopVerb;
  readonly askedAtMs: number;
  readonly sends: number;
  readonly refusals: number;
  readonly lastVerb: VerbToSend['verb'] | null;
  readonly lastSentAtMs: number | null;
  readonly outcome: StopOutcome;
  readonly words: string;
}

export interface VerbToSend {
  readonly verb: 'cancel' | 'interrupt';
  readonly request: StopRequest;
}

export type VerbAnswer =
  { readonly taken: true } | { readonly taken: false; readonly refused: boolean; readonly words: string };

/** A verb that the service took is sent again when the state has not moved for this long. */
const resendAfterMs = 15_000;
/** A verb of the service that was refused this often is not sent again; a stop goes on until its deadline. */
const maxRefusals = 3;

export function openStopRequest(verb: StopVerb, nowMs: number): StopRequest {
  return {
    verb,
    askedAtMs: nowMs,
    sends: 0,
    refusals: 0,
    lastVerb: null,
    lastSentAtMs: null,
    outcome: 'waiting',
    words: 'Not sent yet.',
  };
}

/** The service's verb in this state (specification, section 3): none is documented for `Preparing`. */
function verbFor(request: StopRequest, status: ServiceStatus | undefined): 'cancel' | 'interrupt' | 'wait' | 'never' {
  switch (request.verb) {
    case 'cancel':
      if (status === 'Queuing') return 'cancel';
      return status === undefined ? 'wait' : 'never';
    case 'interrupt':
      return status === 'Running' ? 'interrupt' : 'wait';
    case 'stop':
      if (status === 'Queuing') return 'cancel';
      return status === 'Running' ? 'interrupt' : 'wait';
  }
}

function isOpen(request: StopRequest): boolean {
  return request.outcome === 'waiting' || request.outcome === 'sent';
}

export function nextVerb(
  requests: readonly StopRequest[],
  status: ServiceStatus | undefined,
  nowMs: number,
): VerbToSend | undefined {
  for (const request of requests) {
    const verb = verbFor(request, status);
    if (!isOpen(request) || (verb !== 'cancel' && verb !== 'interrupt')) continue;
    // What the service took is not repeated at once, unless the task moved on and another verb applies now.
    const isRepeated = request.outcome === 'sent' && verb === request.lastVerb;
    if (!isRepeated || nowMs - (request.lastSentAtMs ?? 0) >= resendAfterMs) return { verb, request };
  }
  return undefined;
}

/** `clock`: one is due or under way: keep polling; `change`: each waits for another state; `nothing`: none is open. */
export function getStopWait(
  requests: readonly StopRequest[],
  status: ServiceStatus | undefined,
  nowMs: number,
): 'clock' | 'change' | 'nothing' {
  const open = requests.filter(isOpen);
  if (open.length === 0) return 'nothing';
  const isUnderWay = open.some(({ verb, outcome }) => verb === 'stop' || outcome === 'sent');
  return isUnderWay || nextVerb(open, status, nowMs) !== undefined ? 'clock' : 'change';
}

export function afterVerb(
  request: StopRequest,
  verb: VerbToSend['verb'],
  answer: VerbAnswer,
  nowMs: number,
): StopRequest {
  const sent = { ...request, sends: request.sends + 1, lastVerb: verb, lastSentAtMs: nowMs };
  if (answer.taken) return { ...sent, outcome: 'sent', words: `The service took the ${verb}; waiting for the end.` };
  if (!answer.refused) return { ...sent, words: `The ${verb} could not be sent: ${asSentence(answer.words)}` };
  const words = `The service refused the ${verb}: ${answer.words}`;
  const refusals = request.refusals + 1;
  const isFinal = request.verb !== 'stop' && refusals >= maxRefusals;
  return { ...sent, refusals, outcome: isFinal ? 'refused' : 'waiting', words };
}

export function afterReading(request: StopRequest, status: ServiceStatus | undefined): StopRequest {
  if (!isOpen(request)) return request;
  if (status === 'Success') {
    const words = 'The task had succeeded, and is paid; its state says how far its outputs are archived.';
    return { ...request, outcome: 'tooLate', words };
  }
  if (isTerminal(status)) {
    if (request.sends > 0) return { ...request, outcome: 'confirmed', words: `The task ended as ${status}.` };
    return { ...request, outcome: 'tooLate', words: `The task had ended as ${status} before this was sent.` };
  }
  const verb = verbFor(request, status);
  if (verb === 'never' && request.sends === 0) {
    const words = `The task is ${status ?? 'unknown'}: a cancel applies only while it queues. Use interrupt or stop.`;
    return { ...request, outcome: 'notApplicable', words };
  }
  if (verb === 'never') {
    return { ...request, outcome: 'refused', words: `${request.words} The task runs all the same.` };
  }
  if (verb === 'wait' && request.outcome === 'waiting') {
    const words =
      status === undefined ? 'Kept until the task is visible.' : `Kept until the task runs; it is ${status} now.`;
    return { ...request, words };
  }
  return request;
}

/** The request once Longhaul sends nothing any more; `mayRun`: the task may still run at the service. */
export function afterEnd(request: StopRequest, mayRun: boolean): StopRequest {
  if (!isOpen(request)) return request;
  if (!mayRun) return { ...request, outcome: 'tooLate', words: 'The task was over before this was confirmed.' };
  const { lastVerb, outcome, words } = request;
  if (lastVerb === null) return { ...request, outcome: 'unconfirmed', words: 'Never sent; the task may still run.' };
  const answer = outcome === 'sent' ? 'The service took it' : words;
  return {
    ...request,
    outcome: 'unconfirmed',
    words: `The ${lastVerb} was sent, but the service did not confirm the end. ${asSentence(answer)} The task may still run.`,
  };
}

function asSentence(words: string): string {
  return words.replace(/\.?$/, '.');
}
