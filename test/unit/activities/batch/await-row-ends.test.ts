import { CancelledFailure } from '@temporalio/common';
import { awaitRowEnds } from '../../../../src/activities/batch/await-row-ends';
import { ClosedRows } from '../../../../src/activities/batch/closed-rows';
import type { AwaitRowEndsInput, AwaitRowEndsResult } from '../../../../src/contract/batch/batch-activities';
import type { ClosedRow, RowEnd } from '../../../../src/contract/batch/batch-rows';
import { eventually } from '../../../support/eventually';
import { rowEnd } from '../../../support/fake-batch';
import { ActivityEnvironment } from '../../../support/activity-environment';

const startMs = Date.parse('2026-01-01T00:00:00.000Z');

function at(seconds: number): string {
  return new Date(startMs + seconds * 1_000).toISOString();
}

/** Temporal's visibility and the rows' workflows, by hand. */
class FakeRows {
  /** In the order in which they closed; visibility shows them unless they are hidden. */
  readonly closed: (ClosedRow & { isHidden?: boolean })[] = [];
  /** Rows that run again. */
  readonly running = new Set<string>();
  readonly polled: string[] = [];
  questions = 0;
  /** How many batches one question was about. */
  most = 0;
  more: Partial<RowEnd> = {};

  close(key: string, seconds: number, isHidden = false): ClosedRow & { isHidden?: boolean } {
    const row = { key, runId: `01a203f8-c19b-${key.padEnd(8, '0')}`, closedAt: at(seconds), isHidden };
    this.closed.push(row);
    this.closed.sort((one, other) => (one.closedAt < other.closedAt ? -1 : 1));
    return row;
  }

  /** Temporal's clock is finer than these times: what closed in the same millisecond may have closed after it. */
  closedRows = (asked: readonly { readonly after: string }[]): Promise<ClosedRow[][]> => {
    this.questions += 1;
    this.most = Math.max(this.most, asked.length);
    const shown = this.closed.filter(({ isHidden }) => isHidden !== true);
    return Promise.resolve(asked.map(({ after }) => shown.filter(({ closedAt }) => closedAt >= after)));
  };

  poll = (_: string, key: string): Promise<RowEnd | undefined> => {
    this.polled.push(key);
    return Promise.resolve(this.running.has(key) ? undefined : rowEnd(key, this.more));
  };
}

function inputFrom(more: Partial<AwaitRowEndsInput> = {}): AwaitRowEndsInput {
  return { id: 'b', from: { closedAfter: at(0), seenRuns: [] }, enough: 1, collectMs: 20, ...more };
}

function waitIn(
  rows: FakeRows,
  input: AwaitRowEndsInput,
  closedRows = new ClosedRows(rows),
): Promise<AwaitRowEndsResult> {
  return awaitRowEnds({ rowTasks: rows, closedRows }, input);
}

async function run(rows: FakeRows, input: AwaitRowEndsInput): Promise<AwaitRowEndsResult> {
  return await new ActivityEnvironment().run(() => waitIn(rows, input));
}

async function failureOf(call: Promise<unknown>): Promise<unknown> {
  return await call.then(
    () => undefined,
    (error: unknown) => error,
  );
}

function keysOf({ ended }: AwaitRowEndsResult): string[] {
  return ended.map(({ key }) => key);
}

describe('the wait for rows to end', () => {
  it('goes on until a row has ended, and tells how', async () => {
    const rows = new FakeRows();
    const result = run(rows, inputFrom());
    await eventually(() => rows.questions > 2);
    rows.close('a', 1);
    expect(keysOf(await result)).toEqual(['a']);
  });

  it('returns at once with enough ends, and a moment after the first with fewer', async () => {
    const rows = new FakeRows();
    rows.close('a', 1);
    rows.close('b', 2);
    expect(keysOf(await run(rows, inputFrom({ enough: 2, collectMs: 60_000 })))).toEqual(['a', 'b']);
    expect(keysOf(await run(rows, inputFrom({ enough: 9 })))).toEqual(['a', 'b']);
  });

  it('tells no end twice, and misses none that visibility shows late', async () => {
    const rows = new FakeRows();
    rows.close('a', 10);
    const late = rows.close('late', 9, true);
    const first = await run(rows, inputFrom());
    late.isHidden = false;
    const second = await run(rows, inputFrom({ from: first.next }));
    rows.close('c', 60);
    const third = await run(rows, inputFrom({ from: second.next }));

    expect([first, second, third].map(keysOf)).toEqual([['a'], ['late'], ['c']]);
    // What was seen long ago is forgotten: it stands in histories.
    expect(third.next).toEqual({ closedAfter: at(55), seenRuns: ['c0000000'] });
  });

  it('tells no end twice that an earlier call told, however many calls follow within seconds', async () => {
    const rows = new FakeRows();
    const told: string[][] = [];
    let { from } = inputFrom();
    for (const [index, key] of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].entries()) {
      rows.close(key, 10 + index);
      const result = await run(rows, inputFrom({ from }));
      told.push(keysOf(result));
      from = result.next;
    }
    expect(told).toEqual([['a'], ['b'], ['c'], ['d'], ['e'], ['f'], ['g'], ['h']]);
    expect(from).toEqual({
      closedAfter: at(12),
      seenRuns: ['c0000000', 'd0000000', 'e0000000', 'f0000000', 'g0000000', 'h0000000'],
    });
  });

  it('takes no row for over whose latest run goes on', async () => {
    const rows = new FakeRows();
    rows.running.add('again');
    rows.close('again', 1);
    const result = run(rows, inputFrom());
    await eventually(() => rows.questions > 2);
    rows.close('b', 2);
    expect(keysOf(await result)).toEqual(['b']);
    expect(rows.polled).toEqual(['again', 'b']);
  });

  it('leaves the ends that do not fit into one result for the next one', async () => {
    const rows = new FakeRows();
    rows.more = { manifest: 'x'.repeat(20_000) };
    const keys = Array.from({ length: 100 }, (_, index) => `k${String(index).padStart(3, '0')}`);
    for (const [index, key] of keys.entries()) rows.close(key, (index + 1) / 100);
    const told: string[] = [];
    let calls = 0;
    for (let from = inputFrom().from; told.length < keys.length; calls += 1) {
      const result = await run(rows, inputFrom({ from, enough: 1_000 }));
      expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(1_500_000);
      told.push(...keysOf(result));
      from = result.next;
    }
    expect(told.toSorted()).toEqual(keys);
    expect(calls).toBeGreaterThan(1);
  });

  it('asks once for all batches of a worker, and goes on for those that are left when others have ended', async () => {
    const rows = new FakeRows();
    const closedRows = new ClosedRows(rows);
    const environments = Array.from({ length: 50 }, () => new ActivityEnvironment());
    const ends = environments.map((environment, index) =>
      environment.run((): Promise<AwaitRowEndsResult> =>
        waitIn(rows, inputFrom({ id: `b${index}`, collectMs: 1_000 }), closedRows),
      ),
    );
    const canceled = failureOf(ends[0] ?? Promise.resolve());
    await eventually(() => rows.questions >= 3);
    expect(rows.most).toBe(50);
    environments[0]?.cancel();
    expect(await canceled).toBeInstanceOf(CancelledFailure);
    rows.close('a', 1);
    const answered = await Promise.all(ends.slice(1));
    expect(new Set(answered.flatMap(keysOf))).toEqual(new Set(['a']));
    // The first is asked for alone, all in the next second with one question a second.
    expect(rows.questions).toBeLessThan(10);
  });

  it('is handed on at once when its worker stops', async () => {
    const environment = new ActivityEnvironment();
    const rows = new FakeRows();
    const failure = failureOf(environment.run(() => waitIn(rows, inputFrom())));
    await eventually(() => rows.questions > 0);
    environment.cancel('WORKER_SHUTDOWN');
    expect(await failure).toMatchObject({ type: 'WorkerStopping', nonRetryable: false });
  });

  it('ends when it is canceled', async () => {
    const environment = new ActivityEnvironment();
    const failure = failureOf(environment.run(() => waitIn(new FakeRows(), inputFrom())));
    environment.cancel();
    expect(await failure).toBeInstanceOf(CancelledFailure);
  });
});
