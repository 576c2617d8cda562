import { type BatchDisplay, openBatchDisplay, type ShownBatch } from '../../../../src/commands/batch/batch-display';
import type { BatchProgress } from '../../../../src/contract/batch/batch-messages';
import { eventually } from '../../../support/eventually';
import { drawn, escape, FakeStream, screenLines } from '../../../support/fake-context';
import { progressOf, startedAt } from '../../../support/batch-progress';

const startMs = Date.parse(startedAt);
const failure = { key: 'dog', line: 3, message: 'no such node' };

function shown(more: Partial<BatchProgress> = {}): ShownBatch {
  const nothing = { retrying: [], needPerson: 0, uploading: 0, createsHeldUp: null };
  return { progress: progressOf(more), isOver: false, ...nothing };
}

const eur = (micros: number): { currency: string; micros: number } => ({ currency: 'EUR', micros });

function budgetOf(unknown: number): NonNullable<BatchProgress['budget']> {
  return {
    budget: eur(20_000_000),
    settled: eur(19_200_000),
    expected: eur(400_000),
    perRow: eur(500_000),
    unknown,
    places: 0,
  };
}

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

  it.each([
    ['a budget', { budget: budgetOf(12), running: 1 }, 'cost 0.50 EUR'],
    ['a failure', { lastFailures: [{ ...failure, message: `${'node 7 '.repeat(20)}of at most 2048.` }] }, 'most 2048.'],
  ])('shows %s to the end at 80 columns', async (_, more, end) => {
    const stream = new FakeStream(80);
    const display = openBatchDisplay(stream, () => startMs);
    display.show(shown(more));
    await eventually(() => drawn(stream.text).some((line) => line.endsWith(end)));
    display.stop();

    expect(drawn(stream.text).filter((line) => line.length > 79)).toEqual([]);
  });

  it('says first what a person must do, counts no row as running that waits, and estimates no end', async () => {
    const stream = new FakeStream(80);
    const display = openBatchDisplay(stream, () => startMs);
    const rowStates = { asOf: startedAt, counts: { CreateUncertain: 2 } };
    display.show({ ...shown({ running: 2, rowStates }), needPerson: 2 });
    await eventually(() => stream.text.includes('no end'));
    display.stop();
    const lines = drawn(stream.text).filter((line) => line !== '');
    expect(lines[0]).toBe('wait for you: 2 rows: longhaul list --batch photos --needs-person');
    expect(lines.join('\n')).toMatch(/^Waiting for you: 2 wait for you, 0 running, .*waiting/m);
    expect(lines.join('\n')).not.toMatch(/left|until/);
  });

  it('says once that a budget is reached', async () => {
    const stream = new FakeStream(80);
    const display = openBatchDisplay(stream, () => startMs);
    display.show(shown({ budget: budgetOf(12), running: 0, state: 'BudgetReached' }));
    await eventually(() => stream.text.includes('AMOUNT'));
    display.stop();
    expect(stream.text.split('no more rows').length).toBeLessThanOrEqual(2);
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
    expect(stream.text.lastIndexOf(`${escape}[?7h`)).toBeGreaterThan(stream.text.lastIndexOf(`${escape}[?7l`));
    expect(stream.text.endsWith(`${escape}[0J`)).toBe(true);
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

  it('shows a problem once, and again when it came back or is another', () => {
    const stream = new FakeStream();
    const display = openBatchDisplay(stream, () => startMs);
    for (const problem of ['no disk', 'no disk', null, 'no disk']) display.show(shown({ problem }));
    expect(stream.text.match(/problem: no disk/g)).toHaveLength(2);

    const retry = {
      activity: 'openBatch',
      attempt: 3,
      lastFailure: 'disk full',
      nextAttemptAt: null,
      isPaused: false,
      waitsForTurn: false,
    };
    for (const attempt of [3, 4]) display.show({ ...shown(), retrying: [{ ...retry, attempt }] });
    expect(stream.text.match(/failing: openBatch, attempt \d: disk full/g)).toHaveLength(1);
    const heldUp = { rows: 1, since: startedAt, key: 'a', activity: 'createTask', words: 'busy' };
    for (const rows of [1, 2]) display.show({ ...shown(), createsHeldUp: { ...heldUp, rows } });
    expect(stream.text.match(/held up: .*busy/g)).toHaveLength(1);
  });
});
