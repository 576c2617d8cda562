import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { failureTypes, retryableFailures, unpaidRefusals } from '../../../src/contract/failure-types';
import { searchAttributeTypes } from '../../../src/contract/search-attributes';
import { sweepScheduleId, sweepWorkflow } from '../../../src/contract/sweep';
import {
  archiveTaskQueue,
  transferTaskQueue,
  watchTaskQueue,
  workflowTaskQueue,
} from '../../../src/contract/task-queues';
import * as workflows from '../../../src/workflows';

/*
 * Names that outlive a process: they stand in histories, in saved searches, in other people's code. A test that fails
 * here means a breaking change; it needs an entry in the changelog, not just another word below.
 */
describe('the durable names', () => {
  it('of the failures', () => {
    // Which there are, docs/reference/contract.md lists, and contract-schema.test.ts compares.
    for (const [name, type] of Object.entries(failureTypes)) expect(type).toBe(name);
  });

  it('of those that another attempt may fix, which docs/reference/errors.md lists', () => {
    const page = readFileSync(join(__dirname, '../../../docs/reference/errors.md'), 'utf8');
    const [, listed = ''] = /with one of these types: ([^.]+)\./.exec(page) ?? [];
    expect([...listed.matchAll(/`(\w+)`/g)].map(([, type]) => type)).toEqual(retryableFailures);
    const batches = readFileSync(join(__dirname, '../../../docs/guides/batches.md'), 'utf8');
    const [, unpaid = ''] = /before anything was paid \(([^)]+)\)/.exec(batches) ?? [];
    expect([...unpaid.matchAll(/`(\w+)`/g)].map(([, type]) => type).sort()).toEqual([...unpaidRefusals].sort());
  });

  it('of the search attributes, each with its type', () => {
    expect(searchAttributeTypes).toEqual({
      LonghaulStatus: 'Keyword',
      LonghaulApp: 'Keyword',
      LonghaulRequestId: 'Keyword',
      LonghaulBatch: 'Keyword',
      LonghaulAccount: 'Keyword',
      LonghaulFailure: 'Keyword',
      LonghaulTags: 'KeywordList',
    });
  });

  it('of the task queues', () => {
    expect(workflowTaskQueue).toBe('longhaul');
    expect(transferTaskQueue()).toBe('longhaul-transfer');
    expect(transferTaskQueue('blue')).toBe('blue-transfer');
    expect(archiveTaskQueue()).toBe('longhaul-archive');
    expect(archiveTaskQueue('blue')).toBe('blue-archive');
    expect(watchTaskQueue()).toBe('longhaul-watch');
    expect(watchTaskQueue('blue')).toBe('blue-watch');
  });

  it('of the workflows', () => {
    expect(Object.keys(workflows)).toEqual(['accountDay', 'batch', 'sweep', 'task', 'webhook']);
    expect(sweepWorkflow).toBe('sweep');
    expect([sweepScheduleId('longhaul'), sweepScheduleId('blue')]).toEqual(['longhaul-sweep', 'longhaul-sweep-blue']);
  });
});
