import {
  allHandlersFinished,
  condition,
  makeContinueAsNewFunc,
  setCurrentDetails,
  setHandler,
  setWorkflowOptions,
  workflowInfo,
} from '@temporalio/workflow';
import {
  type AccountDayInput,
  accountDayWorkflowId,
  dayQuery,
  dayRequestProblem,
  spendUpdate,
} from '../contract/account-day';
import { workflowTaskTimeout } from '../core/workflow-tasks';
import { requireDecodable, unusableInput } from '../contract/input-bounds';
import { DailyBudget, type DayState } from '../money/daily-budget';
import { type DayView, endOfDayMs } from '../money/day-operations';
import { isRecord } from '../core/json';
import { formatMoney } from '../money/money';
import { errorMessage, markdownText, showValue } from '../core/text';
import { formatMoment } from '../core/time';
import { taskFailure } from './failures';
import { isHistoryLong } from './history-length';
import { readStartArgument } from './start-argument';

/** A day is kept so long after its end: tasks that were created on it are settled late. */
const keepMs = 24 * 3_600_000;
/** Each request takes five events. */
const maxEvents = 500;

/** Input of one run, and what a previous run handed over. */
type AccountDayRunInput = AccountDayInput & { readonly continueAsNewState?: DayState };

/**
 * The daily budget of an account, for one day. Workers ask it before they create a task, and tell it what tasks cost; it
 * does nothing by itself, and ends a day after its own. It goes on with the current version of the workers, for those of
 * every version ask it.
 */
export async function accountDay(argument: AccountDayRunInput): Promise<DayView> {
  const { input: given, continueAsNewState, problems: argumentProblems } = readStartArgument(argument);
  const problems = [...argumentProblems, ...inputProblems(given)];
  if (problems.length > 0) throw taskFailure('InputInvalid', problems.join('\n'), { problems });
  const { account, day } = given as AccountDayInput;
  const input = { account, day };
  const budget = new DailyBudget(continueAsNewState as DayState | undefined);
  const endMs = endOfDayMs(input.day);
  const show = (): void => {
    setCurrentDetails(dayDetails(input, budget.view()));
  };
  setHandler(
    spendUpdate,
    (request) => {
      const outcomes = budget.apply(request, Date.now(), endMs);
      show();
      return { outcomes, view: budget.view() };
    },
    {
      description: 'For workers: what tasks of the account are about to cost, and did.',
      validator: (request?: unknown) => {
        requireDecodable([request]);
        const problem = dayRequestProblem(request);
        if (problem !== undefined) throw new Error(problem);
      },
    },
  );
  setHandler(
    dayQuery,
    (...args: readonly unknown[]) => {
      requireDecodable(args);
      return budget.view();
    },
    { description: 'What the account spent on this day, and what its running tasks are expected to cost.' },
  );
  show();
  while (Date.now() < endMs + keepMs) {
    const summary = 'until costs of this day are no longer taken in';
    if (!(await condition(() => isHistoryLong(maxEvents), endMs + keepMs - Date.now(), { summary }))) break;
    await condition(allHandlersFinished);
    await makeContinueAsNewFunc<typeof accountDay>({ workflowTaskTimeout })({
      ...input,
      continueAsNewState: budget.state,
    });
  }
  return budget.view();
}

/** Temporal refuses the steps of a worker without a version that name a behavior. */
setWorkflowOptions(() => {
  const { deploymentName = '' } = workflowInfo().currentDeploymentVersion ?? {};
  return deploymentName === '' ? {} : { versioningBehavior: 'AUTO_UPGRADE' };
}, accountDay);

/** Any client may start it with anything: what is not its own day fails at once. */
function inputProblems(input: unknown): readonly string[] {
  const unusable = unusableInput(input, '{ account, day }');
  if (unusable !== undefined) return [unusable];
  const { account, day } = isRecord(input) ? input : {};
  try {
    const wanted = accountDayWorkflowId({ account: String(account), day: String(day) });
    const { workflowId } = workflowInfo();
    return workflowId === wanted ? [] : [`The workflow id is ${showValue(workflowId)}; start this day as ${wanted}.`];
  } catch (error) {
    return [errorMessage(error)];
  }
}

/** The page of an account's day: what is spent, what is reserved, and whether tasks wait for the next one. */
function dayDetails({ account, day }: AccountDayInput, view: DayView): string {
  const { limit, settledMicros, reservedMicros, settled, unknown, running, held, refusedSince } = view;
  if (limit === null) return `### ${markdownText(account)}, ${day} (UTC)\n\nnothing yet`;
  const money = (micros: number): string => formatMoney({ currency: limit.currency, micros });
  const notKnown = unknown === 0 ? '' : `, of ${unknown} of them as much as the most expensive one of their app`;
  const lines = [
    ['Daily budget', formatMoney(limit)],
    ['Settled', `${money(settledMicros)} for ${settled} tasks${notKnown}`],
    ['Reserved', `${money(reservedMicros)} for ${running} tasks that run and ${held} rows that are being started`],
    ['Left', money(Math.max(0, limit.micros - settledMicros - reservedMicros))],
  ];
  return [
    `### ${markdownText(account)}, ${day} (UTC)`,
    '',
    ...lines.map(([name = '', value = '']) => `- **${name}:** ${value}`),
    ...(refusedSince === null
      ? []
      : ['', `**Tasks wait since ${formatMoment(refusedSince)}:** for tomorrow, a cheaper end, or a larger budget`]),
  ].join('\n');
}
