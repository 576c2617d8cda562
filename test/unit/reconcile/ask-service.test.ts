import { askAccounts, askService } from '../../../src/reconcile/ask-service';
import { KnownTasks } from '../../../src/reconcile/known-tasks';
import { ServiceClient } from '../../../src/service';
import { PollLimiter } from '../../../src/service/account-gate';
import { startHttpServer } from '../../support/start-http-server';

describe('a service whose account rests longer than a question waits', () => {
  it('leaves its tasks unanswered and is not asked, while the comparison goes on', async () => {
    const client = new ServiceClient({ baseUrl: 'http://127.0.0.1:1', apiKey: () => 'key-of-a-test' });
    const known = new KnownTasks({ sinceMs: 0, taskQueue: null });
    known.addListed('r-1');
    known.addListed('r-2');
    // One question in an hour: the second is further off than it may wait.
    const polls = new PollLimiter({ perSecond: 1 / 3_600 });
    await polls.run(() => Promise.resolve(), 0);
    const signal = new AbortController().signal;
    const inTurn = <T>(_account: string, query: () => Promise<T>): Promise<T> => polls.runInLine(query, 10, { signal });

    const asked = await askService({ services: new Map([['default', client]]), inTurn }, known, null, () => undefined);

    expect(asked).toBe(2);

    const answers = [...known.all()].map(({ atService }) => atService);
    const held = { says: 'nothing', words: expect.stringContaining('the query was not sent') as string };
    expect(answers).toEqual([held, held]);
    await client.close();
  });
});

describe('a service that refuses the API key of an account', () => {
  it.each([
    ['because it does not accept it', () => 'key-of-a-test'],
    ['because there is none to send', () => ''],
  ])('is told with the account whose key is to be corrected, %s', async (_why, apiKey) => {
    const server = await startHttpServer((_request, response) => {
      response.writeHead(401).end();
    });
    const client = new ServiceClient({ baseUrl: server.url, apiKey });
    const { facts } = await askAccounts({ services: new Map([['studio', client]]) }, 'r-1', 'studio');
    expect(facts).toMatchObject({ says: 'nothing', refusedKeyOf: 'studio' });
    await client.close();
    await server.close();
  });
});
