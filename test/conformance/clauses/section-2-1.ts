import { describe, fieldIs, fieldsOf, quote } from '../answers';
import { inSection, type Clause, type Statement, type Need } from '../clause';
import type { Answer, EndpointName } from '../plain-http';
import type { ServiceContext } from '../service-context';
import { allHold, doesNotHold, holdsIf, NotCheckable } from '../verdict';

/** How a successful answer of each endpoint with an envelope comes about. */
const successes: readonly {
  readonly name: EndpointName;
  readonly needs: readonly Need[];
  /** Whether the specification shows what is in `data`. */
  readonly hasData: boolean;
  readonly answer: (service: ServiceContext) => Promise<Answer>;
}[] = [
  { name: 'detail', needs: ['paid'], hasData: true, answer: async ({ tasks }) => (await tasks.followed()).end.detail },
  {
    name: 'outputs',
    needs: ['paid'],
    hasData: true,
    answer: async ({ tasks }) => (await tasks.followed()).end.outputs,
  },
  {
    name: 'cancel',
    needs: ['paid'],
    hasData: false,
    answer: async ({ tasks }) => (await tasks.canceled()).first.answer,
  },
  {
    name: 'interrupt',
    needs: ['paid', 'slowApp'],
    hasData: false,
    answer: async ({ tasks }) => (await tasks.interrupted()).answer,
  },
  { name: 'token', needs: ['upload'], hasData: true, answer: ({ uploads }) => uploads.token() },
  {
    name: 'commit',
    needs: ['upload'],
    hasData: true,
    answer: async ({ uploads }) => (await uploads.uploaded('image')).commit,
  },
  { name: 'list', needs: [], hasData: true, answer: ({ http }) => http.ask('list') },
  { name: 'metadata', needs: [], hasData: false, answer: ({ http }) => http.ask('metadata') },
];

/** Section 2.1: the response envelope. */
export const section21: readonly Clause[] = inSection(
  '2.1',
  ...successes.map(({ name, needs, hasData, answer: get }): Statement => ({
    statement: `${name} answers with the envelope: code 20000, message a text, status true${hasData ? ', data an object' : ''}`,
    needs,
    check: async (service) => {
      const answer = await get(service);
      const envelope = fieldsOf(answer.json);
      return allHold([
        holdsIf(envelope['code'] === 20000, `code is ${quote(envelope['code'])} in HTTP ${answer.status}`),
        fieldIs(envelope, 'message', 'string'),
        holdsIf(envelope['status'] === true, `status is ${quote(envelope['status'])}`),
        ...(hasData ? [fieldIs(envelope, 'data', 'object')] : []),
      ]);
    },
  })),
  {
    statement: 'the 202 of create has no envelope: it is a bare object with requestId',
    check: async ({ tasks }) => {
      const created = await tasks.created();
      if (created.status !== 202) throw new NotCheckable(`no 202 came: ${describe(created)}`);
      const body = fieldsOf(created.json);
      const wrapper = ['code', 'message', 'status', 'data'].filter((name) => name in body);
      if (wrapper.length > 0) return doesNotHold(`it has ${wrapper.join(', ')}: ${describe(created)}`);
      return fieldIs(body, 'requestId', 'string');
    },
  },
);
