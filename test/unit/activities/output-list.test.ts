import { OutputList } from '../../../src/activities/output-list';
import type { OutputNames } from '../../../src/activities/manifest';
import type { OutputItem } from '../../../src/service';

/** As many as a list may have. */
const most = 20_000;
const names: OutputNames = { areItsOwn: true, manifest: 'manifest.json', output: String };

function itemOf(path: string): OutputItem {
  return { ext: '.png', errorType: 'NOT_ERROR', auditStatus: null, objectUrl: `https://storage.example/${path}?sig=1` };
}

function manyItems(count: number, prefix: string): OutputItem[] {
  return Array.from({ length: count }, (_, index) => itemOf(`${prefix}/${index}.png`));
}

describe('the longest list of outputs', () => {
  it('is taken in at once when all its paths but one are new, for the worker does nothing else meanwhile', () => {
    const list = new OutputList(names, [], 'key');
    list.update(manyItems(most, 'old'));
    const begunMs = performance.now();
    list.update([itemOf('old/7.png'), ...manyItems(most - 1, 'new')]);
    // A transfer without a heartbeat for ten seconds counts as lost.
    expect(performance.now() - begunMs).toBeLessThan(5_000);
    expect(list.outputs[7]?.item.objectUrl).toContain('old/7.png');
  });
});
