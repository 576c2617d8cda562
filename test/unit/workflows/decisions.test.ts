import { PendingDecision } from '../../../src/workflows/task/decisions';
import { CandidateRequestIds } from '../../../src/workflows/task/candidate-request-ids';

describe('the desk where a parked task waits for a decision', () => {
  it('takes one of the decisions it is open for, and hands it out once', () => {
    const desk = new PendingDecision();
    desk.open(['adopt', 'abandon']);
    expect(desk.hasDecision).toBe(false);
    desk.take({ kind: 'adopt', requestId: 'r-1' });
    expect(desk.hasDecision).toBe(true);
    expect(desk.close()).toEqual({ kind: 'adopt', requestId: 'r-1' });
    expect(desk.hasDecision).toBe(false);
    expect(desk.close()).toBeUndefined();
  });

  it('refuses, in words, what it is not open for', () => {
    const desk = new PendingDecision();
    expect(() => {
      desk.take({ kind: 'recreate' });
    }).toThrow('"recreate" does not apply: The task waits for no decision now.');
    desk.open(['rearchive', 'abandon']);
    expect(() => {
      desk.take({ kind: 'recreate' });
    }).toThrow('"recreate" does not apply: It waits for rearchive, abandon.');
    expect(desk.hasDecision).toBe(false);
  });

  it('refuses a second decision, so that nobody is told something that will not happen', () => {
    const desk = new PendingDecision();
    desk.open(['adopt', 'abandon']);
    desk.take({ kind: 'abandon' });
    expect(() => {
      desk.take({ kind: 'adopt', requestId: 'r-1' });
    }).toThrow('"adopt" does not apply: A decision was taken already.');
    expect(desk.close()).toEqual({ kind: 'abandon' });
  });

  it('forgets the former decision when it opens again', () => {
    const desk = new PendingDecision();
    desk.open(['rearchive']);
    desk.take({ kind: 'rearchive' });
    desk.open(['rearchive']);
    expect(desk.hasDecision).toBe(false);
  });
});

describe('the request ids that callbacks brought', () => {
  it('are kept once each, in the order of their arrival, since when they came', () => {
    const candidates = new CandidateRequestIds();
    expect(candidates.isEmpty).toBe(true);
    candidates.add('r-1', 10);
    candidates.add('r-2', 20);
    candidates.add('r-1', 30);
    expect(candidates.arrived).toBe(2);
    expect(candidates.list()).toEqual([
      { requestId: 'r-1', sinceMs: 10 },
      { requestId: 'r-2', sinceMs: 20 },
    ]);
    expect(candidates.has('r-2')).toBe(true);
  });

  it('are dropped when the service does not know them; the count of arrivals stays', () => {
    const candidates = new CandidateRequestIds();
    candidates.add('r-1', 10);
    candidates.remove('r-1');
    expect(candidates.isEmpty).toBe(true);
    expect(candidates.arrived).toBe(1);
  });

  it('are the newest fifty: a flood of false ones neither fills the state of the next run nor keeps the last out', () => {
    const candidates = new CandidateRequestIds();
    for (let index = 0; index < 1_000; index += 1) candidates.add(`r-${index}`, index);
    expect(candidates.list()).toHaveLength(50);
    expect(candidates.list()[0]).toEqual({ requestId: 'r-950', sinceMs: 950 });
    expect(candidates.list().at(-1)).toEqual({ requestId: 'r-999', sinceMs: 999 });
  });

  it('go from run to run as they are', () => {
    const candidates = new CandidateRequestIds();
    candidates.add('r-1', 10);
    candidates.add('r-2', 20);
    const next = new CandidateRequestIds(candidates.list());
    expect(next.list()).toEqual(candidates.list());
    next.remove('r-1');
    next.remove('r-2');
    expect(next.isEmpty).toBe(true);
  });
});
