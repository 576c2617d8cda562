import { dataOf, describe, fieldsOf, isAccepted, quote, textOf } from '../answers';
import { inSection, type Clause } from '../clause';
import { createBody } from '../create-body';
import type { ServiceContext } from '../service-context';
import { allHold, doesNotHold, holdsIf, NotCheckable } from '../verdict';

const UUID_LIKE = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

/** Section 2.2: the task. */
export const section22: readonly Clause[] = inSection(
  '2.2',
  {
    statement: 'a task is identified by a request id, a UUID-like string that create returns as requestId',
    check: async ({ tasks }) => {
      const requestId = textOf(fieldsOf((await tasks.created()).json)['requestId']);
      return holdsIf(UUID_LIKE.test(requestId), `requestId is ${quote(requestId)}`);
    },
    checkThroughClient: async ({ journeys }) => {
      const created = await journeys.created();
      return holdsIf(created.outcome === 'accepted' && UUID_LIKE.test(created.requestId), quote(created));
    },
  },
  {
    statement: 'the same value is request_id in the outputs response',
    check: async ({ tasks }) => {
      const { requestId, end } = await tasks.followed();
      const found = dataOf(end.outputs)['request_id'];
      return holdsIf(found === requestId, `request_id is ${quote(found)}, requestId was ${requestId}`);
    },
    checkThroughClient: async ({ journeys }) => {
      const { requestId, end } = await journeys.followed();
      return holdsIf(end.outputs.requestId === requestId, `requestId is ${quote(end.outputs.requestId)}`);
    },
  },
  {
    statement: 'the same value is request_id in callbacks',
    needs: ['paid', 'callbackReceiver'],
    check: async ({ tasks }) => {
      const { requestId, inbox } = await tasks.calledBack();
      const found = inbox.received[0]?.body['request_id'];
      return holdsIf(found === requestId, `request_id is ${quote(found)}, requestId was ${requestId}`);
    },
    checkThroughClient: async ({ journeys }) => {
      const { requestId, inbox } = await journeys.calledBack();
      return holdsIf(inbox.received[0]?.body['request_id'] === requestId, 'another request_id, or no callback');
    },
  },
  {
    statement: 'web_app_id is required',
    check: (service) => isRefusedWithout('web_app_id', service),
  },
  {
    statement: 'input_values is required',
    check: (service) => isRefusedWithout('input_values', service),
  },
  {
    statement: 'suppress_preview_output is optional: a task is accepted with and without it',
    needs: ['paid', 'callbackReceiver'],
    check: async ({ tasks }) => {
      const without = await tasks.created();
      const { created } = await tasks.createdWithBoth();
      return allHold([
        holdsIf(isAccepted(without), describe(without)),
        holdsIf(isAccepted(created), describe(created)),
      ]);
    },
  },
  {
    statement: 'keys of input_values have the form <node_id>:<NodeClass>.<parameter>, and their values reach the app',
    check: async ({ tasks }) => {
      const created = await tasks.created();
      if (!isAccepted(created)) return doesNotHold(describe(created));
      const { end } = await tasks.followed();
      return holdsIf(end.status === 'Success', `the task ended ${end.status}`);
    },
  },
  {
    statement: 'numbers given as strings are accepted as well',
    needs: ['paid', 'callbackReceiver'],
    check: async ({ target, tasks }) => {
      const values = Object.values(target.app?.inputs ?? {});
      if (!values.some((value) => typeof value === 'number')) {
        throw new NotCheckable('no input of the app is a number: give --input KEY=NUMBER');
      }
      const { created } = await tasks.createdWithCallback();
      if (!isAccepted(created)) return doesNotHold(describe(created));
      const { end } = await tasks.calledBack();
      return holdsIf(end.status === 'Success', `the task ended ${end.status}`);
    },
  },
);

async function isRefusedWithout(
  field: 'web_app_id' | 'input_values',
  { target, http, uploads }: ServiceContext,
): ReturnType<NonNullable<Clause['check']>> {
  const whole = await createBody(target, uploads);
  const body = Object.fromEntries(Object.entries(whole).filter(([name]) => name !== field));
  const answer = await http.ask('create', { body, headers: { 'X-Svc-Task-Async': 'enable' } });
  return holdsIf(!isAccepted(answer), `accepted without ${field}: ${describe(answer)}`);
}
