import { type Command, Option } from 'commander';
import { InputInvalidError } from '../client/errors';
import { defaultAccount } from '../money/batch-budget';
import { type DayView, utcDay } from '../money/day-operations';
import { formatAmount, formatMoney, type Money } from '../money/money';
import { printableLine } from '../core/text';
import { formatMoment } from '../core/time';
import type { CostGroup, CostOutcome, CostSum } from '../archive/costs';
import { type CommandContext, print, printJson, withLonghaul } from './command-context';
import { sinceMs } from './reconcile-options';
import { slowLines, tableLines } from './terminal';

interface CostsOptions {
  readonly by: CostGroup;
  readonly since?: string;
  readonly json?: true;
  readonly csv?: true;
}

const groups: readonly CostGroup[] = ['batch', 'app', 'account', 'day'];

const help = `
LONGHAUL_ARCHIVE names the archive of the workers; Temporal and the service are
not asked. Days are in UTC. What is not known counts as unknown, never as 0, and
currencies are never added.

Example:
  $ longhaul costs --by day --since 30d
`;

export function addCostsCommand(program: Command, context: CommandContext): void {
  program
    .command('costs')
    .description('Sums what tasks cost, and what was paid and brought nothing, from the archive.')
    .addOption(new Option('--by <group>', 'what to sum by').choices(groups).default('batch'))
    .option('--since <when>', 'only tasks created since then: 30d, or 2026-03-01')
    .option('--json', 'print one JSON object')
    .option('--csv', 'print CSV: one line for each group, outcome and currency')
    .addHelpText('after', help)
    .action((options: CostsOptions) => showCosts(context, options));
}

async function showCosts(context: CommandContext, { by, since, json, csv }: CostsOptions): Promise<void> {
  if (json && csv) throw new InputInvalidError(['--json and --csv are both given; give one of them.'], 'arguments');
  const fromMs = sinceMs(since, Date.now());
  const { requireUsedArchive, withArchive } = await import('./storage-access.js');
  const { readCosts, sumCosts } = await import('../archive/costs.js');
  const write = slowLines(context.stderr);
  const { sources, tasks } = await withArchive(context, async (archive) => {
    await requireUsedArchive(archive);
    return await readCosts(archive, ({ records, manifests, rows }) => {
      write(() => `Read ${records} create records, ${manifests} manifests, ${rows} rows of batches …`);
    });
  });
  const { groups: sums, total } = sumCosts(tasks(), { by, sinceMs: fromMs });
  for (const name of sources.damaged)
    context.stderr.write(`warning: ${printableLine(name)} is damaged, and left out\n`);
  if (json) {
    printJson(context, { by, since: fromMs === 0 ? null : new Date(fromMs).toISOString(), groups: sums, total });
  } else if (csv) context.stdout.write(await costsCsv(by, sums));
  else {
    context.stdout.write(costsText(by, sums, total));
    if (total.tasks > 0 && total.unknown === total.tasks) context.stderr.write(noPrices);
  }
}

const noPrices =
  'No cost is known: costs come from the prices in LONGHAUL_PRICES_FILE of the workers (docs/guides/costs.md), by which a task is priced when it ends.\n';

const unknownText = 'unknown';

/** Each task is counted in exactly one line. */
async function costsCsv(by: CostGroup, groups: readonly CostSum[]): Promise<string> {
  const { stringify } = await import('csv-stringify/sync');
  const lines = groups.flatMap(({ name, outcomes }) =>
    outcomes.flatMap(({ outcome, sums, unknown }) => [
      ...sums.map((sum) => [name, outcome, sum.tasks, formatAmount(sum), sum.currency]),
      ...(unknown > 0 ? [[name, outcome, unknown, unknownText, '']] : []),
    ]),
  );
  return stringify([[by, 'outcome', 'tasks', 'cost', 'currency'], ...lines], { escape_formulas: true });
}

const outcomeNames: Readonly<Record<CostOutcome, string>> = {
  succeeded: 'succeeded',
  failed: 'failed at the service',
  canceled: 'canceled',
  lost: 'succeeded, and nothing of it is in the archive',
  createdTwice: 'created again before their end was known',
  open: 'not over yet, or how they ended is not known',
  uncertain: 'of which it is not known whether they were created',
};
const nameless: Readonly<Record<CostGroup, string>> = {
  batch: '(no batch)',
  app: '(app unknown)',
  account: '(account unknown)',
  day: '(day unknown)',
};

function costsText(by: CostGroup, groups: readonly CostSum[], total: CostSum): string {
  const rows = [
    [by.toUpperCase(), 'TASKS', 'COST', 'WITHOUT RESULT', 'UNKNOWN'],
    ...[...groups, total].map((sum) => [
      sum === total ? 'total' : (sum.name ?? nameless[by]),
      String(sum.tasks),
      sumsText(sum.sums, sum.unknown),
      sumsText(sum.withoutResult, 0),
      String(sum.unknown),
    ]),
  ].map((row) => row.map(printableLine));
  const outcomes = total.outcomes.map(({ outcome, tasks, sums, unknown }) => {
    const more = unknown > 0 && sums.length > 0 ? `, and ${unknown} of unknown cost` : '';
    return `  ${String(tasks).padStart(8)}  ${outcomeNames[outcome]}: ${sumsText(sums, unknown)}${more}`;
  });
  return `${[...tableLines(rows), '', ...outcomes].join('\n')}\n`;
}

function sumsText(sums: readonly Money[], unknown: number): string {
  if (sums.length === 0) return unknown > 0 ? unknownText : '-';
  return sums.map(formatMoney).join(' and ');
}

interface BudgetOptions {
  readonly day: string;
  readonly json?: true;
}

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
        print(context, json, { account, day, budget: view }, budgetText(account, day, view));
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
