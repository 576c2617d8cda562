import { isFields, isRecord } from '../../domain/json';
import { type Money, parseMoney } from '../../domain/money';
import { unknownNameProblems } from '../../domain/nearest-name';
import { parseOutputNameTemplate } from '../../domain/output-name-template';
import { showValue } from '../../domain/text';
import { firstProblems, type UnknownFields, unknownFields, unusableInput } from '../input-bounds';
import type { OutputNaming } from '../task-input';
import {
  archiveFolderRemedy,
  defaultRowFolder,
  isArchiveFolder,
  longFolderProblem,
  reservedFolderProblem,
} from '../archive-folder';
import { isWebhookName, webhookNameRemedy } from '../webhook';
import { isTaskKey } from '../workflow-ids';
import type { BatchInput, BatchTuning, RowChoice, RowsReference } from './batch-input';

/** What every row's task is given beside its own input. */
export interface RowDefaults {
  readonly archive: string;
  readonly watch: 'timer' | 'activity';
  readonly names: OutputNaming['template'] | null;
}

/** A batch's input, checked, with every default filled in. */
export interface BatchPlan {
  readonly id: string;
  readonly rows: RowsReference;
  readonly source: string | null;
  readonly badRows: number;
  readonly concurrency: number;
  readonly defaults: RowDefaults;
  readonly choice: Required<RowChoice>;
  readonly attempts: number;
  /** Null: no limit. */
  readonly budget: Money | null;
  /** Null: none is sent. */
  readonly webhook: string | null;
  readonly tuning: BatchTuning;
}

/** Either the plan, or every problem of the input. */
export type ParsedBatchInput = UnknownFields &
  (
    | { readonly plan: BatchPlan; readonly problems?: never }
    | { readonly plan?: never; readonly problems: readonly string[] }
  );

/** What to give instead of what can be no batch's id. */
export const batchIdRemedy = '1 to 80 letters, digits, dots, underscores and hyphens, the first of them no dot';

/** More rows than this at the same time would make the batch's own state large. */
export const maxConcurrency = 500;
export const defaultConcurrency = 100;

const defaultTuning: BatchTuning = {
  refillMs: 1_000,
  pollEveryMs: 60_000,
  recordRows: 100,
  recordBytes: 1_000_000,
  retryMaxMs: 60_000,
  continueAsNewAfterEvents: 500,
};

const dayMs = 86_400_000;
/** What a timer, a call and a history can take. */
const tuningLimits: Readonly<Record<keyof BatchTuning, readonly [least: number, most: number]>> = {
  refillMs: [1, dayMs],
  pollEveryMs: [1, dayMs],
  recordRows: [1, 10_000],
  recordBytes: [1, 1_000_000],
  retryMaxMs: [1, dayMs],
  continueAsNewAfterEvents: [30, 1_000],
};
const rowsRemedy =
  '{ location, digest, rows, pages }, which prepareRows of @longhaul/client/row-files (longhaul/row-files) and longhaul batch run --prepare make of rows';
/** Far more than a file of rows can have. */
const maxRows = 100_000_000;
const maxPathLength = 4_096;
/** More than any template that is taken has. */
const maxNamesLength = 1_000;

/** Whether this many rows may run at the same time. */
export function isConcurrency(value: unknown): value is number {
  return isCount(value) && value <= maxConcurrency;
}

/** More attempts than this fix nothing. */
export const maxAttempts = 10;

/** Whether a row may be tried so often. */
export function isAttempts(value: unknown): value is number {
  return isCount(value) && value <= maxAttempts;
}

/** How a budget is written; one with a decimal comma is shown with a point. */
export function budgetRemedy(given: unknown): string {
  const form = typeof given === 'string' && /^\d+,\d{1,2} ?[A-Z]{3}$/.test(given) ? given.replace(',', '.') : '20EUR';
  return `an amount of a currency such as "${form}", of at most 6 decimal digits`;
}

/** The budget that a text such as `20EUR` gives; `undefined` for anything else, and for nothing at all. */
export function parseBudget(value: unknown): Money | undefined {
  const budget = typeof value === 'string' ? parseMoney(value) : undefined;
  return budget !== undefined && budget.micros > 0 ? budget : undefined;
}

const fields = Object.keys({
  ...{ id: true, rows: true, source: true, badRows: true, concurrency: true, archive: true, names: true, watch: true },
  ...{
    retryFailed: true,
    retryUnpaid: true,
    attempts: true,
    budget: true,
    allowChanged: true,
    allowNew: true,
    webhook: true,
    tuning: true,
  },
} satisfies Record<keyof BatchInput, true>);

/** Checks the input of a `batch` workflow. Pure: client, command line and workflow use the same check. */
export function parseBatchInput(input: unknown): ParsedBatchInput {
  const unusable = unusableInput(input, '{ id, rows }');
  if (unusable !== undefined) return { problems: [unusable] };
  const given: Partial<Record<keyof BatchInput, unknown>> = isRecord(input) ? input : {};
  const unknown = unknownFields(unknownNameProblems('field', Object.keys(given), fields));
  const tuningNames = Object.keys(isRecord(given.tuning) ? given.tuning : {});
  const problems = unknownNameProblems('field', tuningNames, Object.keys(defaultTuning), 'tuning.');
  const expect = <T>(name: string, value: unknown, is: (one: unknown) => one is T, remedy: string, fallback: T): T => {
    if (value === undefined) return fallback;
    if (is(value)) return value;
    problems.push(`${name} is ${showValue(value)}; give ${remedy}.`);
    return fallback;
  };
  if (!isBatchId(given.id)) {
    problems.push(`id is ${showValue(given.id)}; give ${batchIdRemedy}.`);
  }
  if (!isRows(given.rows)) problems.push(`rows is ${showValue(given.rows)}; give ${rowsRemedy}.`);
  const id = isBatchId(given.id) ? given.id : '';
  const concurrencyWords = `a whole number from 1 to ${maxConcurrency}`;
  const concurrency = expect('concurrency', given.concurrency, isConcurrency, concurrencyWords, defaultConcurrency);
  const plan: BatchPlan = {
    id,
    rows: isRows(given.rows) ? given.rows : { location: '', digest: '', rows: 0, pages: 0 },
    source: expect('source', given.source, isTextOrNull, 'text', null),
    badRows: expect('badRows', given.badRows, isNatural, 'a whole number', 0),
    concurrency,
    defaults: {
      archive: expect('archive', given.archive, isArchiveFolder, archiveFolderRemedy, defaultRowFolder(id)),
      watch: expect('watch', given.watch, isWatch, '"timer" or "activity"', 'activity'),
      names: expect(
        'names',
        given.names,
        isNamesOrNull,
        `a template of names of at most ${maxNamesLength} characters`,
        null,
      ),
    },
    choice: {
      retryFailed: expect('retryFailed', given.retryFailed, isFlag, 'true or false', false),
      retryUnpaid: expect('retryUnpaid', given.retryUnpaid, isFlag, 'true or false', false),
      allowChanged: expect('allowChanged', given.allowChanged, isFlag, 'true or false', false),
      allowNew: expect('allowNew', given.allowNew, isFlag, 'true or false', false),
    },
    attempts: expect('attempts', given.attempts, isAttempts, `a whole number from 1 to ${maxAttempts}`, 1),
    budget: parseBudget(expect('budget', given.budget, isBudget, budgetRemedy(given.budget), undefined)) ?? null,
    webhook: expect('webhook', given.webhook, isWebhookNameOrNull, webhookNameRemedy, null),
    tuning: { ...defaultTuning, ...expect('tuning', given.tuning, isTuning, knownTuning, {}) },
  };
  if (plan.defaults.names !== null) problems.push(...(parseOutputNameTemplate(plan.defaults.names).problems ?? []));
  if (problems.length > 0) return { problems: firstProblems(problems), ...unknown };
  const beyond = boundProblems(plan);
  return { ...(beyond.length > 0 ? { problems: beyond } : { plan }), ...unknown };
}

/** What would keep a batch from ending or let it change another's files. */
function boundProblems({ id, rows, source, defaults, tuning }: BatchPlan): string[] {
  const folder = reservedFolderProblem(defaults.archive, id) ?? longFolderProblem(defaults.archive);
  const problems = folder === undefined ? [] : [folder];
  const { location, digest, rows: count, pages } = rows;
  if (location.length > maxPathLength || !/^[A-Za-z0-9]{1,128}$/.test(digest) || count > maxRows || pages > maxRows) {
    const limits = `at most ${maxRows} rows and pages, a location of at most ${maxPathLength} characters, a digest in hex`;
    problems.push(`rows is ${showValue(rows)}; give ${limits}.`);
  }
  if (source !== null && source.length > maxPathLength) {
    problems.push(`source is ${showValue(source)}; give at most ${maxPathLength} characters.`);
  }
  for (const [name, [least, most]] of Object.entries(tuningLimits)) {
    const value = tuning[name as keyof BatchTuning];
    if (value < least || value > most) problems.push(`tuning.${name} is ${value}; give ${least} to ${most}.`);
  }
  return problems;
}

const knownTuning = `an object of whole numbers from 1 named ${Object.keys(defaultTuning).join(', ')}`;

/** Whether it can be a batch's: it names the folder in the archive, where no part of a name begins with a dot. */
export function isBatchId(value: unknown): value is string {
  return typeof value === 'string' && isTaskKey(value) && !value.startsWith('.');
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || isText(value);
}

function isNamesOrNull(value: unknown): value is string | null {
  return isTextOrNull(value) && (value?.length ?? 0) <= maxNamesLength;
}

function isWebhookNameOrNull(value: unknown): value is string | null {
  return isWebhookName(value);
}

function isFlag(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

function isBudget(value: unknown): value is string | undefined {
  return parseBudget(value) !== undefined;
}

function isNatural(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isCount(value: unknown): value is number {
  return isNatural(value) && value >= 1;
}

function isWatch(value: unknown): value is 'timer' | 'activity' {
  return value === 'timer' || value === 'activity';
}

function isTuning(value: unknown): value is Partial<BatchTuning> {
  if (!isFields(value)) return false;
  // Names that are not known are a problem of their own.
  return Object.entries(value).every(([name, one]) => !Object.hasOwn(defaultTuning, name) || isCount(one));
}

function isRows(value: unknown): value is RowsReference {
  if (!isRecord(value)) return false;
  const { location, digest, rows, pages } = value;
  return isText(location) && isText(digest) && isNatural(rows) && isNatural(pages);
}
