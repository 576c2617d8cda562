import type { TaskView } from '../../../../src/client/task/task-view';
import type { Problem } from '../../../../src/contract/problem';
import { openProgress } from '../../../../src/commands/task/follow-task';
import { statusLine, transferLine } from '../../../../src/commands/task/task-text';
import { eventually } from '../../../support/eventually';
import { drawn, FakeStream } from '../../../support/fake-context';
import { startedAt, taskView } from './task-view';

const afterMs = (elapsedMs: number): (() => number) => {
  return () => Date.parse(startedAt) + elapsedMs;
};
const view = (more: Partial<TaskView> = {}): TaskView => taskView({ requestId: '3f0c2a4e-51c5-4a3e', ...more });

const upload = {
  transfer: 'upload',
  name: 'a photo with a very long name.jpg',
  bytes: 25e6,
  totalBytes: 100e6,
} as const;

const retrying = (message: string): Problem => ({ code: 'Retrying', message, since: null, remedy: null });

describe('a status line', () => {
  it.each<[string, Partial<TaskView>, string]>([
    ['a state', {}, '1:05  Running · request 3f0c2a4e…'],
    ['a place in the queue', { status: 'Queuing', queuePosition: 3 }, '1:05  Queuing, 3 ahead · request 3f0c2a4e…'],
    ['the head of the queue', { status: 'Queuing', queuePosition: 0 }, '1:05  Queuing, next · request 3f0c2a4e…'],
    ['a queue of unknown length', { status: 'Queuing', queuePosition: -1 }, '1:05  Queuing, next · request 3f0c2a4e…'],
    [
      'a state that a worker watches',
      { status: 'Watching', serviceStatus: 'Running' },
      '1:05  Watching: Running · request 3f0c2a4e…',
    ],
    [
      'a place in the queue that a worker watches',
      { status: 'Watching', serviceStatus: 'Queuing', queuePosition: 3 },
      '1:05  Watching: Queuing, 3 ahead · request 3f0c2a4e…',
    ],
    ['no request id yet', { status: 'Creating', requestId: null }, '1:05  Creating'],
    [
      'a problem, since when, and what to do',
      { problem: { code: 'Paused', message: 'storeInput is paused', since: startedAt, remedy: 'Unpause it.' } },
      '1:05  Running · request 3f0c2a4e… · Paused since 2026-03-01 12:00:00 UTC: storeInput is paused Unpause it.',
    ],
    [
      'a problem that goes by itself',
      { requestId: null, problem: retrying('storeInput: disk full') },
      '1:05  Running · Retrying: storeInput: disk full',
    ],
  ])('tells %s', (_, more, expected) => {
    expect(statusLine(view(more), 65_000)).toBe(expected);
  });

  it('of a transfer has a bar where the length is known', () => {
    expect(transferLine(upload)).toBe('  uploading a photo with a very long… [█████░░░░░░░░░░░░░░░]  25 % of 100.0 MB');
    expect(transferLine({ ...upload, transfer: 'archive', name: '0.png', totalBytes: null })).toBe(
      '  archiving 0.png                     25.0 MB',
    );
  });
});

describe('progress without a terminal', () => {
  it('is a plain line for every change, and none in between', () => {
    const stream = new FakeStream();
    let elapsedMs = 0;
    const progress = openProgress(stream, () => afterMs(elapsedMs)());
    const states = [{ status: 'Queuing', queuePosition: 2 }, { status: 'Queuing', queuePosition: 2 }, {}, {}, {}];

    for (const state of states) {
      elapsedMs += 1_000;
      progress.show(view(state));
    }
    progress.stop();

    expect(stream.text).toBe('0:01  Queuing, 2 ahead · request 3f0c2a4e…\n0:03  Running · request 3f0c2a4e…\n');
  });

  it('names a transfer once', () => {
    const stream = new FakeStream();
    const progress = openProgress(stream, afterMs(0));

    for (const bytes of [0, 50e6, 100e6]) progress.show(view({ transfers: [{ ...upload, bytes }] }));
    progress.stop();

    expect(stream.text.split('\n').filter((line) => line.includes('uploading'))).toHaveLength(1);
  });

  it('lets no text of another system break a line', () => {
    const stream = new FakeStream();
    const progress = openProgress(stream, afterMs(0));

    progress.show(view({ problem: retrying('first\nsecond\u001b[2Jthird') }));
    progress.stop();

    expect(stream.text.trimEnd()).toBe('0:00  Running · request 3f0c2a4e… · Retrying: first second\\u001b[2Jthird');
  });
});

describe('progress on a terminal', () => {
  it.each([40, 80, 200])('fits %i columns', async (columns) => {
    const stream = new FakeStream(columns);
    const progress = openProgress(stream, afterMs(65_000));

    progress.show(view({ problem: retrying('a very long story '.repeat(20)), transfers: [upload] }));
    await eventually(() => stream.text.includes('uploading'));
    progress.stop();

    expect(drawn(stream.text).filter((piece) => piece.length > columns - 1)).toEqual([]);
    expect(stream.text).toContain('1:05  Running · request 3f0c2a4e…');
  });
});
