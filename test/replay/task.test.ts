import { DeterminismViolationError } from '@temporalio/workflow';
import { quietRuntime } from '../support/quiet-runtime';
import {
  historyOfRetriedRun,
  machineWordsIn,
  readHistory,
  type RecordedHistory,
  recordedNames,
} from '../support/recorded-history';
import { type ReplayBundle, replayHistory } from '../support/replay-history';
import { workflowBundle } from '../support/product-build';
import { allTaskStories } from '../support/waiting-stories';

let bundle: ReplayBundle;
beforeAll(async () => {
  quietRuntime();
  bundle = await workflowBundle();
});

/** What the current code says to a history; `undefined`: it would do the same again. */
function replay(history: RecordedHistory): Promise<Error | undefined> {
  return replayHistory(bundle, history);
}

/** The history with every text that names `from` naming `to`. */
function renamed(history: RecordedHistory, from: string, to: string): RecordedHistory {
  return JSON.parse(JSON.stringify(history).replaceAll(`"${from}"`, `"${to}"`)) as RecordedHistory;
}

describe('the recorded histories of the task workflow', () => {
  it('are there for every story, with each run of those that continued as new', () => {
    const stories = new Set(recordedNames().map((name) => name.replace(/-\d+$/, '')));
    const others = [historyOfRetriedRun];
    const expected = [...allTaskStories.map(({ name }) => name), ...others];
    expect([...stories].sort()).toEqual(expected.sort());
    expect(recordedNames()).toEqual(expect.arrayContaining(['continued-as-new-1', 'continued-as-new-2']));
  });

  it.each(recordedNames())('are replayed by the current code: %s', async (name) => {
    expect(await replay(readHistory(name))).toBeUndefined();
  });

  it.each(recordedNames())('name nothing of the machine they were recorded on: %s', (name) => {
    expect(machineWordsIn(name)).toEqual([]);
  });
});

describe('a history that the current code would not repeat', () => {
  it.each([
    ['an activity of another name', 'main-line', 'createTask', 'makeTask'],
    ['a timer where an activity is', 'main-line', 'EVENT_TYPE_ACTIVITY_TASK_SCHEDULED', 'EVENT_TYPE_TIMER_STARTED'],
    [
      'another end',
      'cancel-while-queuing',
      'EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED',
      'EVENT_TYPE_WORKFLOW_EXECUTION_FAILED',
    ],
  ])('is refused as a breach of determinism: %s', async (_what, name, from, to) => {
    const altered = renamed(readHistory(name), from, to);
    expect(altered).not.toEqual(readHistory(name));
    expect(await replay(altered)).toBeInstanceOf(DeterminismViolationError);
  });
});
