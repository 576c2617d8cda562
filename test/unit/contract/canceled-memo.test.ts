import { readCanceledMemo } from '../../../src/contract/task-result';

const nothing = { manifest: null, costTimes: {}, cost: null, timestamps: {} };

describe('what the memo says of a stopped task', () => {
  it.each([
    ['nothing', undefined],
    ['another version wrote none', {}],
    ['a text', { canceledResult: 'x' }],
    ['a list', { canceledResult: [1] }],
    ['null', { canceledResult: null }],
    ['fields of other kinds', { canceledResult: { manifest: 7, costTimes: 'x', timestamps: [null] } }],
    ['facts of other kinds', { canceledResult: { startedAt: 'yesterday', createNumber: -1, uploads: { files: 1 } } }],
    [
      'values of other kinds',
      { canceledResult: { costTimes: { a: '7' }, timestamps: { a: 7, b: { iso: 7, raw: '' } } } },
    ],
  ])('counts as nothing when it is something else: %s', (_, memo) => {
    expect(readCanceledMemo(memo)).toEqual(nothing);
  });
});
