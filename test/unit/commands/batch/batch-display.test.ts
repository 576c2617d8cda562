import {
  barLine,
  type BatchDisplay,
  budgetLine,
  countsLine,
  lastFailureLine,
  openBatchDisplay,
  paceLine,
  statesLine,
  type ShownBatch,
  problemLine,
  uploadLine,
} from '../../../../src/commands/batch/batch-display';
import type { BatchProgress } from '../../../../src/contract/batch/batch-messages';
import { eventually } from '../../../support/eventually';
import { drawn, escape, FakeStream, screenLines } from '../../../support/fake-context';
import { progressOf, startedAt } from './batch-under-test';

const startMs = Date.parse(startedAt);
const failure = { key: 'dog', line: 3, message: 'no such node' };

function shown(more: Partial<BatchProgress> = {}): ShownBatch {
  return { progress: progressOf(more), retrying: [], needPerson: 0, uploading: 0, createsHeldUp: null };
}

describe('the lines of a batch', () => {
  it('are the bar, the counts and the pace', () => {
    expect(barLine(progressOf(), 65_000)).toBe('[██████████████░░░░░░░░░░]  61 %  1,234 of 2,000 rows · 1:05');
    expect(countsLine(progressOf())).toBe('Running: 100 running, 666 waiting, 30 failed, 4 canceled');
    expect(paceLine(progressOf({ perMinute: 1.23, expectedEnd: null }), startMs)).toBe('1.2 rows a minute');
    expect(paceLine(progressOf(), startMs + 60_000)).toMatch(/^12 rows a minute, about 1:05 left \(until \d\d:\d\d\)$/);
  });

  it('tell no end before enough rows have ended for it to keep', () => {
    const ended = (success: number): string =>
      paceLine(progressOf({ success, failed: 0, canceled: 0 }), startMs + 60_000);
    expect(ended(4)).toBe('12 rows a minute');
    expect(ended(5)).toContain('left (until');
  });

  it('tell the end of the rows that run, where no more are started', () => {
    for (const state of ['Draining', 'Stopping'] as const) {
      expect(paceLine(progressOf({ state, running: 24, waiting: 6_000 }), startMs)).toMatch(
        /^12 rows a minute, about 1:56 left \(until \d\d:\d\d\)$/,
      );
    }
  });

  it('tell no end while no worker moves a row, however it was told before', () => {
    const stalled = progressOf({ lastMovedAt: startedAt });
    expect(paceLine(stalled, startMs + 60_000)).toContain('left (until');
    expect(paceLine(stalled, startMs + 432_000)).toBe(
      'no row has started or ended for 7:12, so no end can be estimated',
    );
  });

  it('tell what is spent of a budget, and are one fewer without one', () => {
    const money = (micros: number): { currency: string; micros: number } => ({ currency: 'EUR', micros });
    const budget = {
      ...{ budget: money(20e6), settled: money(12.4e6), expected: money(1.5e6), perRow: money(50_000) },
      ...{ unknown: 0, places: 3 },
    };
    expect(budgetLine(progressOf({ budget }))).toBe(
      'budget: 12.40 EUR of 20.00 EUR spent, 1.50 EUR expected for rows that run',
    );
    expect(budgetLine(progressOf({ budget: null }))).toBeUndefined();
    expect(budgetLine(progressOf())).toBeUndefined();

    const stream = new FakeStream();
    openBatchDisplay(stream).show(shown({ budget }));
    expect(stream.text).toContain(' · budget: 12.40 EUR of 20.00 EUR spent');
  });

  it('tell what the running rows do, and how long ago that was seen', () => {
    const rowStates = { asOf: startedAt, counts: { CreateUncertain: 1, Running: 2_000 } };
    expect(statesLine(progressOf({ rowStates }), startMs + 42_000)).toBe(
      '2,000 Running, 1 CreateUncertain; as of 0:42 ago',
    );
    // The clock of the worker may be ahead.
    expect(statesLine(progressOf({ rowStates }), startMs - 1)).toContain('; as of 0:00 ago');
    expect(statesLine(progressOf({ rowStates: { asOf: startedAt, counts: {} } }), startMs)).toBeUndefined();
    expect(statesLine(progressOf({ rowStates, running: 0 }), startMs)).toBeUndefined();
    expect(statesLine(progressOf(), startMs)).toBeUndefined();
  });

  it('say so when there is nothing to go by yet', () => {
    const nothing = { perMinute: null, expectedEnd: null };
    const counts = { Archiving: 13, Watching: 11, ArchiveIncomplete: 9 };
    const heldUp = { rows: 22, since: startedAt, activity: 'watchTask', words: 'HTTP 301' };
    const stuck: Partial<BatchProgress> = { running: 33, rowStates: { asOf: startedAt, counts, heldUp } };
    expect(paceLine(progressOf(stuck), startMs)).toBe(
      '31 of 33 rows that run are held up or wait for a person, so no end can be estimated',
    );
    expect(paceLine(progressOf({ ...stuck, running: 60 }), startMs)).toContain('left (until');
    expect(paceLine(progressOf({ ...nothing, success: 0, failed: 0, canceled: 0 }), startMs)).toBe(
      'no row has ended yet',
    );
    expect(paceLine(progressOf(nothing), startMs)).toBe('no row has ended since the start');
    expect(barLine(progressOf({ rows: 0, success: 0, failed: 0, canceled: 0 }), 0)).toContain('100 %');
  });

  it('tell of uploads where there are any, and of those that go on while rows run', () => {
    const uploads = { files: 1_234, bytes: 3_400_000_000, shared: 766 };
    expect(uploadLine(shown())).toBeUndefined();
    expect(uploadLine({ ...shown(), uploading: 1 })).toBe('uploads: 1 row now, 0 files (0 B) sent, 0 shared');
    expect(uploadLine({ ...shown({ uploads }), uploading: 5 })).toBe(
      'uploads: 5 rows now, 1,234 files (3.4 GB) sent, 766 shared',
    );
    expect(uploadLine(shown({ uploads, running: 0 }))).toBe('uploads: 1,234 files (3.4 GB) sent, 766 shared');
  });

  it('show the problem, and of the last failure', () => {
    const retry = {
      activity: 'openBatch',
      attempt: 3,
      lastFailure: 'disk full',
      nextAttemptAt: null,
      isPaused: false,
      waitsForTurn: false,
    };
    expect(problemLine(shown({ problem: 'no disk' }))).toBe('problem: no disk');
    expect(problemLine({ ...shown(), retrying: [retry] })).toBe('problem: openBatch, attempt 3: disk full');
    expect(problemLine({ ...shown(), needPerson: 1 })).toMatch(/^problem: 1 row waits for a person; longhaul list /);
    expect(problemLine({ ...shown(), needPerson: 2 })).toBe(
      `problem: 2 rows wait for a person; longhaul list --batch ${shown().progress.batchId} --needs-person`,
    );
    expect(problemLine(shown({ lastFailures: [failure] }))).toBeUndefined();
    expect(lastFailureLine(progressOf({ lastFailures: [failure] }))).toBe('last failure: dog (line 3): no such node');
  });
});

describe('the display of a batch on a terminal', () => {
  it.each([40, 80])('keeps every line within %i columns, whatever a failure says', async (columns) => {
    const stream = new FakeStream(columns);
    const display = openBatchDisplay(stream, () => startMs + 65_000);
    const message = `a long story ${'of trouble '.repeat(40)}`;

    const uploads = { files: 100_000, bytes: 3e14, shared: 1_000_000 };
    const batch = shown({ rows: 100_000, waiting: 98_666, uploads, lastFailures: [{ ...failure, message }] });
    display.show({ ...batch, uploading: 100_000 });
    await eventually(() => stream.text.includes('last failure') && stream.text.includes('uploads:'));
    display.showProblem(`Temporal cannot be reached ${message}`);
    await eventually(() => stream.text.includes('cannot be reached'));
    display.stop();

    expect(drawn(stream.text).filter((piece) => piece.length > columns - 1)).toEqual([]);
  });

  it('shows a budget to the end at 80 columns, and once when it is reached', async () => {
    const eur = (micros: number): { currency: string; micros: number } => ({ currency: 'EUR', micros });
    const budget = {
      ...{ budget: eur(20_000_000), settled: eur(19_200_000), expected: eur(400_000), perRow: eur(500_000) },
      ...{ unknown: 12, places: 0 },
    };
    const stream = new FakeStream(80);
    const display = openBatchDisplay(stream, () => startMs);
    display.show(shown({ budget, running: 1 }));
    const isWhole = (): boolean => drawn(stream.text).some((line) => line.endsWith('cost 0.50 EUR'));
    await eventually(isWhole);
    const before = stream.text.length;
    display.show(shown({ budget, running: 0, state: 'BudgetReached' }));
    await eventually(() => stream.text.slice(before).includes('AMOUNT'));
    display.stop();
    expect(stream.text.slice(before).split('no more rows').length).toBeLessThanOrEqual(2);
  });

  it('shows what a row failed with to the end at 80 columns, and so what keeps the batch', async () => {
    const stream = new FakeStream(80);
    const display = openBatchDisplay(stream, () => startMs);
    const message =
      'The task failed at the service: node 7 ran out of memory at 4096 x 4096; give a width of at most 2048.';
    display.show(shown({ lastFailures: [{ ...failure, message }] }));
    await eventually(() => drawn(stream.text).some((line) => line.endsWith('of at most 2048.')));
    display.showProblem(
      'No worker answered for batch:photos. Start one with "longhaul worker", and see "longhaul doctor".',
    );
    await eventually(() => drawn(stream.text).some((line) => line.endsWith('"longhaul doctor".')));
    display.stop();

    expect(drawn(stream.text).filter((line) => line.length > 79)).toEqual([]);
  });

  it('takes the expected end away while no worker answers', async () => {
    const stream = new FakeStream(120);
    const display = openBatchDisplay(stream, () => startMs);
    display.show(shown());
    await eventually(() => stream.text.includes('left (until'));
    display.showProblem('No worker answered for batch:photos.');
    await eventually(() => stream.text.includes('No worker answered'));
    const before = stream.text.lastIndexOf('No worker answered');
    display.showProblem('No worker answered again.');
    await eventually(() => stream.text.includes('again.'));
    display.stop();

    expect(stream.text.slice(before)).not.toContain('left (until');
  });

  it.each([40, 80])(
    'leaves nothing over of lines that are gone, and keeps their order, at %i columns',
    async (columns) => {
      const eur = (micros: number): { currency: string; micros: number } => ({ currency: 'EUR', micros });
      const budgetOf = (unknown: number): NonNullable<BatchProgress['budget']> => ({
        ...{ budget: eur(20_000_000), settled: eur(19_200_000), expected: eur(400_000), perRow: eur(500_000) },
        ...{ unknown, places: 0 },
      });
      const lastFailures = [failure];
      const short = shown({ lastFailures, running: 1, budget: budgetOf(0) });
      const long = { ...shown({ lastFailures, running: 1, budget: budgetOf(12) }), uploading: 5 };
      const none = shown({ lastFailures, running: 1 });
      const draw = async (batch: ShownBatch): Promise<[BatchDisplay, () => readonly string[]]> => {
        const stream = new FakeStream(columns);
        const display = openBatchDisplay(stream, () => startMs);
        display.show(batch);
        const screen = (): readonly string[] => screenLines(stream.text).filter((line) => line !== '');
        await eventually(() => screen().some((line) => line.endsWith('node')));
        return [display, screen];
      };
      for (const [from, to] of [
        [long, short],
        [short, long],
        [long, none],
      ] as const) {
        const [alone, expected] = await draw(to);
        const [display, screen] = await draw(from);
        expect(screen()).not.toEqual(expected());
        display.show(to);
        await eventually(() => screen().join('\n') === expected().join('\n'), { what: 'the lines of the batch alone' });
        alone.stop();
        display.stop();
      }
    },
  );

  it('draws nothing again that has not changed, and leaves the terminal as it was', async () => {
    const stream = new FakeStream(80);
    const display = openBatchDisplay(stream, () => startMs);
    display.show(shown());
    await eventually(() => stream.text.includes('rows a minute'));
    const before = stream.text.length;
    display.show(shown());
    await eventually(() => stream.text.length > before);

    expect(drawn(stream.text.slice(before))).toEqual([]);
    display.stop();
    expect(stream.text).not.toContain(`${escape}[2J`);
    expect(stream.text.lastIndexOf(`${escape}[?25h`)).toBeGreaterThan(stream.text.lastIndexOf(`${escape}[?25l`));
  });
});

describe('the display of a batch without a terminal', () => {
  it('is a line for every change of state, and one every ten seconds while rows end', () => {
    const stream = new FakeStream();
    let nowMs = startMs;
    const display = openBatchDisplay(stream, () => nowMs);
    for (const [second, more] of [
      [1, { success: 0 }],
      [2, { success: 1 }],
      [11, { success: 2 }],
      [12, { success: 3 }],
      [13, { success: 3, state: 'Paused' }],
      [60, { success: 3, state: 'Paused' }],
    ] as const) {
      nowMs = startMs + second * 1_000;
      display.show(shown({ failed: 0, canceled: 0, ...more }));
    }
    display.stop();

    const heads = stream.text
      .trimEnd()
      .split('\n')
      .map((line) => / {2}(\w+):.* (\d) of/.exec(line)?.slice(1));
    expect(heads).toEqual([
      ['Running', '0'],
      ['Running', '2'],
      ['Paused', '3'],
    ]);
  });

  it('shows a problem once, and again when it came back', () => {
    const stream = new FakeStream();
    const display = openBatchDisplay(stream, () => startMs);
    for (const problem of ['no disk', 'no disk', null, 'no disk']) display.show(shown({ problem }));

    expect(stream.text.match(/problem: no disk/g)).toHaveLength(2);
  });
});
