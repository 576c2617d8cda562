import { answers, successors, walkCrashes } from '../../support/create-crash-walk';

// After an attempt whose claim was kept, and not answered.
describe.each(answers)('a create whose service %s', (answer) => {
  it.each(successors)(
    'is never sent twice where both could have been taken, wherever its attempt is cut off, when it is followed by %s',
    async (successor) => {
      for (const { wrong, missed } of await walkCrashes(answer, successor, true)) {
        expect(wrong).toEqual([]);
        expect(missed).toEqual([]);
      }
    },
  );
});
