import { randomUUID } from 'node:crypto';
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

  it('are all kept, thousands of them, until the service was asked about each', () => {
    const candidates = new CandidateRequestIds();
    for (let index = 0; index < 8_999; index += 1) candidates.add(randomUUID(), index);
    candidates.add('the-true-one', 8_999);
    expect(candidates.list()).toHaveLength(9_000);
    expect(candidates.list().at(-1)).toEqual({ requestId: 'the-true-one', sinceMs: 8_999 });
  });

  it.each<[string, (index: number) => string]>([
    ['short', (index) => index.toString(36)],
    ['long', (index) => `${'x'.repeat(190)}-${index}`],
    ['full of quotes', (index) => `${'"'.repeat(190)}-${index}`],
  ])('take no more room than the state of the next run has, however many %s ones there are', (_, idOf) => {
    const candidates = new CandidateRequestIds();
    for (let index = 0; index < 100_000; index += 1) candidates.add(idOf(index), 1_763_780_000_000);
    const bytes = JSON.stringify(candidates.list()).length;
    expect(bytes).toBeLessThanOrEqual(700_001);
    expect(bytes).toBeGreaterThan(600_000);
  });

  it('make room for new ones: of those that the service does not know only the last are asked about again', () => {
    const candidates = new CandidateRequestIds();
    for (let index = 0; index < 1_000; index += 1) candidates.add(`r-${index}`, index);
    for (let index = 0; index < 900; index += 1) candidates.markUnknown(`r-${index}`, 5_000);
    expect(candidates.list()).toHaveLength(150);
    expect(candidates.list()[0]).toEqual({ requestId: 'r-850', sinceMs: 850, unknownAtMs: 5_000 });
    expect(candidates.list().at(-1)).toEqual({ requestId: 'r-999', sinceMs: 999 });
  });

  it('when the room is full give up one that the service does not know, never one that it was not asked about', () => {
    const candidates = new CandidateRequestIds();
    const idOf = (index: number): string => `${'x'.repeat(195)}-${String(index).padStart(4, '0')}`;
    for (let index = 0; index < 5_000; index += 1) candidates.add(idOf(index), index);
    candidates.add(idOf(5_000), 5_000);
    expect(candidates.has(idOf(5_000))).toBe(false);
    candidates.markUnknown(idOf(7), 6_000);
    candidates.add(idOf(5_000), 5_000);
    expect(candidates.has(idOf(5_000))).toBe(true);
    expect(candidates.has(idOf(7))).toBe(false);
  });

  it('come last when the service gave no answer about them, so that it is asked about the others', () => {
    const candidates = new CandidateRequestIds();
    for (const requestId of ['r-1', 'r-2', 'r-3']) candidates.add(requestId, 1);
    candidates.postpone('r-1');
    expect(candidates.list().map(({ requestId }) => requestId)).toEqual(['r-2', 'r-3', 'r-1']);
  });

  it('go from run to run as they are', () => {
    const candidates = new CandidateRequestIds();
    candidates.add('r-1', 10);
    candidates.add('r-2', 20);
    candidates.markUnknown('r-1', 30);
    const next = new CandidateRequestIds(candidates.list());
    expect(next.list()).toEqual(candidates.list());
    next.remove('r-1');
    next.remove('r-2');
    expect(next.isEmpty).toBe(true);
  });
});
