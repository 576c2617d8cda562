import { recordedStatus } from '../../../../src/commands/batch/record-lookup';

describe('of a row that Temporal alone knows, the check', () => {
  it.each([
    ['COMPLETED', 'Success', 'Success'],
    ['COMPLETED', 'Canceled', 'Canceled'],
    ['CANCELLED', 'Canceled', 'Canceled'],
    ['FAILED', 'Failed', 'Failed'],
    ['TERMINATED', 'Running', 'Failed'],
  ] as const)('takes a task that is %s with the status %s as %s', (execution, status, expected) => {
    expect(recordedStatus({ execution, status })).toBe(expected);
  });
});
