import type { Command } from 'commander';
import { defaultAccount } from '../money/batch-budget';
import { type DayView, utcDay } from '../money/day-operations';
import { formatMoney } from '../money/money';
import { formatMoment } from '../core/time';
import { type CommandContext, printJson, withLonghaul } from './command-context';

interface BudgetOptions {
  readonly day: string;
  readonly json?: true;
}

/** `longhaul budget`: what is spent of an account's daily budget. */
export function addBudgetCommand(program: Command, context: CommandContext): void {
  program
    .command('budget')
    .description('Shows what is settled and reserved of the daily budget of an account, and whether tasks wait for it.')
    .argument('[account]', 'its name', defaultAccount)
    .option('--day <date>', 'a day in UTC, such as 2026-03-01', utcDay(Date.now()))
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  $ longhaul budget studio\n')
    .action(async (account: string, { day, json }: BudgetOptions) => {
      await withLonghaul(context, {}, async (longhaul) => {
        const view = (await longhaul.dailyBudget(account, day)) ?? null;
        if (json) printJson(context, { account, day, budget: view });
        else context.stdout.write(budgetText(account, day, view));
      });
    });
}

function budgetText(account: string, day: string, view: DayView | null): string {
  if (view?.limit == null) return `${account} on ${day} (UTC): no task has asked for a daily budget.\n`;
  const { limit, settledMicros, reservedMicros, settled, unknown, running, held, refusedSince } = view;
  const money = (micros: number): string => formatMoney({ currency: limit.currency, micros });
  const rows = [
    ['budget', formatMoney(limit)],
    ['settled', `${money(settledMicros)} for ${settled} tasks${unknown === 0 ? '' : `, of ${unknown} estimated`}`],
    ['reserved', `${money(reservedMicros)} for ${running} tasks that run and ${held} rows that are being started`],
    ['left', money(Math.max(0, limit.micros - settledMicros - reservedMicros))],
    ...(refusedSince === null ? [] : [['waiting', `tasks, since ${formatMoment(refusedSince)}`]]),
  ];
  const lines = rows.map(([name = '', value = '']) => `  ${name.padEnd(10)} ${value}\n`);
  return `${account} on ${day} (UTC)\n${lines.join('')}`;
}
