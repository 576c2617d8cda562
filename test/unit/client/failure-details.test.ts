import { type FailureDetails, TaskFailedError } from '../../../src/index';

const result = {
  ...{ workflowId: 'task:a', requestId: 'r-1', status: 'Failed', manifest: null, costTimes: {}, timestamps: {} },
  ...{ outputs: [], outputCount: 0, outputBytes: 0, failedOutputs: [], failedOutputCount: 0, cost: null },
};

/** The details of each type, as its workflow writes them, with what every failure has beside them. */
const written: Readonly<Record<keyof FailureDetails, object>> = {
  InputInvalid: { problems: ['webAppId is 0'] },
  InputUnusable: { inputs: ['1:LoadImage.image'] },
  TaskRejected: { httpStatus: 400, code: null },
  CreateUncertain: { createNumber: 2 },
  TaskFailed: { result },
  SuccessNoOutputs: { result },
  DeadlineExceeded: { result },
  TaskNotFound: { requestId: 'r-1' },
  ResultLost: { requestId: 'r-1' },
  ArchiveIncomplete: { requestId: 'r-1' },
  StopUnconfirmed: { requestId: null },
  RowsChanged: { changed: 1, changedRows: [{ line: 7, key: 'row-7' }], renamed: null },
};
const types = Object.keys(written) as (keyof FailureDetails)[];

function failed(failureType: TaskFailedError['failureType'], details: unknown): TaskFailedError {
  return new TaskFailedError({ failureType, details, message: 'no', workflowId: 'task:a', requestId: null });
}

describe('detailsOf', () => {
  it.each(types)('gives the details of %s', (type) => {
    const details = { startedAt: '2026-01-01T00:00:00.000Z', createNumber: 1, ...written[type] };
    expect(failed(type, details).detailsOf(type)).toEqual(details);
  });

  it.each(types)('gives nothing when %s says nothing, or something else', (type) => {
    for (const details of [null, {}, 'text', [written[type]], { requestId: 7, problems: 'x', result: {} }]) {
      expect(failed(type, details).detailsOf(type)).toBeUndefined();
    }
  });

  it('gives nothing of another type', () => {
    expect(failed('TaskNotFound', written.ResultLost).detailsOf('ResultLost')).toBeUndefined();
    expect(failed('WorkflowTerminated', null).detailsOf('TaskFailed')).toBeUndefined();
  });

  it('gives none of a type that has none, which JavaScript may ask for', () => {
    for (const type of ['ServiceRefused', 'AccountRefused', 'toString'] as const) {
      expect(failed(type as 'ServiceRefused', null).detailsOf(type as 'TaskFailed')).toBeUndefined();
    }
  });
});
