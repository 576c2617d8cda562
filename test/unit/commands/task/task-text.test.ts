import { taskView } from './task-view';
import { cutOffText, resultText, statusText } from '../../../../src/commands/task/task-text';
import { formatClock } from '../../../../src/commands/terminal';
import type { TaskResult } from '../../../../src/contract/task-result';
import { formatBytes } from '../../../../src/core/text';

describe('numbers for a person', () => {
  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1_000, '1.0 kB'],
    [999_949, '999.9 kB'],
    [999_950, '1.0 MB'],
    [1_500_000_000, '1.5 GB'],
    [5e15, '5000.0 TB'],
  ])('%i bytes are %s', (bytes, expected) => {
    expect(formatBytes(bytes)).toBe(expected);
  });

  it.each([
    [-5, '0:00'],
    [999, '0:00'],
    [65_000, '1:05'],
    [3_599_999, '59:59'],
    [36_061_000, '10:01:01'],
  ])('%i ms on the clock are %s', (elapsedMs, expected) => {
    expect(formatClock(elapsedMs)).toBe(expected);
  });
});

it.each([
  ['COMPLETED', ''],
  ['FAILED', ''],
  ['TERMINATED', ' (terminated)'],
  ['TIMED_OUT', ' (timed out)'],
] as const)('the state of a task whose workflow is %s is followed by %j', (execution, words) => {
  expect(cutOffText(execution)).toBe(words);
});

describe('the status of a task as text', () => {
  it('has each decision as a command to paste, with its meaning as a comment', () => {
    const text = statusText(taskView({ status: 'CreateUncertain' }), 0);
    expect(text).toContain('longhaul resolve a --recreate  # the service does not show it');
    expect(text).not.toMatch(/--(?:recreate|abandon) \(/);
  });
});

describe('a result for a person', () => {
  const result: TaskResult = {
    workflowId: 'task:a',
    requestId: 'r-1',
    status: 'Success',
    outputs: [
      {
        path: '/srv/r-1/0.png',
        sha256: '0123456789abcdef0123',
        bytes: 1_500,
        ext: '.png',
        auditStatus: 2,
        errorType: 'NOT_ERROR',
      },
      {
        path: '/srv/r-1/1.png',
        sha256: 'fedcba9876543210fedc',
        bytes: 7,
        ext: '.png',
        auditStatus: null,
        errorType: 'HALF',
      },
    ],
    ...{ outputCount: 2, outputBytes: 1_507, failedOutputs: [], failedOutputCount: 0 },
    manifest: '/srv/r-1/manifest.json',
    costTimes: {},
    cost: null,
    timestamps: {
      endedAt: { iso: '2026-03-01T12:01:10.000Z', raw: '' },
      createdAt: { iso: '2026-03-01T12:00:00.000Z', raw: '' },
      executedAt: { iso: '2026-03-01T12:00:00.000Z', raw: '' },
      updatedAt: { iso: '2026-03-01T12:01:11.000Z', raw: '' },
      expiredAt: { iso: '2026-03-16T12:00:00.000Z', raw: '' },
    },
  };

  it('tells where the outputs are and how long each step took', () => {
    expect(resultText(result).split('\n')).toEqual([
      'Success  task:a',
      '  request id   r-1',
      '  output 0     /srv/r-1/0.png  (1.5 kB, sha256 0123456789abcdef)',
      '  output 1     /srv/r-1/1.png  (7 B, sha256 fedcba9876543210, HALF)',
      '  manifest     /srv/r-1/manifest.json',
      '  time line    2026-03-01T12:00:00.000Z created, +0:00 executed, +1:10 ended',
    ]);
  });

  it('tells outputs that failed at the service, and how many more the manifest has', () => {
    const failedOutputs = [{ index: 2, errorType: 'EXECUTION_ERROR', message: 'no memory' }];
    const text = resultText({ ...result, outputCount: 14_000, failedOutputs, failedOutputCount: 3 });
    expect(text.split('\n').slice(4, 7)).toEqual([
      '  and more     13998 outputs; the manifest has all',
      '  failed 2     at the service: EXECUTION_ERROR, no memory',
      '  and more     2 failed outputs; the manifest has all',
    ]);
  });

  it('says of a task that was never created that nothing was paid', () => {
    const nothing = { requestId: null, status: 'Canceled', outputs: [], outputCount: 0, manifest: null } as const;

    expect(resultText({ ...result, ...nothing, timestamps: {} }).split('\n')).toEqual([
      'Canceled  task:a',
      '  request id   none: nothing was created, nothing is paid',
    ]);
  });

  it('leaves out a time that is none', () => {
    const timestamps = { createdAt: { iso: null, raw: 'yesterday' } };

    expect(resultText({ ...result, timestamps })).not.toContain('time line');
  });
});
