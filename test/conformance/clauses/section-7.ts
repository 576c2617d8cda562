import { dataOf, describe, fieldsOf, isAccepted, isSuccess, itemsOf, quote, textOf } from '../answers';
import { inSection, type Clause } from '../clause';
import { allHold, holdsIf } from '../verdict';

/** Section 7: errors. */
export const section7: readonly Clause[] = inSection(
  '7',
  {
    statement: 'the envelope of a success is code 20000, message Ok, status true',
    needs: [],
    check: async ({ http }) => {
      const answer = await http.ask('list');
      const { code, message, status } = fieldsOf(answer.json);
      return holdsIf(code === 20000 && message === 'Ok' && status === true, describe(answer));
    },
  },
  {
    statement: 'a failed task is reported inside a successful query: status Failed and error_message in detail',
    needs: ['paid', 'failingApp'],
    check: async ({ tasks }) => {
      const { detail } = (await tasks.failed()).end;
      const { status, error_message } = dataOf(detail);
      return allHold([
        holdsIf(isSuccess(detail) && status === 'Failed', describe(detail)),
        holdsIf(textOf(error_message) !== '', `error_message is ${quote(error_message)}`),
      ]);
    },
    checkThroughClient: async ({ journeys }) => {
      const { detail } = (await journeys.failed()).end;
      return holdsIf(detail.status === 'Failed' && detail.errorMessage !== undefined, `it is ${detail.status}`);
    },
  },
  {
    statement: 'its outputs are a successful query as well, with an error_type and an error message field',
    needs: ['paid', 'failingApp'],
    check: async ({ tasks }) => {
      const { outputs } = (await tasks.failed()).end;
      const items = itemsOf(dataOf(outputs)['outputs']);
      return allHold([
        holdsIf(isSuccess(outputs), describe(outputs)),
        holdsIf(
          items.every(({ error_type }) => textOf(error_type) !== ''),
          'an item has no error_type',
        ),
        holdsIf(
          items.some((item) => 'error_msg' in item || 'error_message' in item),
          'no item has a message field',
        ),
      ]);
    },
    checkThroughClient: async ({ journeys }) => {
      const { outputs } = (await journeys.failed()).end;
      return holdsIf(outputs.status === 'Failed' && outputs.outputs.length > 0, `it is ${outputs.status}`);
    },
  },
  {
    statement: 'the reply to a create that failed has no requestId',
    check: async ({ http }) => {
      const answer = await http.ask('create', { body: {}, headers: { 'X-Svc-Task-Async': 'enable' } });
      return holdsIf(!isAccepted(answer), describe(answer));
    },
    checkThroughClient: async ({ client }) => {
      const { outcome } = await client.createTask({ webAppId: 0, inputValues: {} });
      return holdsIf(outcome !== 'accepted', outcome);
    },
  },
  {
    statement: 'a query about an unknown requestId is no success',
    needs: [],
    check: async ({ http }) => {
      const query = { requestId: '00000000-0000-4000-8000-000000000000' };
      const answers = [await http.ask('detail', { query }), await http.ask('outputs', { query })];
      return allHold(answers.map((answer) => holdsIf(!isSuccess(answer), describe(answer))));
    },
    checkThroughClient: async ({ client }) => {
      const isRefused = await client.getTask('00000000-0000-4000-8000-000000000000').then(
        () => false,
        () => true,
      );
      return holdsIf(isRefused, 'the client takes it for a success');
    },
  },
);
