import { settingsWithoutEffect } from '../../../src/client/batch/batch-settings';
import type { BatchInput } from '../../../src/contract/batch/batch-input';

const batch: BatchInput = { id: 'photos', rows: { location: '/rows', digest: 'ab', rows: 3, pages: 1 } };
const euros = (amount: number) => ({ micros: amount * 1_000_000, currency: 'EUR' });

describe('the options without effect on a batch that runs', () => {
  it('are those that are given and that it has otherwise', () => {
    const given = { ...batch, budget: '5EUR', concurrency: 7, webhook: 'orders', archive: 'drafts', attempts: 3 };
    const without = ['archive', 'budget', 'concurrency', 'webhook'];
    expect([...settingsWithoutEffect(given, { ...batch, attempts: 3 }, undefined)].sort()).toEqual(without);
  });

  it('are none where the batch has the same, however it was given', () => {
    const has: BatchInput = { ...batch, budget: '20.00EUR', retryFailed: true };
    const same = { ...batch, budget: '20EUR', retryFailed: true, concurrency: 100, watch: 'activity' } as const;
    expect(settingsWithoutEffect(same, has, undefined)).toEqual([]);
    expect(settingsWithoutEffect({ ...batch, names: '{requestId}/{index}{ext}' }, batch, undefined)).toEqual([]);
    expect(settingsWithoutEffect(batch, null, undefined)).toEqual([]);
  });

  it('are told by what the batch has now, where that was changed', () => {
    const given = { ...batch, concurrency: 5, budget: '30EUR' };
    const progress = { concurrency: 5, budget: null };
    expect(settingsWithoutEffect(given, given, progress)).toEqual(['budget']);
    expect(settingsWithoutEffect(given, { ...batch, concurrency: 9 }, { concurrency: 5 })).toEqual(['budget']);
    const costs = { settled: euros(0), expected: euros(0), perRow: euros(0), unknown: 0, places: 1 };
    const budget = { budget: euros(30), ...costs };
    expect(settingsWithoutEffect(given, batch, { concurrency: 5, budget })).toEqual([]);
  });

  it('are all that are given where what it was started with cannot be read', () => {
    expect(settingsWithoutEffect({ ...batch, attempts: 1, retryFailed: false }, null, undefined)).toEqual([
      'retryFailed',
      'attempts',
    ]);
  });
});
