import { answers, successors, walkCrashes } from '../../support/create-crash-walk';

describe.each(answers)('a create whose service %s', (answer) => {
  it.each(successors)(
    'is never sent twice where both could have been taken, wherever its attempt is cut off, when it is followed by %s',
    async (successor) => {
      for (const { wrong, missed } of await walkCrashes(answer, successor, false)) {
        expect(wrong).toEqual([]);
        expect(missed).toEqual([]);
      }
    },
  );
});
