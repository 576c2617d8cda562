import { describe, isSuccess } from '../answers';
import { inSection, type Clause } from '../clause';
import { allHold, holdsIf } from '../verdict';

/** Section 8: limits. What it says of callbacks is checked with section 6, of links with 2.4 and 2.7. */
export const section8: readonly Clause[] = inSection(
  '8',
  {
    statement: 'clients use a read timeout of at least 60 seconds in synchronous mode',
    needs: [],
    checkThroughClient: ({ defaults }) =>
      Promise.resolve(holdsIf(defaults.syncTimeoutMs >= 60_000, `it is ${defaults.syncTimeoutMs} ms`)),
  },
  {
    statement: 'a task may be polled every 1 to 3 seconds',
    check: async ({ tasks }) => {
      const { polls } = await tasks.followed();
      return allHold(polls.map(({ detail }) => holdsIf(isSuccess(detail), `a poll was refused: ${describe(detail)}`)));
    },
    checkThroughClient: ({ defaults: { poll } }) =>
      Promise.resolve(holdsIf(poll.minMs === 1_000 && poll.maxMs === 3_000, `${poll.minMs} to ${poll.maxMs} ms`)),
  },
  {
    statement: 'file_type inputs is accepted',
    needs: ['upload'],
    check: async ({ uploads }) => {
      const token = await uploads.token();
      // A success holds credentials: nothing of it is quoted.
      return holdsIf(isSuccess(token), `HTTP ${token.status}`);
    },
    checkThroughClient: async ({ journeys }) => {
      const { token } = await journeys.uploaded('image');
      return holdsIf(token.objectKey !== '', 'no token');
    },
  },
);
