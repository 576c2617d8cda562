import { randomUUID } from 'node:crypto';
import { DecisionDesk } from '../../../src/workflows/task/decisions';
import { RequestIdOffers } from '../../../src/workflows/task/candidate-request-ids';

describe('the desk where a parked task waits for a decision', () => {
  it('takes one of the decisions it is open for, and hands it out once', () => {
    const desk = new DecisionDesk();
    desk.open(['adopt', 'abandon']);
    expect(desk.hasDecision).toBe(false);
    desk.take({ kind: 'adopt', requestId: 'r-1' });
    expect(desk.hasDecision).toBe(true);
    expect(desk.close()).toEqual({ kind: 'adopt', requestId: 'r-1' });
    expect(desk.hasDecision).toBe(false);
    expect(desk.close()).toBeUndefined();
  });

  it('refuses, in words, what it is not open for', () => {
    const desk = new DecisionDesk();
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
    const desk = new DecisionDesk();
    desk.open(['adopt', 'abandon']);
    desk.take({ kind: 'abandon' });
    expect(() => {
      desk.take({ kind: 'adopt', requestId: 'r-1' });
    }).toThrow('"adopt" does not apply: A decision was taken already.');
    expect(desk.close()).toEqual({ kind: 'abandon' });
  });

  it('forgets the former decision when it opens again', () => {
    const desk = new DecisionDesk();
    desk.open(['rearchive']);
    desk.take({ kind: 'rearchive' });
    desk.open(['rearchive']);
    expect(desk.hasDecision).toBe(false);
  });
});

describe('the request ids that callbacks brought', () => {
  it('are kept once each, in the order of their arrival, since when they came', () => {
    const offers = new RequestIdOffers();
    expect(offers.isEmpty).toBe(true);
    offers.add('r-1', 10);
    offers.add('r-2', 20);
    offers.add('r-1', 30);
    expect(offers.arrived).toBe(2);
    expect(offers.list()).toEqual([
      { requestId: 'r-1', sinceMs: 10 },
      { requestId: 'r-2', sinceMs: 20 },
    ]);
    expect(offers.has('r-2')).toBe(true);
  });

  it('are dropped when the service does not know them; the count of arrivals stays', () => {
    const offers = new RequestIdOffers();
    offers.add('r-1', 10);
    offers.drop('r-1');
    expect(offers.isEmpty).toBe(true);
    expect(offers.arrived).toBe(1);
  });

  it('are all kept, thousands of them, until the service was asked about each', () => {
    const offers = new RequestIdOffers();
    for (let index = 0; index < 8_999; index += 1) offers.add(randomUUID(), index);
    offers.add('the-true-one', 8_999);
    expect(offers.list()).toHaveLength(9_000);
    expect(offers.list().at(-1)).toEqual({ requestId: 'the-true-one', sinceMs: 8_999 });
  });

  it.each<[string, (index: number) => string]>([
    ['short', (index) => index.toString(36)],
    ['long', (index) => `${'x'.repeat(190)}-${index}`],
    ['full of quotes', (index) => `${'"'.repeat(190)}-${index}`],
  ])('take no more room than the state of the next run has, however many %s ones there are', (_, idOf) => {
    const offers = new RequestIdOffers();
    for (let index = 0; index < 100_000; index += 1) offers.add(idOf(index), 1_763_780_000_000);
    const bytes = JSON.stringify(offers.list()).length;
    expect(bytes).toBeLessThanOrEqual(700_001);
    expect(bytes).toBeGreaterThan(600_000);
  });

  it('make room for new ones: of those that the service does not know only the last are asked about again', () => {
    const offers = new RequestIdOffers();
    for (let index = 0; index < 1_000; index += 1) offers.add(`r-${index}`, index);
    for (let index = 0; index < 900; index += 1) offers.markUnknown(`r-${index}`, 5_000);
    expect(offers.list()).toHaveLength(150);
    expect(offers.list()[0]).toEqual({ requestId: 'r-850', sinceMs: 850, unknownAtMs: 5_000 });
    expect(offers.list().at(-1)).toEqual({ requestId: 'r-999', sinceMs: 999 });
  });

  it('when the room is full give up one that the service does not know, never one that it was not asked about', () => {
    const offers = new RequestIdOffers();
    const idOf = (index: number): string => `${'x'.repeat(195)}-${String(index).padStart(4, '0')}`;
    for (let index = 0; index < 5_000; index += 1) offers.add(idOf(index), index);
    offers.add(idOf(5_000), 5_000);
    expect(offers.has(idOf(5_000))).toBe(false);
    offers.markUnknown(idOf(7), 6_000);
    offers.add(idOf(5_000), 5_000);
    expect(offers.has(idOf(5_000))).toBe(true);
    expect(offers.has(idOf(7))).toBe(false);
  });

  it('come last when the service gave no answer about them, so that it is asked about the others', () => {
    const offers = new RequestIdOffers();
    for (const requestId of ['r-1', 'r-2', 'r-3']) offers.add(requestId, 1);
    offers.postpone('r-1');
    expect(offers.list().map(({ requestId }) => requestId)).toEqual(['r-2', 'r-3', 'r-1']);
  });

  it('go from run to run as they are', () => {
    const offers = new RequestIdOffers();
    offers.add('r-1', 10);
    offers.add('r-2', 20);
    offers.markUnknown('r-1', 30);
    const next = new RequestIdOffers(offers.list());
    expect(next.list()).toEqual(offers.list());
    next.drop('r-1');
    next.drop('r-2');
    expect(next.isEmpty).toBe(true);
  });
});
