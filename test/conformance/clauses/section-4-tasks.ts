import { costOf, dataOf, describe, fieldIs, fieldsOf, isAccepted, isSuccess, quote } from '../answers';
import { inSection, type Clause, type Statement } from '../clause';
import type { EndpointName } from '../plain-http';
import { allHold, doesNotHold, holds, holdsIf, NotCheckable } from '../verdict';

/** Sections 4.1 to 4.5: the endpoints of tasks. */
export const section4Tasks: readonly Clause[] = [
  ...inSection(
    '4.1',
    {
      statement: 'in asynchronous mode create answers HTTP 202 with {requestId: string}',
      check: async ({ tasks }) => {
        const created = await tasks.created();
        return allHold([
          holdsIf(created.status === 202, describe(created)),
          fieldIs(fieldsOf(created.json), 'requestId', 'string'),
        ]);
      },
      checkThroughClient: async ({ journeys }) => {
        const { outcome } = await journeys.created();
        return holdsIf(outcome === 'accepted', outcome);
      },
    },
    {
      statement: 'in callback mode create answers HTTP 202 with {requestId: string}',
      needs: ['paid', 'callbackReceiver'],
      check: async ({ tasks }) => {
        const { created } = await tasks.createdWithCallback();
        return allHold([
          holdsIf(created.status === 202, describe(created)),
          fieldIs(fieldsOf(created.json), 'requestId', 'string'),
        ]);
      },
      checkThroughClient: async ({ journeys }) => {
        const { requestId } = await journeys.calledBack();
        return holdsIf(requestId !== '', 'no request id');
      },
    },
    {
      statement: 'requestId is the handle for later queries',
      check: async ({ tasks }) => {
        const { polls } = await tasks.followed();
        return allHold(
          polls.flatMap(({ detail, outputs }) => [
            holdsIf(isSuccess(detail), describe(detail)),
            holdsIf(isSuccess(outputs), describe(outputs)),
          ]),
        );
      },
    },
    {
      statement: 'in synchronous mode the connection is held until the task ends',
      check: async ({ tasks }) => {
        const answer = await tasks.synchronous();
        const { end } = await tasks.followed();
        const ranMs = costOf(end.detail, 'running_cost_time');
        return holdsIf(
          !(answer.tookMs < ranMs / 2),
          `answered after ${answer.tookMs} ms; the task runs for ${ranMs} ms`,
        );
      },
      checkThroughClient: async ({ journeys }) => {
        const { httpStatus } = await journeys.synchronous();
        return holdsIf(httpStatus === 200, `HTTP ${httpStatus}`);
      },
    },
  ),
  ...inSection(
    '4.2',
    {
      statement: 'detail answers with the envelope and the fields of 2.3',
      check: async ({ tasks }) => {
        const { end } = await tasks.followed();
        const data = dataOf(end.detail);
        const names = [
          'type',
          'status',
          'created_at',
          'updated_at',
          'executed_at',
          'ended_at',
          'expired_at',
          'cost_times',
          'group_id',
        ];
        const missing = names.filter((name) => !(name in data));
        return holdsIf(missing.length === 0, `without ${missing.join(', ')}`);
      },
      checkThroughClient: async ({ client, journeys }) => {
        const { requestId, end } = await journeys.followed();
        const { status } = await client.getTask(requestId);
        return holdsIf(status === end.detail.status, `it is ${status}`);
      },
    },
    requiresRequestId('detail'),
    {
      statement: 'detail need not carry the async header',
      check: async ({ http, tasks }) => {
        const { requestId } = await tasks.followed();
        const bare = await http.ask('detail', { query: { requestId } });
        return holdsIf(isSuccess(bare), describe(bare));
      },
    },
    exactName('detail'),
  ),
  ...inSection(
    '4.3',
    {
      statement: 'outputs answers with request_id, status and an array of outputs',
      check: async ({ tasks }) => {
        const { polls } = await tasks.followed();
        return allHold(
          polls.flatMap(({ outputs }) => [
            fieldIs(dataOf(outputs), 'request_id', 'string'),
            fieldIs(dataOf(outputs), 'status', 'string'),
            fieldIs(dataOf(outputs), 'outputs', 'array'),
          ]),
        );
      },
      checkThroughClient: async ({ journeys }) => {
        const { requestId, status } = (await journeys.followed()).end.outputs;
        return holdsIf(requestId !== undefined && status !== '', quote(requestId));
      },
    },
    requiresRequestId('outputs'),
    exactName('outputs'),
  ),
  ...inSection(
    '4.4',
    {
      statement: 'cancel, a PUT of JSON without a body, answers HTTP 200',
      check: async ({ tasks }) => {
        const { before, answer } = (await tasks.canceled()).first;
        if (before !== 'Queuing') throw new NotCheckable(`the task was ${before} when it was to be canceled`);
        return holdsIf(answer.status === 200, describe(answer));
      },
      checkThroughClient: async ({ journeys }) => {
        const { end } = await journeys.canceled();
        return holdsIf(end.status === 'Canceled', `it is ${end.status}`);
      },
    },
    {
      statement: 'cancel is idempotent: repeated, it answers HTTP 200 again',
      check: async ({ tasks }) => {
        const { first, second } = await tasks.canceled();
        if (first.after !== 'Canceled') throw new NotCheckable('the task could not be canceled');
        return holdsIf(second.answer.status === 200, describe(second.answer));
      },
      checkThroughClient: async ({ journeys }) => {
        const { end } = await journeys.canceled();
        return holdsIf(end.status === 'Canceled', `it is ${end.status}`);
      },
    },
    requiresRequestId('cancel'),
    exactName('cancel'),
  ),
  ...inSection(
    '4.5',
    {
      statement: 'interrupt, a PUT of JSON without a body, answers HTTP 200',
      needs: ['paid', 'slowApp'],
      check: async ({ tasks }) => {
        const { later, answer } = await tasks.interrupted();
        if (later.status !== 'Running') throw new NotCheckable(`the task was ${later.status}`);
        return holdsIf(answer.status === 200, describe(answer));
      },
      checkThroughClient: async ({ journeys }) => {
        const { before } = await journeys.interrupted();
        return holdsIf(before === 'Running', `it was ${before ?? ''}`);
      },
    },
    requiresRequestId('interrupt'),
    {
      statement: 'the name of the query parameter of interrupt is case-sensitive',
      needs: ['paid', 'slowApp'],
      check: async ({ tasks }) => {
        const { later, misnamed } = await tasks.interrupted();
        if (later.status !== 'Running') throw new NotCheckable(`the task was ${later.status}`);
        return holdsIf(!isSuccess(misnamed), `requestid is taken for requestId: ${describe(misnamed)}`);
      },
    },
  ),
];

/** Asked about a task for which it would succeed under the right name. */
function exactName(name: 'detail' | 'outputs' | 'cancel'): Statement {
  return {
    statement: `the name of the query parameter of ${name} is case-sensitive`,
    check: async ({ http, tasks }) => {
      const { requestId } = name === 'cancel' ? await tasks.canceled() : await tasks.followed();
      for (const wrong of ['requestid', 'RequestId', 'request_id']) {
        const answer = await http.ask(name, { query: { [wrong]: requestId } });
        if (isSuccess(answer)) return doesNotHold(`${wrong} is taken for requestId: ${describe(answer)}`);
      }
      return holds;
    },
  };
}

function requiresRequestId(name: EndpointName): Statement {
  return {
    statement: `${name} requires requestId`,
    needs: [],
    check: async ({ http }) => {
      const answer = await http.ask(name);
      return holdsIf(!isSuccess(answer) && !isAccepted(answer), `a success without it: ${describe(answer)}`);
    },
  };
}
