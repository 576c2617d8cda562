import * as v from 'valibot';
import { type DayOperation, type DayOutcome, type DayView, endOfDayMs } from '../money/day-operations';
import { isRecord } from '../core/json';
import { isMoney, type Money } from '../money/money';
import { showValue } from '../core/text';
import { defineQuery, defineUpdate } from './message-definitions';
import { moment, wholeNumber } from './schema';
import { isTaskKey } from './workflow-ids';

// The workflow `accountDay`: what one account spends on one day (UTC). A worker starts it with the day's first create.

/** The name of the workflow; durable. */
export const accountDayWorkflow = 'accountDay';

export interface AccountDayInput {
  readonly account: string;
  /** `2026-03-01`, in UTC. */
  readonly day: string;
}

/** Its workflow id. Throws `RangeError` for what is no name of an account, or no day. */
export function accountDayWorkflowId({ account, day }: AccountDayInput): string {
  if (!isTaskKey(account))
    throw new RangeError(`The account ${showValue(account)} does not match [A-Za-z0-9._-]{1,80}.`);
  if (Number.isNaN(endOfDayMs(day))) throw new RangeError(`The day ${showValue(day)} is no date such as 2026-03-01.`);
  return `budget:${account}:${day}`;
}

export interface DayRequest {
  /** What the account may spend in the day, as this worker's configuration has it. */
  readonly limit: Money;
  readonly operations: readonly DayOperation[];
}

export interface DayAnswer {
  /** One for each operation, in their order. */
  readonly outcomes: readonly DayOutcome[];
  readonly view: DayView;
}

/** Reserves, settles and releases; repeating one of them changes nothing. */
export const spendUpdate = defineUpdate<DayAnswer, [DayRequest]>('spend');

export const dayQuery = defineQuery<DayView>('day');

export const maxDayOperations = 500;

/** Undefined when nothing is wrong. Any client may send a request. */
export function dayRequestProblem(request: unknown): string | undefined {
  if (!isRecord(request)) return `The request is ${showValue(request)}; give { limit, operations }.`;
  const { limit, operations } = request;
  if (!isMoney(limit)) return `limit is ${showValue(limit)}; give { currency, micros }.`;
  if (!Array.isArray(operations) || operations.length > maxDayOperations) {
    return `operations is ${showValue(operations)}; give a list of at most ${maxDayOperations}.`;
  }
  const bad = operations.findIndex((one) => !v.is(operation, one));
  return bad < 0 ? undefined : `operations[${bad}] is ${showValue(operations[bad])}; give one that a worker sends.`;
}

const count = wholeNumber(0);
const attempt = v.pipe(v.string(), v.regex(/^[\w-]{2}$/));
const task = { task: v.pipe(v.string(), v.regex(/^[\w-]{10}$/)), create: count };
const expected = { app: count, taskMicros: count, isFixed: v.boolean() };
const operation = v.variant('kind', [
  v.object({ kind: v.literal('reserve'), ...task, ...expected, by: attempt }),
  v.object({ kind: v.literal('hold'), ...task, ...expected }),
  v.object({ kind: v.literal('settle'), ...task, cost: v.nullable(v.custom<Money>(isMoney)) }),
  v.object({ kind: v.literal('release'), ...task, by: attempt }),
  v.object({ kind: v.literal('unhold'), ...task }),
]);

const viewSchema: v.GenericSchema<DayView> = v.object({
  limit: v.nullable(v.custom<Money>(isMoney)),
  settledMicros: count,
  reservedMicros: count,
  settled: count,
  unknown: count,
  running: count,
  held: count,
  refusedSince: v.nullable(moment),
});

export function isDayView(value: unknown): value is DayView {
  return v.is(viewSchema, value);
}
