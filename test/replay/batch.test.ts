import { bundleWorkflowCode, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { batchStories } from '../support/batch-stories';
import { workflowSources } from '../../src/workflow-sources';
import { quietRuntime } from '../support/quiet-runtime';
import { machineWordsIn, readHistory, recordedNames } from '../support/recorded-history';
import { replayHistory } from '../support/replay-history';

let workflowBundle: WorkflowBundleWithSourceMap;
beforeAll(async () => {
  quietRuntime();
  workflowBundle = await bundleWorkflowCode(workflowSources());
});

describe('the recorded histories of the batch workflow', () => {
  it('are there for every story, with each run of those that continued as new', () => {
    const stories = new Set(recordedNames('batch').map((name) => name.replace(/-\d+$/, '')));
    expect([...stories].sort()).toEqual(batchStories.map(({ name }) => name).sort());
    expect(recordedNames('batch')).toEqual(expect.arrayContaining(['continued-as-new-1', 'continued-as-new-2']));
  });

  it.each(recordedNames('batch'))('are replayed by the current code: %s', async (name) => {
    expect(await replayHistory(workflowBundle, 'batch:replayed', readHistory(name, 'batch'))).toBeUndefined();
  });

  it.each(recordedNames('batch'))('name nothing of the machine they were recorded on: %s', (name) => {
    expect(machineWordsIn(name, 'batch')).toEqual([]);
  });
});
