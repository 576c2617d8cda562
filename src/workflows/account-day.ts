import { allHandlersFinished, condition, makeContinueAsNewFunc, workflowInfo } from '@temporalio/workflow';
import {
  type AccountDayInput,
  accountDayWorkflowId,
  dayQuery,
  dayRequestProblem,
  spendUpdate,
} from '../contract/account-day';
import { unusableInput } from '../contract/input-bounds';
import { isRecord } from '../core/json';
import { errorMessage, markdownText, showValue } from '../core/text';
import { formatMoment } from '../core/time';
import { workflowTaskTimeout } from '../core/workflow-tasks';
import { DailyBudget, type DayState } from '../money/daily-budget';
import { type DayView, endOfDayMs } from '../money/day-operations';
import { formatMoney } from '../money/money';
import { requireNoProblems } from './failures';
import { onQuery, onUpdate } from './handlers';
import { autoUpgrade, isHistoryLong, readStartArgument, setDetails } from './run-info';

/** Tasks that were created on a day are settled late. */
const keepMs = 24 * 3_600_000;
/** Each request takes five events. A run begins with the whole state, so one with a large state is longer. */
const maxEvents = 500;
const openPerEvent = 20;

type AccountDayRunInput = AccountDayInput & { readonly continueAsNewState?: DayState };

export async function accountDay(argument: AccountDayRunInput): Promise<DayView> {
  const { input: given, continueAsNewState, problems } = readStartArgument(argument);
  requireNoProblems([...problems, ...inputProblems(given)]);
  const { account, day } = given as AccountDayInput;
  const budget = new DailyBudget(continueAsNewState as DayState | undefined);
  const endMs = endOfDayMs(day);
  setDetails(() => dayDetails({ account, day }, budget.view()));
  onUpdate(
    spendUpdate,
    'For workers: what tasks of the account are about to cost, and did.',
    (request) => {
      const outcomes = budget.apply(request, Date.now(), endMs);
      return { outcomes, view: budget.view() };
    },
    (request?: unknown) => {
      const problem = dayRequestProblem(request);
      if (problem !== undefined) throw new Error(problem);
    },
  );
  const whatItAnswers = 'What the account spent on this day, and what its running tasks are expected to cost.';
  onQuery(dayQuery, whatItAnswers, () => budget.view());
  const isLong = (): boolean => isHistoryLong(maxEvents + budget.open / openPerEvent);
  while (Date.now() < endMs + keepMs) {
    const summary = 'until costs of this day are no longer taken in';
    if (!(await condition(isLong, endMs + keepMs - Date.now(), { summary }))) break;
    await condition(allHandlersFinished);
    const goOn = makeContinueAsNewFunc<typeof accountDay>({ workflowTaskTimeout });
    await goOn({ account, day, continueAsNewState: budget.state });
  }
  return budget.view();
}

// Workers of every version ask it.
autoUpgrade(accountDay);

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

function dayDetails({ account, day }: AccountDayInput, view: DayView): string {
  const { limit, settledMicros, reservedMicros, settled, unknown, running, held, refusedSince } = view;
  const title = `### ${markdownText(account)}, ${day} (UTC)`;
  if (limit === null) return `${title}\n\nnothing yet`;
  const money = (micros: number): string => formatMoney({ currency: limit.currency, micros });
  const notKnown = unknown === 0 ? '' : `, of ${unknown} of them as much as the most expensive one of their app`;
  const waiting =
    refusedSince === null
      ? []
      : ['', `**Tasks wait since ${formatMoment(refusedSince)}:** for tomorrow, a cheaper end, or a larger budget`];
  return [
    title,
    '',
    `- **Daily budget:** ${formatMoney(limit)}`,
    `- **Settled:** ${money(settledMicros)} for ${settled} tasks${notKnown}`,
    `- **Reserved:** ${money(reservedMicros)} for ${running} tasks that run and ${held} rows that are being started`,
    `- **Left:** ${money(Math.max(0, limit.micros - settledMicros - reservedMicros))}`,
    ...waiting,
  ].join('\n');
}
