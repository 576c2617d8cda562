import { costOf, dataOf, fieldIs, fieldsOf, parseTimestamp, quote, textOf, type Fields } from '../answers';
import { inSection, type Clause, type Statement } from '../clause';
import { isTerminal, STATES } from '../follow-task';
import type { ServiceContext } from '../service-context';
import { allHold, holds, holdsIf, NotCheckable, type Verdict } from '../verdict';

/** How far the clocks of service and client may be apart; a wrong time zone is off by hours. */
const CLOCK_TOLERANCE_MS = 10 * 60_000;

/** Section 2.3: the task detail. */
export const section23: readonly Clause[] = inSection(
  '2.3',
  {
    statement: 'type is a text, such as API',
    check: onEveryDetail((detail) => fieldIs(detail, 'type', 'string')),
    checkThroughClient: async ({ journeys }) => {
      const { end } = await journeys.followed();
      return holdsIf(end.detail.type !== undefined, 'type is absent');
    },
  },
  {
    statement: 'status is one of the states of section 3',
    check: onEveryDetail(({ status }) => holdsIf(STATES.includes(textOf(status)), `status is ${quote(status)}`)),
    checkThroughClient: async ({ journeys }) => {
      const { polls } = await journeys.followed();
      return allHold(polls.map(({ detail }) => holdsIf(STATES.includes(detail.status), `status is ${detail.status}`)));
    },
  },
  ...['created_at', 'updated_at'].map((name): Statement => ({
    statement: `${name} is a timestamp YYYY-MM-DD HH:MM:SS in UTC+8`,
    check: async (service) => {
      const { createdAtMs } = await service.tasks.followed();
      return onEveryDetail((detail) =>
        allHold([fieldIs(detail, name, 'timestamp'), isNear(detail, name, createdAtMs)]),
      )(service);
    },
    checkThroughClient: async ({ journeys }) => {
      const { detail } = (await journeys.followed()).end;
      const found = name === 'created_at' ? detail.createdAt : detail.updatedAt;
      return holdsIf(parseTimestamp(found?.raw) !== undefined, `${name} is ${quote(found?.raw)}`);
    },
  })),
  {
    statement: 'executed_at, the start of execution, is absent while Queuing',
    check: onEveryDetail((detail) => (isQueuing(detail) ? fieldIs(detail, 'executed_at', 'absent') : holds)),
  },
  {
    statement: 'executed_at is a timestamp once the task runs',
    check: onEveryDetail(({ status, ...detail }) =>
      status === 'Running' || status === 'Success' ? fieldIs(detail, 'executed_at', 'timestamp') : holds,
    ),
    checkThroughClient: async ({ journeys }) => {
      const { executedAt } = (await journeys.followed()).end.detail;
      return holdsIf(parseTimestamp(executedAt?.raw) !== undefined, `executedAt is ${quote(executedAt?.raw)}`);
    },
  },
  {
    statement: 'ended_at is null until the task has ended',
    check: onEveryDetail((detail) => (isOver(detail) ? holds : fieldIs(detail, 'ended_at', 'null'))),
    checkThroughClient: async ({ journeys }) => {
      const { polls } = await journeys.followed();
      const early = polls.find(({ detail }) => !isTerminal(detail.status) && detail.endedAt !== undefined);
      return holdsIf(early === undefined, `endedAt is given while ${early?.detail.status ?? ''}`);
    },
  },
  {
    statement: 'ended_at is a timestamp in a Success response',
    check: async ({ tasks }) => fieldIs(dataOf((await tasks.followed()).end.detail), 'ended_at', 'timestamp'),
    checkThroughClient: async ({ journeys }) => {
      const { endedAt } = (await journeys.followed()).end.detail;
      return holdsIf(parseTimestamp(endedAt?.raw) !== undefined, `endedAt is ${quote(endedAt?.raw)}`);
    },
  },
  {
    statement: 'ended_at is a timestamp in a Failed response',
    needs: ['paid', 'failingApp'],
    check: async ({ tasks }) => fieldIs(dataOf((await tasks.failed()).end.detail), 'ended_at', 'timestamp'),
    checkThroughClient: async ({ journeys }) => {
      const { endedAt } = (await journeys.failed()).end.detail;
      return holdsIf(parseTimestamp(endedAt?.raw) !== undefined, `endedAt is ${quote(endedAt?.raw)}`);
    },
  },
  {
    statement: 'expired_at is a timestamp after the creation',
    check: onEveryDetail((detail) =>
      allHold([
        fieldIs(detail, 'expired_at', 'timestamp'),
        holdsIf(
          !(Number(parseTimestamp(detail['expired_at'])) <= Number(parseTimestamp(detail['created_at']))),
          `created_at is ${quote(detail['created_at'])}, expired_at ${quote(detail['expired_at'])}`,
        ),
      ]),
    ),
    checkThroughClient: async ({ journeys }) => {
      const { expiredAt } = (await journeys.followed()).end.detail;
      return holdsIf(parseTimestamp(expiredAt?.raw) !== undefined, `expiredAt is ${quote(expiredAt?.raw)}`);
    },
  },
  {
    statement: 'queue_info is absent in every state but Queuing',
    check: onEveryDetail((detail) => (isQueuing(detail) ? holds : fieldIs(detail, 'queue_info', 'absent'))),
    checkThroughClient: async ({ journeys }) => {
      const { polls } = await journeys.followed();
      const late = polls.find(({ detail }) => detail.status !== 'Queuing' && detail.queuePosition !== undefined);
      return holdsIf(late === undefined, `a queue position while ${late?.detail.status ?? ''}`);
    },
  },
  {
    statement: 'queue_info, so spelled, holds the integer queue_count while Queuing',
    check: whileQueuing((detail) =>
      allHold([
        fieldIs(detail, 'queue_info', 'object'),
        fieldIs(fieldsOf(detail['queue_info']), 'queue_count', 'integer'),
      ]),
    ),
    checkThroughClient: async ({ journeys }) => {
      const { polls } = await journeys.followed();
      const queuing = polls.filter(({ detail }) => detail.status === 'Queuing');
      if (queuing.length === 0) throw new NotCheckable('the task was never seen Queuing');
      return allHold(queuing.map(({ detail }) => holdsIf((detail.queuePosition ?? 0) >= 0, 'a negative position')));
    },
  },
  {
    statement: 'cost_times is an object, empty while the task is not finished',
    check: onEveryDetail((detail) =>
      allHold([
        fieldIs(detail, 'cost_times', 'object'),
        holdsIf(
          isOver(detail) || Object.keys(fieldsOf(detail['cost_times'])).length === 0,
          `cost_times is ${quote(detail['cost_times'])} while ${textOf(detail['status'])}`,
        ),
      ]),
    ),
    checkThroughClient: async ({ journeys }) => {
      const { polls } = await journeys.followed();
      const early = polls.find(({ detail }) => !isTerminal(detail.status) && Object.keys(detail.costTimes).length > 0);
      return holdsIf(early === undefined, `costs while ${early?.detail.status ?? ''}`);
    },
  },
  {
    statement: 'group_id is an integer',
    check: onEveryDetail((detail) => fieldIs(detail, 'group_id', 'integer')),
    checkThroughClient: async ({ journeys }) => {
      const { groupId } = (await journeys.followed()).end.detail;
      return holdsIf(Number.isInteger(groupId), `groupId is ${quote(groupId)}`);
    },
  },
  {
    statement: 'error_message is a text in a Failed response',
    needs: ['paid', 'failingApp'],
    check: async ({ tasks }) => fieldIs(dataOf((await tasks.failed()).end.detail), 'error_message', 'string'),
    checkThroughClient: async ({ journeys }) => {
      const { errorMessage } = (await journeys.failed()).end.detail;
      return holdsIf(errorMessage !== undefined, 'errorMessage is absent');
    },
  },
  {
    statement: 'inference_cost_time beside cost_times, where it is given, is an integer of seconds',
    check: async ({ tasks }) => {
      const { polls, createdAtMs } = await tasks.followed();
      const mostSeconds = (Date.now() - createdAtMs) / 1_000 + 1;
      return allHold(
        polls.map(({ detail }) =>
          allHold([
            fieldIs(dataOf(detail), 'inference_cost_time', 'integer', 'absent'),
            holdsIf(
              Number(dataOf(detail)['inference_cost_time'] ?? 0) <= mostSeconds,
              `${quote(dataOf(detail)['inference_cost_time'])} s, but the task was created ${mostSeconds} s ago`,
            ),
          ]),
        ),
      );
    },
  },
  {
    statement:
      'inference_cost_time beside cost_times, where it is given, is that of cost_times once the task has ended',
    check: async ({ tasks }) => {
      const { detail } = (await tasks.followed()).end;
      const seconds = dataOf(detail)['inference_cost_time'];
      if (seconds === undefined) throw new NotCheckable('this service does not give it');
      const insideMs = costOf(detail, 'inference_cost_time');
      // Whole seconds, cut or rounded.
      return holdsIf(Math.abs(Number(seconds) * 1_000 - insideMs) <= 1_000, `${quote(seconds)} s and ${insideMs} ms`);
    },
  },
  {
    statement: 'inference_cost_time beside cost_times, where it is given, grows while the task runs',
    needs: ['paid', 'slowApp'],
    check: async ({ tasks }) => {
      const { running, later } = await tasks.interrupted();
      const [first, second] = [running, later].map(({ detail }) => dataOf(detail)['inference_cost_time']);
      if (first === undefined || second === undefined) throw new NotCheckable('this service does not give it');
      return holdsIf(Number(second) > Number(first), `it was ${quote(first)} and, a second later, ${quote(second)}`);
    },
  },
);

function onEveryDetail(judge: (detail: Fields) => Verdict): (service: ServiceContext) => Promise<Verdict> {
  return async ({ tasks }) => {
    const { polls } = await tasks.followed();
    return allHold(polls.map(({ detail }) => judge(dataOf(detail))));
  };
}

function whileQueuing(judge: (detail: Fields) => Verdict): (service: ServiceContext) => Promise<Verdict> {
  return async ({ tasks }) => {
    const queuing = (await tasks.followed()).polls.map(({ detail }) => dataOf(detail)).filter(isQueuing);
    if (queuing.length === 0) throw new NotCheckable('the task was never seen Queuing');
    return allHold(queuing.map(judge));
  };
}

function isQueuing(detail: Fields): boolean {
  return detail['status'] === 'Queuing';
}

function isOver(detail: Fields): boolean {
  return isTerminal(textOf(detail['status']));
}

function isNear(detail: Fields, name: string, momentMs: number): Verdict {
  const offMs = Math.abs(Number(parseTimestamp(detail[name])) - momentMs);
  return holdsIf(
    !(offMs > CLOCK_TOLERANCE_MS),
    `${name} is ${quote(detail[name])}, ${Math.round(offMs / 60_000)} minutes off`,
  );
}
