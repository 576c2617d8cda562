import { chooseRows, cursorAfter } from '../../../src/rows';
import type { RowRecord } from '../../../src/contract/batch/batch-rows';
import { preparedRows } from '../../support/prepared-rows-under-test';

const [row] = preparedRows([{ key: 'a' }]);

function recorded(more: Partial<RowRecord>): RowRecord {
  return {
    ...{ key: 'a', index: 0, line: 1, page: 0, digest: row!.digest, status: 'Failed', requestId: 'r', createNumber: 1 },
    ...{ failure: { type: 'TaskFailed', message: 'no' }, outputs: [], outputCount: 0 },
    ...{ outputBytes: 0, manifest: null, uploads: null },
    ...{ startedAt: '2026-01-02T03:04:05.000Z', endedAt: '2026-01-02T03:04:06.000Z', ...more },
  };
}

const success = recorded({ status: 'Success', failure: null });
const changedSuccess = recorded({ status: 'Success', failure: null, digest: 'other' });
const failed = recorded({});
const canceled = recorded({ status: 'Canceled', failure: null });
const changed = recorded({ digest: 'other' });
const otherInput = { type: 'InputChanged', message: 'another input' };
const refused = recorded({ failure: otherInput, digest: 'other' });
const itselfAgain = recorded({ failure: otherInput });

const notCreated = { type: 'TaskRejected', message: 'no' };
const corrected = recorded({ failure: notCreated, requestId: null, digest: 'other' });
const correctedPaid = recorded({ failure: notCreated, requestId: null, digest: 'other', createNumber: 2 });
const correctedUncertain = recorded({
  failure: { type: 'CreateUncertain', message: 'who knows' },
  requestId: null,
  digest: 'other',
});

const unpaid = recorded({ failure: notCreated, requestId: null });
const unpaidKey = recorded({ failure: { type: 'AccountUnknown', message: 'no such account' }, requestId: null });
const unpaidTwice = recorded({ failure: notCreated, requestId: null, createNumber: 2 });

type Choice = Parameters<typeof chooseRows>[2];

const plain: Choice = { cursor: { page: 0, skip: 0 }, limit: 9, mode: 'new', choice: {} };
const retrying: Choice = { ...plain, choice: { retryFailed: true } };
const retryingUnpaid: Choice = { ...plain, choice: { retryUnpaid: true } };
const retryingAll: Choice = { ...plain, choice: { retryUnpaid: true, retryFailed: true } };
const allowingUnpaid: Choice = { ...plain, choice: { retryUnpaid: true, allowChanged: true } };
const allowing: Choice = { ...plain, choice: { allowChanged: true } };
const secondPass: Choice = { ...plain, mode: 'failed' };
const attempt: Choice = { ...plain, mode: 'retryable', since: '2026-01-02T03:04:05.000Z' };
const laterAttempt: Choice = { ...attempt, since: '2026-01-02T03:04:07.000Z' };
const allowingPass: Choice = { ...secondPass, choice: { allowChanged: true } };

describe('of the rows of a page', () => {
  it.each<[string, RowRecord | null, Choice, 'started' | 'left' | 'left and told' | 'passed over']>([
    ['a new row is', null, plain, 'started'],
    ['a success is', success, retrying, 'left'],
    ['a failed row is', failed, plain, 'left'],
    ['a failed row, when that is asked for, is', failed, retrying, 'started'],
    ['a row that was refused unpaid is', unpaid, plain, 'left'],
    ['a row that was refused unpaid, when only such are asked for, is', unpaid, retryingUnpaid, 'started'],
    ['a row whose API key was refused, when only unpaid ones are asked for, is', unpaidKey, retryingUnpaid, 'started'],
    ['a failed row, when only unpaid ones are asked for, is', failed, retryingUnpaid, 'left'],
    ['a row refused at a later create, when only unpaid ones are asked for, is', unpaidTwice, retryingUnpaid, 'left'],
    ['a stopped row, when only unpaid ones are asked for, is', canceled, retryingUnpaid, 'left'],
    ['a new row, when only unpaid ones are asked for, is', null, retryingUnpaid, 'passed over'],
    ['a changed row, when that is allowed and only unpaid ones are asked for, is', changed, allowingUnpaid, 'left'],
    ['a row whose own task was found, when only unpaid ones are asked for, is', itselfAgain, retryingUnpaid, 'left'],
    ['a corrected row, when only unpaid ones are asked for, is', corrected, retryingUnpaid, 'started'],
    ['a failed row, when unpaid ones and all are asked for, is', failed, retryingAll, 'started'],
    ['a stopped row is', canceled, plain, 'left'],
    ['a stopped row, when that is asked for, is', canceled, retrying, 'started'],
    ['a changed row is', changed, retrying, 'left'],
    ['a changed row that succeeded is', changedSuccess, retrying, 'left'],
    ['a changed row, when that is allowed, is', changed, allowing, 'started'],
    ['a changed row that succeeded, when that is allowed, is', changedSuccess, allowing, 'started'],
    ['a row whose key stood for another one is', refused, retrying, 'left'],
    ['a row whose key stood for another one, when that is allowed, is', refused, allowing, 'started'],
    ['a row whose own task was found under the key of another one is', itselfAgain, plain, 'started'],
    ['a row that was refused unpaid, and corrected, is', corrected, plain, 'started'],
    ['a row that was refused after one of its creates was paid, and corrected, is', correctedPaid, plain, 'left'],
    ['a changed row of which nobody knows whether it was paid is', correctedUncertain, plain, 'left'],
    ['in another attempt, a failed row is', failed, attempt, 'started'],
    ['in another attempt, a row that failed in an earlier run is', failed, laterAttempt, 'left'],
    [
      'in another attempt, a row that another attempt does not fix is',
      recorded({ failure: notCreated }),
      attempt,
      'left',
    ],
    ['in another attempt, a stopped row is', canceled, attempt, 'left'],
    ['in another attempt, a success is', success, attempt, 'left'],
    ['in another attempt, a changed row is', changed, attempt, 'left'],
    ['in another attempt, a row without a record is', null, attempt, 'passed over'],
    ['in a second pass, a row without a record is', null, secondPass, 'passed over'],
    ['in a second pass, a success is', success, secondPass, 'left'],
    ['in a second pass, a failed row is', failed, secondPass, 'started'],
    ['in a second pass, a stopped row is', canceled, secondPass, 'started'],
    ['in a second pass, a changed row is', changed, secondPass, 'left and told'],
    ['in a second pass, a changed row, when that is allowed, is', changed, allowingPass, 'started'],
    ['in a second pass, a changed row that succeeded is', changedSuccess, allowingPass, 'left'],
  ])('%s %s', (_, record, choice, fate) => {
    const records = new Map(record === null ? [] : [['a', record]]);
    const { chosen, left, onRecord, taken } = chooseRows([row!], records, choice);

    const counted = onRecord.success + onRecord.failed + onRecord.canceled;
    expect({ started: chosen.length, counted, told: left.length, taken }).toEqual({
      started: fate === 'started' ? 1 : 0,
      counted: fate === 'left' || fate === 'left and told' ? 1 : 0,
      told: fate === 'left and told' ? 1 : 0,
      taken: 1,
    });
  });

  it('as many are started as there are places, and those behind them that are on record are done with, too', () => {
    const rows = preparedRows(['a', 'b', 'c', 'd', 'e'].map((key) => ({ key })));
    const records = new Map(['a', 'd'].map((key) => [key, success]));

    const first = chooseRows(rows, records, { ...plain, limit: 2 });
    expect(first.chosen.map(({ row: { key } }) => key)).toEqual(['b', 'c']);
    expect(first).toMatchObject({ onRecord: { success: 2 }, taken: 4 });
    const second = chooseRows(rows, records, { ...plain, limit: 2, cursor: { page: 0, skip: 4 } });
    expect(second.chosen.map(({ row: { key } }) => key)).toEqual(['e']);
    expect(chooseRows(rows, records, { ...plain, limit: 0 })).toMatchObject({ chosen: [], taken: 1 });
  });

  it('the one after the last of a page is the first of the next, and after the last page there is none', () => {
    expect(cursorAfter(0, 3, 5, 2)).toEqual({ page: 0, skip: 3 });
    expect(cursorAfter(0, 5, 5, 2)).toEqual({ page: 1, skip: 0 });
    expect(cursorAfter(1, 5, 5, 2)).toBeNull();
  });
});
