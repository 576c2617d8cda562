import { afterQuery, areFailingLong, type FailingQueries } from '../../../src/core/task-state';

const failed = { seen: 'nothing', problem: 'HTTP 502' } as const;
const inTurn = { seen: 'nothing', problem: 'the query was not sent', turnInMs: 1_000 } as const;
const answered = { seen: 'task', status: 'Running' } as const;
const notFound = { seen: 'notFound' } as const;

/** What is known after these queries, one a second from second 1 on. */
function after(...queries: Parameters<typeof afterQuery>[1][]): FailingQueries | undefined {
  return queries.reduce<FailingQueries | undefined>(
    (failing, query, index) => afterQuery(failing, query, (index + 1) * 1_000),
    undefined,
  );
}

describe('queries that fail one after the other', () => {
  it('are counted from the first of them on, until one is answered', () => {
    expect(after(answered, failed, failed)).toEqual({ sinceMs: 2_000, lastMs: 3_000, queries: 2, problem: 'HTTP 502' });
    expect(after(failed, failed, answered)).toBeUndefined();
    expect(after(failed, failed, notFound)).toBeUndefined();
  });

  it('are not those that wait for their turn within a limit', () => {
    expect(after(inTurn, inTurn)).toBeUndefined();
    expect(after(failed, inTurn, inTurn)).toEqual({ sinceMs: 1_000, lastMs: 1_000, queries: 1, problem: 'HTTP 502' });
  });

  it('fail for long after three minutes, if they are more than two', () => {
    const failing = { sinceMs: 0, lastMs: 180_000, queries: 3, problem: 'HTTP 502' };
    expect(areFailingLong(failing)).toBe(true);
    expect(areFailingLong({ ...failing, lastMs: 179_000 })).toBe(false);
    expect(areFailingLong({ ...failing, queries: 2, lastMs: 600_000 })).toBe(false);
  });
});
