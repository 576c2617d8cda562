import { pollRows } from '../../../../src/activities/batch/running-rows';
import type { PollRowsInput, StartRowsResult } from '../../../../src/contract/batch/batch-activities';
import {
  boundedRowEnd,
  maxRowOutputBytes,
  type RowEnd,
  type RowStart,
  type RowStarted,
  type RunningRow,
} from '../../../../src/contract/batch/batch-rows';
import { chooseRows, maxEndBytes, type PreparedRow } from '../../../../src/rows';
import { endedRow, RecordUnderTest } from '../../../support/record-under-test';
import { preparedRows } from '../../../support/prepared-rows-under-test';
import { ActivityEnvironment } from '../../../support/activity-environment';

const keys = Array.from({ length: 500 }, (_, index) => `k${index}`);
const [row] = preparedRows([{ key: 'k' }]);

/** One run of an activity, as a worker does it. */
function run<Input, Result>(activity: (input: Input) => Promise<Result>, input: Input): Promise<Result> {
  return new ActivityEnvironment().run(activity, input);
}

/** Where a row stands; run with another input then. */
function place({ key, index, line }: PreparedRow): RunningRow {
  return { key, index, line, page: 0, digest: 'other' };
}

/** As large as an end can be, and larger. */
function largeEnd(key: string): RowEnd {
  const outputs = Array.from({ length: 900 }, (_, index) => ({
    path: `${'x'.repeat(700)}${index}`,
    sha256: 'ab',
    bytes: 1,
  }));
  const failure = { type: 'T'.repeat(100_000), message: 'm'.repeat(100_000) };
  return boundedRowEnd({
    ...endedRow(row!, 0),
    key,
    outputs,
    failure,
    requestId: 'r'.repeat(9_000),
    manifest: 'm'.repeat(9_000),
  });
}

describe('the end of a row', () => {
  it('is bounded, whatever its task says', () => {
    const end = largeEnd('k');
    expect(end).toMatchObject({ requestId: null, manifest: null, outputCount: 1 });
    expect(end.failure?.type).toHaveLength(80);
    expect(end.failure?.message).toHaveLength(300);
    expect(JSON.stringify(end).length).toBeLessThan(maxRowOutputBytes + 2_000);
    expect(end.outputs.length).toBeGreaterThan(10);
  });
});

describe('pollRows', () => {
  it('tells of as many ends as one result takes, and of the rest when it is asked again', async () => {
    const asked: string[] = [];
    const look = (_id: string, key: string): Promise<RowEnd> => {
      asked.push(key);
      return Promise.resolve(largeEnd(key));
    };
    const parts = { rowTasks: { poll: look } };
    const found: string[] = [];
    let rest: readonly string[] = keys;
    for (let calls = 0; rest.length > 0 && calls < 100; calls += 1) {
      const result = await run((input: PollRowsInput) => pollRows(parts, input), { id: 'b', keys: rest });
      expect(JSON.stringify(result).length).toBeLessThan(2 * maxEndBytes);
      expect(result.ended).toHaveLength(result.polled ?? 0);
      found.push(...result.ended.map(({ key }) => key));
      rest = rest.slice(result.polled);
    }
    expect(found).toEqual(keys);
    expect(asked).toHaveLength(keys.length);
  });
});

describe('startRows', () => {
  it('starts no more rows than one result can tell of, each once, and goes on with the rest', async () => {
    const started: string[] = [];
    const start = (one: RowStart): Promise<RowStarted> => {
      started.push(one.key);
      return Promise.resolve({ state: 'ended', end: largeEnd(one.key), digest: one.digest });
    };
    const batch = new RecordUnderTest(undefined, { start });
    try {
      const [reference] = await batch.write(
        keys.slice(0, 200).map((key) => ({ key })),
        200,
      );
      const ended: string[] = [];
      let cursor: StartRowsResult['next'] = { page: 0, skip: 0 };
      for (let calls = 0; cursor !== null && calls < 50; calls += 1) {
        const result: StartRowsResult = await batch.start(reference, { cursor, limit: 200 });
        expect(JSON.stringify(result).length).toBeLessThan(2 * maxEndBytes);
        ended.push(...result.ended.map(({ key }) => key));
        cursor = result.next;
      }
      expect(ended).toEqual(keys.slice(0, 200));
      expect(started).toEqual(ended);
    } finally {
      batch.close();
    }
  });

  it('leaves no more failed rows at a time than one result can tell of', () => {
    const rows = preparedRows(keys.map((key) => ({ key })));
    const records = new Map(
      rows.map((one) => [one.key, { ...largeEnd(one.key), ...place(one), status: 'Failed' } as const]),
    );
    const choice = { limit: 9, mode: 'failed', choice: {} } as const;
    const left: string[] = [];
    for (let skip = 0; skip < rows.length;) {
      const chosen = chooseRows(rows, records, { ...choice, cursor: { page: 0, skip } });
      expect(JSON.stringify(chosen.left).length).toBeLessThan(2 * maxEndBytes);
      expect(chosen.taken).toBeGreaterThan(skip);
      left.push(...chosen.left.map(({ key }) => key));
      skip = chosen.taken;
    }
    expect(left).toEqual(keys);
  });
});
