import { fieldsOf, itemsOf, textOf, type Fields } from './answers';
import type { Break, PassingAnswer, PassingCallback } from './breaking-proxy';
import type { EndpointName } from './plain-http';

/** A service that breaks many statements at once. */
export interface BrokenService {
  readonly name: string;
  /** The sections in which they are, and which of their statements, if not all. */
  readonly sections: RegExp;
  readonly statements?: RegExp;
  readonly breaks: readonly Break[];
}

const WRONG_TIME = '2026-01-01T00:00:00Z';
const WRONG_COSTS = { total_cost_time: 1, real_total_cost_time: 1, inference_cost_time: 1, running_cost_time: 9e6 };
const SUCCESS = { code: 20000, message: 'Ok', status: true };

/** Between them they break every clause. `storageUrl` is a storage that takes everything and shows it to everybody. */
export function brokenServices(storageUrl: string): readonly BrokenService[] {
  return [
    ...tellingTasksWrongly(),
    ...stoppingTasksWrongly(),
    ...callingBackWrongly(),
    ...handlingFilesWrongly(storageUrl),
    {
      name: 'that refuses no create',
      sections: /^(1|2\.[12]|4\.1)$/,
      breaks: [onAnswer('create', () => ({ status: 400, body: { code: 1 } }))],
    },
    {
      name: 'that refuses nothing',
      sections: /^(2\.2|4\.[2-8]|5|7|9)$/,
      breaks: [
        {
          request: ({ endpoint, url }) => {
            if (endpoint !== 'list') return;
            for (const [name, value] of [...url.searchParams]) {
              url.searchParams.set(name.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase(), value);
            }
          },
          answer: ({ status }) =>
            status >= 400 ? { status: 200, body: { ...SUCCESS, data: {}, requestId: 'anything' } } : undefined,
        },
      ],
    },
  ];
}

function tellingTasksWrongly(): readonly BrokenService[] {
  return [
    {
      name: 'that tells every field of a task wrongly',
      sections: /^(2\.[1-5]|3|4\.[1-3]|7|8)$/,
      breaks: [
        onAnswer('create', ({ body }) => ({ body: { ...SUCCESS, ...body } })),
        onAnswer('detail', ({ body }) => ({ body: { ...body, code: 200, data: wrongDetail(fieldsOf(body['data'])) } })),
        onAnswer('outputs', ({ body }) => ({
          body: { ...body, code: '20000', data: wrongOutputs(fieldsOf(body['data'])) },
        })),
        onAnswer('cancel', ({ body }) => ({ body: { ...body, message: 5 } })),
        onAnswer('interrupt', ({ body }) => ({ body: { ...body, status: 'true' } })),
      ],
    },
    {
      name: 'whose tasks have other states, ids and times',
      sections: /^(1|2\.[2-5]|3|4\.[1-3])$/,
      breaks: [
        onAnswer('create', ({ body }) => ({ status: 200, body: { requestId: `task-${textOf(body['requestId'])}` } })),
        {
          request: ({ url }) => {
            const requestId = url.searchParams.get('requestId');
            if (requestId !== null) url.searchParams.set('requestId', requestId.replace('task-', ''));
          },
        },
        onData('detail', ({ status, ...data }) => ({
          ...data,
          status: status === 'Queuing' ? 'Waiting' : status,
          ...(status === 'Success' && { cost_times: WRONG_COSTS }),
          expired_at: data['created_at'],
          inference_cost_time: 9e9,
        })),
        onData('outputs', (data) => ({
          ...data,
          status: 5,
          outputs: itemsOf(data['outputs']).map((item) => ({
            ...item,
            cost_time: 9e6,
            object_url: 'http://127.0.0.1:9/',
          })),
        })),
      ],
    },
    {
      name: 'whose tasks all end Canceled, and then go on',
      sections: /^(1|2\.2|3)$/,
      breaks: [
        onData(
          'detail',
          (() => {
            const ended = new Set<unknown>();
            return (data: Fields): Fields => {
              const key = data['group_id'];
              const isOver = data['status'] === 'Success';
              const status = isOver && ended.has(key) ? 'Running' : isOver ? 'Canceled' : data['status'];
              if (isOver) ended.add(key);
              return { ...data, status };
            };
          })(),
        ),
      ],
    },
    {
      name: 'that has ended tasks at once',
      sections: /^1$/,
      breaks: [onData('detail', (data) => ({ ...data, status: 'Success' }))],
    },
  ];
}

function stoppingTasksWrongly(): readonly BrokenService[] {
  const verb = (from: EndpointName, to: string): Break => ({
    request: ({ endpoint, url }) => {
      if (endpoint === from) url.pathname = url.pathname.replace(/[a-z]+$/, to);
    },
  });
  return [
    {
      name: 'whose cancel interrupts',
      sections: /^(3|4\.4)$/,
      statements: /cancel/,
      breaks: [verb('cancel', 'interrupt')],
    },
    {
      name: 'whose interrupt cancels',
      sections: /^3$/,
      statements: /interrupt/,
      breaks: [verb('interrupt', 'cancel')],
    },
    {
      name: 'that does not interrupt',
      sections: /^(3|4\.5)$/,
      statements: /interrupt/,
      breaks: [verb('interrupt', 'nothing')],
    },
    {
      name: 'that minds being asked to stop twice',
      sections: /^(3|4\.4)$/,
      statements: /cancel/,
      breaks: [stoppingAgain()],
    },
  ];
}

/** A second stop is refused and undoes the first; a canceled task stays in the queue. */
function stoppingAgain(): Break {
  const stops = new Map<string, number>();
  return {
    answer: ({ endpoint, url, body }) => {
      const requestId = url.searchParams.get('requestId') ?? '';
      const times = stops.get(requestId) ?? 0;
      const data = fieldsOf(body['data']);
      if (endpoint === 'cancel' || endpoint === 'interrupt') stops.set(requestId, times + 1);
      if (endpoint === 'cancel' && times > 0) return { status: 409 };
      if (endpoint !== 'detail' || times === 0) return undefined;
      const status = data['status'] === 'Success' ? 'Failed' : times > 1 ? 'Queuing' : data['status'];
      return { body: { ...body, data: { ...data, status, queue_info: { queue_count: 1 } } } };
    },
  };
}

function callingBackWrongly(): readonly BrokenService[] {
  const calling = (times: number): Break => ({
    callback: (callback) => {
      callback.times = times;
      callback.answer = 200;
      callback.body = {};
    },
  });
  return [
    { name: 'that never calls back', sections: /^[16]$/, statements: /callback/, breaks: [calling(0)] },
    { name: 'that calls back with nothing', sections: /^6$/, statements: /JSON object/, breaks: [calling(1)] },
    ...[1, 2, 3, 4].map((times) => ({
      name: `that calls back ${times} times whatever the answer`,
      sections: /^6$/,
      statements: /^it is repeated/,
      breaks: [calling(times)],
    })),
    {
      name: 'that calls back twelve times at once',
      sections: /^6$/,
      statements: /repe|at most|times out/,
      breaks: [calling(12)],
    },
    { name: 'whose callbacks tell lies', sections: /^(2\.[245]|5|6)$/, statements: /./, breaks: [{ callback: lie }] },
  ];
}

function lie(callback: PassingCallback): void {
  const { headers, body } = callback;
  callback.method = 'PUT';
  for (const name of Object.keys(headers)) {
    if (name.startsWith('x-svc-task-') || name === 'authorization') headers[name] = `${String(headers[name])};`;
  }
  headers['authorization'] ??= 'Bearer anything';
  headers['content-type'] = 'text/plain';
  callback.body = {
    ...Object.fromEntries(Object.keys(body).map((name) => [name, name.endsWith('_at') ? WRONG_TIME : 5])),
    status: 'Running',
    outputs: [{ object_url: 'http://127.0.0.1:9/', error_type: 'NOT_ERROR', audit_status: '1' }],
    cost_times: { real_svc_cost_time: '1' },
  };
}

function handlingFilesWrongly(storageUrl: string): readonly BrokenService[] {
  const onStorage = (item: Fields, name: string): Fields => ({ ...item, [name]: `${storageUrl}/anything` });
  return [
    {
      name: 'that tells every field of a file wrongly',
      sections: /^(1|2\.[167]|4\.[6-9]|7|8)$/,
      statements: /^(?!.*(task|callback|X-Svc|failed))/,
      breaks: [
        onAnswer('token', ({ body }) => ({
          body: { ...body, code: '20000', data: wrongToken(fieldsOf(body['data'])) },
        })),
        onAnswer('commit', ({ body }) => ({
          body: { ...body, message: null, data: { id: '1', name: 'x', ext: 'png' } },
        })),
        onAnswer('list', () => ({ body: { code: 20001, status: true, data: { list: {}, total: '1', current: '1' } } })),
        onAnswer('metadata', () => ({ status: 204, body: {} })),
      ],
    },
    {
      name: 'whose token holds nothing',
      sections: /^4\.6$/,
      statements: /^token answers/,
      breaks: [onData('token', () => ({}))],
    },
    {
      name: 'whose storage takes everything from everybody',
      sections: /^(2\.6|4\.6)$/,
      statements: /temporary|fails$/,
      breaks: [
        onData('token', (data) => ({ ...data, storage: { ...fieldsOf(data['storage']), endpoint: storageUrl } })),
      ],
    },
    {
      name: 'whose links lead anywhere, for ever',
      sections: /^(2\.[47]|4\.6)$/,
      statements: /time-limited|address of the file|content type/,
      breaks: [
        onData('list', (data) => ({ ...data, list: itemsOf(data['list']).map((item) => onStorage(item, 'url')) })),
        onData('outputs', (data) => ({
          ...data,
          outputs: itemsOf(data['outputs']).map((item) => onStorage(item, 'object_url')),
        })),
      ],
    },
    {
      name: 'whose list neither filters nor turns pages',
      sections: /^4\.8$/,
      breaks: [
        {
          request: ({ endpoint, url }) => {
            if (endpoint === 'list') for (const name of ['ext', 'object_key', 'current']) url.searchParams.delete(name);
          },
        },
      ],
    },
  ];
}

function wrongDetail({ status, queue_info: queueInfo, ...data }: Fields): Fields {
  const isOver = ['Success', 'Failed', 'Canceled'].includes(textOf(status));
  return {
    status: status === 'Preparing' ? 'Archiving' : status,
    type: 5,
    created_at: WRONG_TIME,
    updated_at: WRONG_TIME,
    executed_at: status === 'Queuing' ? data['created_at'] : WRONG_TIME,
    ended_at: isOver ? null : data['created_at'],
    ...(queueInfo === undefined ? { queue_info: {} } : { queueInfo }),
    cost_times: isOver ? { total_cost_time: '5', odd: 'x' } : { total_cost_time: 1 },
    group_id: 'one',
    inference_cost_time: 'long',
  };
}

function wrongOutputs({ status, outputs }: Fields): Fields {
  const items = itemsOf(outputs).map(({ error_type: errorType }) => ({
    object_url: 'nowhere',
    output_ext: 'png',
    cost_time: '5',
    audit_status: '2',
    error_type: errorType === 'NOT_ERROR' ? 'FINE' : 'NOT_ERROR',
  }));
  return { status, outputs: status === 'Running' ? [{}] : status === 'Success' ? [] : items };
}

function wrongToken(data: Fields): Fields {
  const file = { object_key: 'somewhere', access_key_id: 1, access_key_secret: 2, security_token: 3 };
  return { file, storage: { ...fieldsOf(data['storage']), endpoint: 'no host!', bucket: 5, region: 'cn-shanghai' } };
}

function onAnswer(
  endpoint: EndpointName,
  change: (answer: PassingAnswer) => { readonly status?: number; readonly body?: Fields },
): Break {
  return { answer: (answer) => (answer.endpoint === endpoint && answer.status < 400 ? change(answer) : undefined) };
}

function onData(endpoint: EndpointName, change: (data: Fields) => Fields): Break {
  return onAnswer(endpoint, ({ body }) => ({ body: { ...body, data: change(fieldsOf(body['data'])) } }));
}
