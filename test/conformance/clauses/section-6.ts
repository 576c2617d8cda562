import { costOf, fieldIs, fieldsOf, itemsOf, parseTimestamp, quote, textOf } from '../answers';
import type { ReceivedCallback } from '../callback-sink';
import { inSection, type Clause, type Statement } from '../clause';
import type { ServiceContext } from '../service-context';
import { CALLBACK_TOKEN, ECHOED, REPEATED } from '../task-journeys';
import { allHold, doesNotHold, holdsIf, NotCheckable, type Verdict } from '../verdict';

const TIMESTAMPS = ['created_at', 'updated_at', 'executed_at', 'running_at', 'ended_at', 'expired_at'];

/** How late something may be on a busy machine, beside what "about" allows. */
const SLACK_MS = 1_500;

/** Section 6: the callback. */
export const section6: readonly Clause[] = inSection(
  '6',
  clause('a callback is sent when the task has finished with Success', (callback) =>
    holdsIf(callback.body['status'] === 'Success', `status is ${quote(callback.body['status'])}`),
  ),
  {
    statement: 'a callback is sent when the task has finished with Failed',
    needs: ['paid', 'failingApp', 'callbackReceiver'],
    check: async ({ tasks }) => {
      const { end, inbox } = await tasks.failed();
      if (end.status !== 'Failed') throw new NotCheckable(`the failing app ended ${end.status}`);
      const [callback] = inbox.received;
      if (callback === undefined) return doesNotHold('no callback came');
      const [item] = itemsOf(callback.body['outputs']).filter(({ error_type }) => error_type !== 'NOT_ERROR');
      return allHold([
        holdsIf(callback.body['status'] === 'Failed', `status is ${quote(callback.body['status'])}`),
        holdsIf(item !== undefined, 'no output item tells of the error'),
      ]);
    },
  },
  clause('it is a POST', ({ method }) => holdsIf(method === 'POST', `it is a ${method}`)),
  clause('its Content-Type is application/json', ({ headers }) =>
    holdsIf(/^application\/json(;|$)/.test(headers['content-type'] ?? ''), quote(headers['content-type'])),
  ),
  clause('its body is a JSON object', ({ text, body }) => holdsIf(Object.keys(body).length > 0, quote(text))),
  clause('its Authorization equals X-Svc-Task-Authorization', ({ headers }) =>
    holdsIf(headers.authorization === CALLBACK_TOKEN, 'it is another, or none'),
  ),
  {
    statement: 'it has no Authorization when X-Svc-Task-Authorization was not set',
    needs: ['paid', 'callbackReceiver'],
    check: async ({ tasks }) => {
      const [callback] = (await tasks.calledBackAgain()).inbox.received;
      if (callback === undefined) return doesNotHold('no callback came');
      return holdsIf(callback.headers.authorization === undefined, 'there is one');
    },
  },
  ...[...Object.entries(ECHOED), ['X-Svc-Task-Authorization', CALLBACK_TOKEN] as const].map(
    ([name, value]): Statement => ({
      ...clause(`the header ${name} of the request is returned unchanged`, ({ headers }) => {
        const found = headers[name.toLowerCase()];
        return holdsIf(found === value, `it is ${quote(found)}`);
      }),
      checkThroughClient: async ({ journeys }) => {
        const [callback] = (await journeys.calledBack()).inbox.received;
        return holdsIf(callback?.headers[name.toLowerCase()] === value, 'it is another, or no callback came');
      },
    }),
  ),
  ...Object.entries(REPEATED).map(([name, values]) =>
    clause(`the header ${name} of the request, given ${values.length} times, is returned as often`, (callback) => {
      const found = callback.headersDistinct[name.toLowerCase()];
      return holdsIf(quote(found) === quote(values), `it is ${quote(found)}`);
    }),
  ),
  {
    statement: 'the header X-Svc-Task-Async is returned unchanged when both headers were given',
    needs: ['paid', 'callbackReceiver'],
    check: async ({ tasks }) => {
      const { received } = (await tasks.calledBackAgain()).inbox;
      const found = received.map(({ headers }) => headers['x-svc-task-async']);
      return holdsIf(found.length > 0 && found.every((value) => value === 'enable'), `it is ${quote(found)}`);
    },
  },
  {
    statement: 'the header X-Svc-Task-WebHook-Url of the request is returned unchanged',
    needs: ['paid', 'callbackReceiver'],
    check: async ({ tasks }) => {
      const { inbox } = await tasks.calledBack();
      const found = inbox.received[0]?.headers['x-svc-task-webhook-url'];
      return holdsIf(found === inbox.url, `it is ${quote(found)}`);
    },
  },
  clause('type is a text', ({ body }) => fieldIs(body, 'type', 'string')),
  clause('status is the final status', ({ body }) =>
    holdsIf(['Success', 'Failed', 'Canceled'].includes(textOf(body['status'])), quote(body['status'])),
  ),
  ...TIMESTAMPS.map((name) =>
    clause(`${name} is a timestamp YYYY-MM-DD HH:MM:SS in UTC+8`, ({ body, atMs }) =>
      allHold([
        fieldIs(body, name, 'timestamp'),
        // Any other time zone is off by an hour or more; only expired_at lies ahead.
        holdsIf(
          name === 'expired_at' || !(Math.abs(Number(parseTimestamp(body[name])) - atMs) > 3_000_000),
          `${name} is ${quote(body[name])}`,
        ),
      ]),
    ),
  ),
  ...TIMESTAMPS.map((name): Statement => ({
    statement: `${name} is a timestamp in the callback of a failed task as well`,
    needs: ['paid', 'failingApp', 'callbackReceiver'],
    check: async ({ tasks }) => {
      const [callback] = (await tasks.failed()).inbox.received;
      return callback === undefined ? doesNotHold('no callback came') : fieldIs(callback.body, name, 'timestamp');
    },
  })),
  {
    statement: 'request_id equals requestId of the 202',
    needs: ['paid', 'callbackReceiver'],
    check: async ({ tasks }) => {
      const { requestId, inbox } = await tasks.calledBackInVain();
      const found = inbox.received.map(({ body }) => body['request_id']);
      return holdsIf(found.length > 0 && found.every((each) => each === requestId), quote(found));
    },
  },
  clause('outputs is an array of output items (2.4)', ({ body }) => {
    const items = itemsOf(body['outputs']);
    return allHold([
      holdsIf(items.length > 0, `outputs is ${quote(body['outputs'])}`),
      ...items.flatMap((item) => [
        ...['object_url', 'output_ext', 'error_type'].map((name) => fieldIs(item, name, 'string')),
        ...['cost_time', 'audit_status'].map((name) => fieldIs(item, name, 'integer')),
      ]),
    ]);
  }),
  clause('cost_times is an object of integers (2.5)', ({ body }) => {
    const costs = fieldsOf(body['cost_times']);
    return allHold([
      holdsIf(Object.keys(costs).length > 0, `cost_times is ${quote(body['cost_times'])}`),
      ...Object.keys(costs).map((name) => fieldIs(costs, name, 'integer')),
    ]);
  }),
  {
    statement: 'total_cost_time is in milliseconds, as in the detail',
    needs: ['paid', 'callbackReceiver'],
    check: async ({ tasks }) => {
      const { end, inbox } = await tasks.calledBack();
      const [callback] = inbox.received;
      if (callback === undefined) return doesNotHold('no callback came');
      const costs = fieldsOf(callback.body['cost_times']);
      const [called, asked] = [Number(costs['total_cost_time']), costOf(end.detail, 'total_cost_time')];
      return allHold([
        fieldIs(costs, 'total_cost_time', 'integer'),
        holdsIf(!(Math.abs(called - asked) > asked / 2), `it is ${called}, and ${asked} in the detail`),
      ]);
    },
  },
  {
    statement: 'the links of a callback can be fetched promptly',
    needs: ['paid', 'callbackReceiver'],
    check: async ({ tasks }) => {
      const { download } = await tasks.calledBack();
      return holdsIf(
        download?.status === 200 && download.bytes.length > 0,
        download === undefined ? 'there is no link' : `HTTP ${download.status}`,
      );
    },
  },
  {
    statement: 'an answer of 200 ends the repetition',
    needs: ['paid', 'callbackReceiver'],
    check: async ({ tasks }) => {
      const { received } = (await tasks.calledBack()).inbox;
      return holdsIf(received.length === 1, `${received.length} callbacks came`);
    },
  },
  repeatedAfter('another 2xx than 200', 0),
  repeatedAfter('an error', 1),
  repeatedAfter('no answer in time', 2),
  repeatedAfter('a connection that is cut', 3),
  {
    statement: 'one callback request times out after about 10 seconds',
    needs: ['paid', 'callbackReceiver'],
    check: async ({ target, tasks }) => {
      const unanswered = (await tasks.calledBackAgain()).inbox.received[2];
      if (unanswered === undefined) throw new NotCheckable('the callback was not repeated often enough to see it');
      if (unanswered.gaveUpAtMs === undefined) return doesNotHold('it was never given up');
      return isAbout(unanswered.gaveUpAtMs - unanswered.atMs, target.pace.callbackTimeoutMs, 'it was given up after');
    },
  },
  {
    statement: 'it is repeated about every 6 seconds',
    needs: ['paid', 'callbackReceiver'],
    check: async ({ target, tasks }) => {
      const { received } = (await tasks.calledBackInVain()).inbox;
      if (received.length < 2) return doesNotHold('it was never repeated');
      const pauses = received.slice(1).map(({ atMs }, index) => atMs - (received[index]?.atMs ?? atMs));
      return allHold(pauses.map((pauseMs) => isAbout(pauseMs, target.pace.callbackRetryMs, 'repeated after')));
    },
  },
  {
    statement: 'it is sent at most 10 times',
    needs: ['paid', 'callbackReceiver'],
    check: async ({ target, tasks }) => {
      const { received } = (await tasks.calledBackInVain()).inbox;
      if (received.length === 0) throw new NotCheckable('no callback came');
      return holdsIf(received.length <= target.pace.callbackAttempts, `it came ${received.length} times`);
    },
  },
);

/** A statement about every callback of a task that succeeded. */
function clause(statement: string, judge: (callback: ReceivedCallback) => Verdict): Statement {
  return {
    statement,
    needs: ['paid', 'callbackReceiver'],
    check: async ({ tasks }: ServiceContext) => {
      const { received } = (await tasks.calledBack()).inbox;
      return received.length === 0 ? doesNotHold('no callback came') : allHold(received.map(judge));
    },
  };
}

function repeatedAfter(what: string, index: number): Statement {
  return {
    statement: `it is repeated after ${what}`,
    needs: ['paid', 'callbackReceiver'],
    check: async ({ tasks }) => {
      const { received } = (await tasks.calledBackAgain()).inbox;
      if (received.length <= index) throw new NotCheckable(`only ${received.length} callbacks came`);
      return holdsIf(received.length > index + 1, 'none came after it');
    },
  };
}

function isAbout(ms: number, expectedMs: number, what: string): Verdict {
  const isNear = ms >= 0.7 * expectedMs && ms <= 1.5 * expectedMs + SLACK_MS;
  return holdsIf(isNear, `${what} ${ms} ms, which is not about ${expectedMs} ms`);
}
