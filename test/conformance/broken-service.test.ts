import type { ReferenceService } from '../../reference-service/start-reference-service';
import { fieldsOf, textOf, type Fields } from './answers';
import { BreakingProxy, type Break } from './breaking-proxy';
import { checkClause } from './check-clause';
import { titleOf } from './clause';
import { clauses } from './clauses';
import { shortPace, startReferenceTarget } from './reference-target';
import { openServiceContext, type ServiceContext } from './service-context';
import { warmUp } from './warm-up';
import type { Verdict } from './verdict';

/** Ways of breaking the contract, and the statements that are no longer true then. */
const breaks: readonly { readonly what: string; readonly break: Break; readonly broken: readonly string[] }[] = [
  {
    what: 'a detail without queue_info',
    break: { answer: ({ endpoint, body }) => onData(endpoint === 'detail', body, without('queue_info')) },
    broken: ['§2.3 queue_info, so spelled, holds the integer queue_count while Queuing'],
  },
  {
    what: 'a create that answers with an envelope',
    break: {
      answer: ({ endpoint, body }) =>
        endpoint === 'create' && 'requestId' in body ? { body: { code: 20000, message: 'Ok', ...body } } : undefined,
    },
    broken: ['§2.1 the 202 of create has no envelope: it is a bare object with requestId'],
  },
  {
    what: 'a timestamp of another format',
    break: {
      answer: ({ endpoint, body }) =>
        onData(endpoint === 'detail', body, (data) => ({
          ...data,
          updated_at: textOf(data['updated_at']).replace(' ', 'T'),
        })),
    },
    broken: ['§2.3 updated_at is a timestamp YYYY-MM-DD HH:MM:SS in UTC+8'],
  },
  {
    what: 'a callback with a header that was changed',
    break: {
      callback: ({ headers }) => {
        const note = headers['x-svc-task-note'];
        if (note !== undefined) headers['x-svc-task-note'] = `${String(note)};`;
      },
    },
    broken: ['§6 the header X-Svc-Task-Note of the request is returned unchanged'],
  },
  {
    what: 'a cancel that minds being repeated',
    break: {
      answer: (() => {
        const canceled = new Set<string>();
        return ({ endpoint, url }) => {
          const requestId = url.searchParams.get('requestId') ?? '';
          if (endpoint !== 'cancel' || requestId === '') return undefined;
          const isRepeated = canceled.has(requestId);
          canceled.add(requestId);
          return isRepeated ? { status: 409 } : undefined;
        };
      })(),
    },
    broken: ['§4.4 cancel is idempotent: repeated, it answers HTTP 200 again'],
  },
  {
    what: 'a list that does not filter',
    break: {
      request: ({ endpoint, url }) => {
        if (endpoint === 'list') url.searchParams.delete('ext');
      },
    },
    broken: ['§4.8 ext filters by extension', '§4.8 total counts what matches the filter, on whichever page'],
  },
  {
    what: 'a region without its prefix',
    break: {
      answer: ({ endpoint, body }) =>
        onData(endpoint === 'token', body, (data) => ({
          ...data,
          storage: { ...fieldsOf(data['storage']), region: 'cn-shanghai' },
        })),
    },
    broken: ['§2.6 data.storage.region carries an oss- prefix'],
  },
  {
    what: 'user metadata for everybody',
    break: {
      answer: ({ endpoint }) =>
        endpoint === 'metadata'
          ? { status: 200, body: { code: 20000, message: 'Ok', status: true, data: { id: 'somebody' } } }
          : undefined,
    },
    broken: [
      '§5 metadata takes the header Authorization: Bearer <API_KEY>, and nothing without it or with another key',
    ],
  },
  {
    what: 'a failed task that does not say why',
    break: { answer: ({ endpoint, body }) => onData(endpoint === 'detail', body, without('error_message')) },
    broken: [
      '§2.3 error_message is a text in a Failed response',
      '§7 a failed task is reported inside a successful query: status Failed and error_message in detail',
    ],
  },
];

let service: ReferenceService;
let proxy: BreakingProxy;
let context: ServiceContext;

beforeAll(async () => {
  // Links that outlive what this service is known for: the tenth break, which no proxy can make.
  const started = await startReferenceTarget(shortPace, { linkLifetimeMs: 60_000 });
  service = started.service;
  proxy = new BreakingProxy(
    service.url,
    breaks.map((each) => each.break),
  );
  context = await openServiceContext({ ...started.target, baseUrl: await proxy.start() });
  await warmUp(context);
});

afterAll(async () => {
  await context.close();
  await proxy.stop();
  await service.stop();
});

describe('a service that breaks ten statements', () => {
  const linksLast = ['§2.4 object_url is time-limited', '§2.7 url is time-limited at a service whose links are'];

  it('breaks exactly their clauses, and every other one holds', async () => {
    const verdicts = new Map<string, Verdict | undefined>();
    for (const clause of clauses) verdicts.set(titleOf(clause), await checkClause(clause, context));
    const notHolding = [...verdicts].filter(([, verdict]) => verdict !== undefined && verdict.outcome !== 'holds');

    expect(new Set(notHolding.map(([title]) => title))).toEqual(
      new Set([...breaks.flatMap(({ broken }) => broken), ...linksLast]),
    );
    expect(new Set(notHolding.map(([, verdict]) => verdict?.outcome))).toEqual(new Set(['does not hold']));
  });
});

function onData(isIt: boolean, body: Fields, change: (data: Fields) => Fields): { body: Fields } | undefined {
  return isIt && 'data' in body ? { body: { ...body, data: change(fieldsOf(body['data'])) } } : undefined;
}

function without(name: string): (data: Fields) => Fields {
  return (data) => Object.fromEntries(Object.entries(data).filter(([field]) => field !== name));
}
