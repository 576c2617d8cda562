import {
  afterEnd,
  afterReading,
  afterVerb,
  nextVerb,
  openStopRequest,
  type StopOutcome,
  type StopRequest,
  type StopVerb,
  type VerbAnswer,
  getStopWait,
} from '../../../src/core/stop-request';
import { type ServiceStatus, serviceStatuses } from '../../../src/core/task-state';

const askedAtMs = 1_000_000;
const taken: VerbAnswer = { taken: true };
const refused: VerbAnswer = { taken: false, refused: true, words: 'no.' };
const unsent: VerbAnswer = { taken: false, refused: false, words: 'connection reset.' };

type State = ServiceStatus | undefined;
const states: readonly State[] = [undefined, ...serviceStatuses];
const verbs: readonly StopVerb[] = ['cancel', 'interrupt', 'stop'];

/** What happened to a request before the state was read: one step of the watch each. */
type Step = { readonly reads: State } | { readonly answers: VerbAnswer; readonly to?: 'cancel' | 'interrupt' };

function requestAfter(verb: StopVerb, steps: readonly Step[] = []): StopRequest {
  return steps.reduce(
    (request, step) => {
      if ('reads' in step) return afterReading(request, step.reads);
      const to = step.to ?? (verb === 'stop' ? 'interrupt' : verb);
      return afterVerb(request, to, step.answers, askedAtMs);
    },
    openStopRequest(verb, askedAtMs),
  );
}

/** The verb that is sent for this one request, after the state was read. */
function verbSentIn(state: State, request: StopRequest, nowMs = askedAtMs + 1): string | undefined {
  return nextVerb([afterReading(request, state)], state, nowMs)?.verb;
}

describe('which verb a new request to end the task sends', () => {
  it.each<[StopVerb, State, 'cancel' | 'interrupt' | undefined, StopOutcome]>([
    ['cancel', undefined, undefined, 'waiting'],
    ['cancel', 'Queuing', 'cancel', 'waiting'],
    ['cancel', 'Preparing', undefined, 'notApplicable'],
    ['cancel', 'Running', undefined, 'notApplicable'],
    ['cancel', 'Success', undefined, 'tooLate'],
    ['cancel', 'Failed', undefined, 'tooLate'],
    ['cancel', 'Canceled', undefined, 'tooLate'],
    ['interrupt', undefined, undefined, 'waiting'],
    ['interrupt', 'Queuing', undefined, 'waiting'],
    ['interrupt', 'Preparing', undefined, 'waiting'],
    ['interrupt', 'Running', 'interrupt', 'waiting'],
    ['interrupt', 'Success', undefined, 'tooLate'],
    ['interrupt', 'Failed', undefined, 'tooLate'],
    ['interrupt', 'Canceled', undefined, 'tooLate'],
    ['stop', undefined, undefined, 'waiting'],
    ['stop', 'Queuing', 'cancel', 'waiting'],
    ['stop', 'Preparing', undefined, 'waiting'],
    ['stop', 'Running', 'interrupt', 'waiting'],
    ['stop', 'Success', undefined, 'tooLate'],
    ['stop', 'Failed', undefined, 'tooLate'],
    ['stop', 'Canceled', undefined, 'tooLate'],
  ])('%s in %s sends %s, and is %s', (verb, state, sent, outcome) => {
    const request = requestAfter(verb);
    expect(verbSentIn(state, request)).toBe(sent);
    expect(afterReading(request, state).outcome).toBe(outcome);
  });
});

describe('what becomes of a request that was sent', () => {
  it.each<[string, StopVerb, readonly Step[], State, StopOutcome]>([
    ['taken', 'cancel', [{ answers: taken }], 'Queuing', 'sent'],
    ['taken', 'cancel', [{ answers: taken }], undefined, 'sent'],
    ['taken, and too late all the same', 'cancel', [{ answers: taken }], 'Preparing', 'refused'],
    ['taken, and too late all the same', 'cancel', [{ answers: taken }], 'Running', 'refused'],
    ['taken', 'cancel', [{ answers: taken }], 'Canceled', 'confirmed'],
    ['taken', 'cancel', [{ answers: taken }], 'Success', 'tooLate'],
    ['refused', 'cancel', [{ answers: refused }], 'Queuing', 'waiting'],
    ['refused', 'cancel', [{ answers: refused }], 'Running', 'refused'],
    ['perhaps not sent', 'cancel', [{ answers: unsent }], 'Queuing', 'waiting'],
    ['perhaps not sent', 'cancel', [{ answers: unsent }], 'Running', 'refused'],
    ['perhaps not sent', 'cancel', [{ answers: unsent }], 'Canceled', 'confirmed'],
    ['taken', 'interrupt', [{ answers: taken }], 'Running', 'sent'],
    ['taken', 'interrupt', [{ answers: taken }], 'Failed', 'confirmed'],
    ['taken', 'interrupt', [{ answers: taken }], 'Canceled', 'confirmed'],
    ['taken', 'interrupt', [{ answers: taken }], 'Success', 'tooLate'],
    ['refused', 'interrupt', [{ answers: refused }], 'Running', 'waiting'],
    ['taken', 'stop', [{ answers: taken, to: 'cancel' }], 'Preparing', 'sent'],
    ['taken', 'stop', [{ answers: taken, to: 'cancel' }], 'Running', 'sent'],
    ['taken', 'stop', [{ answers: taken }], 'Canceled', 'confirmed'],
    ['taken', 'stop', [{ answers: taken }], 'Failed', 'confirmed'],
    ['taken', 'stop', [{ answers: taken }], 'Success', 'tooLate'],
    ['refused', 'stop', [{ answers: refused }], 'Preparing', 'waiting'],
    ['perhaps not sent', 'stop', [{ answers: unsent }], 'Running', 'waiting'],
  ])('%s: a %s (%j) in %s is %s', (_what, verb, steps, state, outcome) => {
    expect(afterReading(requestAfter(verb, steps), state).outcome).toBe(outcome);
  });

  it('stays as it is once it is settled, whatever is read later', () => {
    for (const verb of verbs) {
      for (const end of ['Success', 'Failed', 'Canceled'] as const) {
        const settled = requestAfter(verb, [{ reads: end }]);
        for (const state of states) expect(afterReading(settled, state)).toEqual(settled);
      }
    }
  });
});

describe('sending again', () => {
  it('waits 15 s while what the service took shows no effect', () => {
    const request = requestAfter('interrupt', [{ answers: taken }]);
    expect(verbSentIn('Running', request, askedAtMs + 14_999)).toBeUndefined();
    expect(verbSentIn('Running', request, askedAtMs + 15_000)).toBe('interrupt');
  });

  it('follows at once when a stop’s cancel was taken and the task runs all the same', () => {
    const request = requestAfter('stop', [{ answers: taken, to: 'cancel' }]);
    expect(verbSentIn('Queuing', request)).toBeUndefined();
    expect(verbSentIn('Preparing', request)).toBeUndefined();
    expect(verbSentIn('Running', request)).toBe('interrupt');
  });

  it('follows at once after a refusal and after what could not be sent', () => {
    expect(verbSentIn('Running', requestAfter('stop', [{ answers: refused, to: 'cancel' }]))).toBe('interrupt');
    expect(verbSentIn('Running', requestAfter('interrupt', [{ answers: unsent }]))).toBe('interrupt');
  });

  it('ends for a verb of the service after its third refusal, but not after what could not be sent', () => {
    const twice = requestAfter('interrupt', [{ answers: refused }, { answers: unsent }, { answers: refused }]);
    expect(twice).toMatchObject({ outcome: 'waiting', sends: 3, refusals: 2 });
    expect(afterVerb(twice, 'interrupt', refused, askedAtMs).outcome).toBe('refused');
  });

  it('never ends for a stop, which has a deadline of its own', () => {
    const often = Array.from({ length: 10 }, () => ({ answers: refused }));
    expect(verbSentIn('Running', requestAfter('stop', often))).toBe('interrupt');
  });

  it('takes the first request that has something to send', () => {
    const cancel = requestAfter('cancel', [{ reads: 'Running' }]);
    const interrupt = requestAfter('interrupt');
    expect(nextVerb([cancel, interrupt], 'Running', askedAtMs)).toEqual({ verb: 'interrupt', request: interrupt });
    expect(nextVerb([cancel, interrupt], 'Queuing', askedAtMs)).toBeUndefined();
    expect(nextVerb([], 'Running', askedAtMs)).toBeUndefined();
  });
});

describe('a request to end a task that Longhaul no longer follows', () => {
  it.each<[string, StopRequest, boolean, StopOutcome, RegExp]>([
    ['never sent', requestAfter('stop'), true, 'unconfirmed', /^Never sent; the task may still run\.$/],
    [
      'taken',
      requestAfter('interrupt', [{ answers: taken }]),
      true,
      'unconfirmed',
      /interrupt was sent.*took it\..*may/,
    ],
    ['not sent', requestAfter('interrupt', [{ answers: unsent }]), true, 'unconfirmed', /reset\. The task may/],
    ['refused', requestAfter('stop', [{ answers: refused }]), true, 'unconfirmed', /refused the interrupt: no\./],
    ['pointless', requestAfter('interrupt'), false, 'tooLate', /over before/],
    ['answered', requestAfter('cancel', [{ reads: 'Running' }]), true, 'notApplicable', /Use interrupt or stop/],
  ])('that was %s waits for nothing', (_what, request, mayRun, outcome, words) => {
    const shown = afterEnd(request, mayRun);
    expect(shown).toMatchObject({ outcome, words: expect.stringMatching(words) as string });
    expect(shown.words).not.toMatch(/tried again|waiting for/);
  });
});

describe('what requests to end a task wait for', () => {
  it.each<[string, StopRequest[], State, ReturnType<typeof getStopWait>]>([
    ['nothing without one', [], 'Running', 'nothing'],
    ['nothing once it has its answer', [requestAfter('cancel', [{ reads: 'Running' }])], 'Running', 'nothing'],
    ['a change, when it is kept', [requestAfter('interrupt')], 'Queuing', 'change'],
    ['a change, before the task was seen', [requestAfter('cancel')], undefined, 'change'],
    ['the clock, when it is due', [requestAfter('interrupt')], 'Running', 'clock'],
    ['the clock, when it is on its way', [requestAfter('interrupt', [{ answers: taken }])], 'Running', 'clock'],
    ['the clock, when it is a stop, which must not take too long', [requestAfter('stop')], 'Preparing', 'clock'],
    ['the clock, when one of several does', [requestAfter('interrupt'), requestAfter('cancel')], 'Queuing', 'clock'],
  ])('is %s', (_what, requests, state, expected) => {
    expect(getStopWait(requests, state, askedAtMs + 1)).toBe(expected);
  });
});
