import { costOf, dataOf, fieldIs, fieldsOf, parseTimestamp, type Fields } from '../answers';
import { inSection, type Clause, type Statement } from '../clause';
import type { Poll } from '../task-journeys';
import { allHold, holdsIf, NotCheckable, type Verdict } from '../verdict';

/** What detail responses hold; `real_svc_cost_time` is named for callbacks. */
const inDetail = [
  'inference_cost_time',
  'running_cost_time',
  'total_cost_time',
  'real_cpu_cost_time',
  'real_gpu_cost_time',
  'real_total_cost_time',
];

/** Timestamps are cut to seconds, one at each end. */
const TIMESTAMP_TOLERANCE_MS = 2_000;

/** Section 2.5: cost_times. */
export const section25: readonly Clause[] = inSection(
  '2.5',
  ...inDetail.map((name): Statement => ({
    statement: `${name} is an integer of milliseconds in the detail of a finished task`,
    check: async ({ tasks }) => isCost(fieldsOf(dataOf((await tasks.followed()).end.detail)['cost_times']), name),
    checkThroughClient: async ({ journeys }) => isCost((await journeys.followed()).end.detail.costTimes, name),
  })),
  {
    statement: 'real_svc_cost_time is an integer of milliseconds in callbacks',
    needs: ['paid', 'callbackReceiver'],
    check: async ({ tasks }) => {
      const { inbox } = await tasks.calledBack();
      return isCost(fieldsOf(inbox.received[0]?.body['cost_times']), 'real_svc_cost_time');
    },
  },
  {
    statement: 'all values of cost_times are integers',
    check: async ({ tasks }) => {
      const costs = fieldsOf(dataOf((await tasks.followed()).end.detail)['cost_times']);
      return allHold(Object.keys(costs).map((name) => fieldIs(costs, name, 'integer')));
    },
  },
  ...(['total_cost_time', 'real_total_cost_time', 'running_cost_time'] as const).map((name): Statement => ({
    statement: `${name} is in milliseconds, by the clock of who watches the task`,
    check: async ({ tasks }) => {
      const { polls, createdAtMs, end } = await tasks.followed();
      const sinceMs = name === 'running_cost_time' ? polls.find(isRunning)?.atMs : createdAtMs;
      if (sinceMs === undefined) throw new NotCheckable('the task was never seen Running');
      const watchedMs = end.atMs - sinceMs;
      // Seconds would be a thousandth of it. A task is seen later than it begins or ends, by one poll at most.
      const costMs = costOf(end.detail, name);
      const isMs = costMs > watchedMs / 20 && costMs < 20 * watchedMs + TIMESTAMP_TOLERANCE_MS;
      return holdsIf(isMs, `${name} is ${costMs}, but the task was watched for ${watchedMs} ms`);
    },
  })),
  {
    statement: 'total_cost_time is the total time of the task in milliseconds, and running_cost_time no more than that',
    check: async ({ tasks }) => {
      const { detail } = (await tasks.followed()).end;
      const totalMs = costOf(detail, 'total_cost_time');
      const runningMs = costOf(detail, 'running_cost_time');
      const { created_at, ended_at } = dataOf(detail);
      const wholeMs = Number(parseTimestamp(ended_at)) - Number(parseTimestamp(created_at));
      return allHold([
        holdsIf(
          Math.abs(totalMs - wholeMs) <= TIMESTAMP_TOLERANCE_MS,
          `total_cost_time is ${totalMs}, from created_at to ended_at are ${wholeMs} ms`,
        ),
        holdsIf(runningMs <= totalMs, `running_cost_time is ${runningMs}`),
      ]);
    },
  },
);

function isRunning({ status }: Poll): boolean {
  return status === 'Running';
}

function isCost(costs: Fields, name: string): Verdict {
  return allHold([fieldIs(costs, name, 'integer'), holdsIf(!(Number(costs[name]) < 0), `${name} is negative`)]);
}
