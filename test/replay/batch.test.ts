import { batchStories } from '../support/batch-stories';
import { quietRuntime } from '../support/quiet-runtime';
import { machineWordsIn, readHistory, recordedNames } from '../support/recorded-history';
import { type ReplayBundle, replayHistory } from '../support/replay-history';
import { workflowBundle } from '../support/product-build';

let bundle: ReplayBundle;
beforeAll(async () => {
  quietRuntime();
  bundle = await workflowBundle();
});

describe('the recorded histories of the batch workflow', () => {
  it('are there for every story, with each run of those that continued as new', () => {
    const stories = new Set(recordedNames('batch').map((name) => name.replace(/-\d+$/, '')));
    const expected = batchStories.map(({ name }) => name);
    expect([...stories].sort()).toEqual(expected.sort());
    expect(recordedNames('batch')).toEqual(expect.arrayContaining(['continued-as-new-1', 'continued-as-new-2']));
  });

  it.each(recordedNames('batch'))('are replayed by the current code: %s', async (name) => {
    expect(await replayHistory(bundle, readHistory(name, 'batch'))).toBeUndefined();
  });

  it.each(recordedNames('batch'))('name nothing of the machine they were recorded on: %s', (name) => {
    expect(machineWordsIn(name, 'batch')).toEqual([]);
  });
});

describe.each(['account-day', 'sweep', 'webhook'] as const)('the recorded histories of the workflow %s', (workflow) => {
  it.each(recordedNames(workflow))(
    'are replayed by the current code, and name nothing of the machine: %s',
    async (name) => {
      expect(await replayHistory(bundle, readHistory(name, workflow))).toBeUndefined();
      expect(machineWordsIn(name, workflow)).toEqual([]);
    },
  );
});
