import { InputInvalidError } from '../../../src/client/errors';
import { checkedStart } from '../../../src/client/start-task';

const task = { key: 'mine', webAppId: 7, inputs: {} };

function problemsOf(input: object): readonly string[] {
  try {
    checkedStart({ ...task, ...input });
  } catch (error) {
    if (error instanceof InputInvalidError) return error.problems;
    throw error;
  }
  return [];
}

describe('a task that is started by itself', () => {
  it('may archive into any folder that is not a batch’s', () => {
    expect(problemsOf({ archive: 'campaign-7' })).toEqual([]);
    expect(problemsOf({ archive: 'batches/nb/results/mine' })).toEqual([
      expect.stringMatching(/^archive is "batches\/nb\/results\/mine", which is reserved/),
    ]);
  });

  it('is no row of a batch, whatever it says', () => {
    expect(problemsOf({ batch: { id: 'nb', key: 'a' } })).toEqual([
      expect.stringMatching(/^batch is {"id":"nb","key":"a"}, but the workflow "task:mine" is not that row/),
    ]);
  });
});
