import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { isAccepted, isSuccess } from '../answers';
import { inSection, type Clause, type Statement, type Need } from '../clause';
import type { ClientContext } from '../client-context';
import { createBody } from '../create-body';
import { ENDPOINTS, type Ask, type EndpointName } from '../plain-http';
import type { ServiceContext } from '../service-context';
import { CALLBACK_TOKEN } from '../task-journeys';
import { allHold, doesNotHold, holds, holdsIf, type Verdict } from '../verdict';

/** For each endpoint a request that only lacks its key. */
const requests: Readonly<
  Record<EndpointName, { readonly needs: readonly Need[]; readonly ask: (service: ServiceContext) => Promise<Ask> }>
> = {
  create: {
    needs: ['paid'],
    ask: async ({ target, uploads }) => ({
      body: await createBody(target, uploads),
      headers: { 'X-Svc-Task-Async': 'enable' },
    }),
  },
  detail: { needs: ['paid'], ask: ofFollowedTask },
  outputs: { needs: ['paid'], ask: ofFollowedTask },
  cancel: { needs: ['paid'], ask: async ({ tasks }) => ({ query: { requestId: (await tasks.canceled()).requestId } }) },
  interrupt: { needs: ['paid'], ask: ofFollowedTask },
  token: { needs: [], ask: () => Promise.resolve({ query: { file_name: 'photo.png', file_type: 'inputs' } }) },
  commit: {
    needs: ['upload'],
    ask: async ({ uploads }) => {
      const { file, objectKey } = await uploads.uploaded('image');
      return { body: { name: file.name, object_key: objectKey } };
    },
  },
  list: { needs: [], ask: () => Promise.resolve({}) },
  metadata: { needs: [], ask: () => Promise.resolve({}) },
};

/** The same with another key through the client; each must be refused. */
const clientCalls: Readonly<Record<EndpointName, (client: ClientContext['client']) => Promise<unknown>>> = {
  create: async (client) => {
    const created = await client.createTask({ webAppId: 1, inputValues: {} });
    if (created.outcome === 'rejected') throw new Error('rejected');
  },
  detail: (client) => client.getTask(randomUUID()),
  outputs: (client) => client.getOutputs(randomUUID()),
  cancel: (client) => client.cancelTask(randomUUID()),
  interrupt: (client) => client.interruptTask(randomUUID()),
  token: (client) => client.getUploadToken('photo.png'),
  commit: (client) => client.commitInput({ name: 'photo.png', objectKey: 'inputs/2026-01-01/none.png' }),
  list: (client) => client.listInputs(),
  metadata: (client) => client.getUserMetadata(),
};

/** Section 5: authentication. */
export const section5: readonly Clause[] = inSection(
  '5',
  ...Object.entries(requests).map(([name, { needs, ask }]): Statement => ({
    statement: `${name} takes the header Authorization: Bearer <API_KEY>, and nothing without it or with another key`,
    needs,
    check: async (service) => {
      if (!isEndpoint(name)) return doesNotHold('no endpoint');
      const question = await ask(service);
      const answers = [
        await service.http.ask(name, { ...question, authorization: null }),
        await service.http.ask(name, { ...question, authorization: 'Bearer not-a-key-of-anybody' }),
        await service.http.ask(name, { ...question, authorization: service.target.apiKey }),
      ];
      // An answer that should not have come may hold credentials: nothing of it is quoted.
      return allHold(
        answers.map((answer, number) =>
          holdsIf(
            !isSuccess(answer) && !isAccepted(answer),
            `HTTP ${answer.status} ${['without a key', 'with another key', 'with a key that is no Bearer'][number] ?? ''}`,
          ),
        ),
      );
    },
    checkThroughClient: async ({ withKey }) => {
      if (!isEndpoint(name)) return doesNotHold('no endpoint');
      const client = withKey('not-a-key-of-anybody');
      const isRefused = await clientCalls[name](client).then(
        () => false,
        () => true,
      );
      return holdsIf(isRefused, 'the client takes it for a success');
    },
  })),
  {
    statement: 'X-Svc-Task-Authorization comes back as the Authorization header of each callback',
    needs: ['paid', 'callbackReceiver'],
    check: async ({ tasks }) => {
      const { inbox } = await tasks.calledBackInVain();
      const found = inbox.received.map(({ headers }) => headers.authorization);
      return allHold([
        holdsIf(found.length > 0, 'no callback came'),
        holdsIf(
          found.every((value) => value === CALLBACK_TOKEN),
          'a callback has another Authorization, or none',
        ),
      ]);
    },
    checkThroughClient: async ({ journeys }) => {
      const { inbox } = await journeys.calledBack();
      return holdsIf(
        inbox.received[0]?.headers.authorization === CALLBACK_TOKEN,
        'another Authorization, or no callback',
      );
    },
  },
  {
    statement: 'the upload credentials must not be exposed to logs',
    needs: ['upload'],
    checkThroughClient: async ({ journeys }): Promise<Verdict> => {
      const { token } = await journeys.uploaded('image');
      const shown = inspect(token) + JSON.stringify(token);
      const isShown = [token.accessKeyId, token.accessKeySecret, token.securityToken].some((each) =>
        shown.includes(each),
      );
      return isShown ? doesNotHold('a printed token shows them') : holds;
    },
  },
);

async function ofFollowedTask({ tasks }: ServiceContext): Promise<Ask> {
  return { query: { requestId: (await tasks.followed()).requestId } };
}

function isEndpoint(name: string): name is EndpointName {
  return name in ENDPOINTS;
}
