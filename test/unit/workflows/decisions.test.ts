import { DecisionDesk } from '../../../src/workflows/decisions';
import { RequestIdOffers } from '../../../src/workflows/request-id-offers';

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

  it('are bounded, whatever is sent', () => {
    const offers = new RequestIdOffers();
    for (let index = 0; index < 1_000; index += 1) offers.add(`r-${index}`, index);
    expect(offers.list()).toHaveLength(10);
    expect(offers.arrived).toBe(10);
  });
});
