import * as v from 'valibot';
import { isRecord } from '../../core/json';
import { parseMoney, type Money } from '../../money/money';
import { archiveFolderRemedy, isArchiveFolder } from '../archive-folder';
import { fields, flag, oneOf, textLike, wholeNumber } from '../schema';
import { webhookName } from '../webhook';
import { type BatchCommand, isBatchCommand } from './batch-command';

const maxPathLength = 4_096;
/** Far more than a file of rows can have. */
const maxRows = 100_000_000;

const rowsSchema = v.object({
  /** A path under the worker's input roots, or an `s3:` URI. Its index stands beside it. */
  location: v.pipe(v.string(), v.minLength(1), v.maxLength(maxPathLength)),
  /** SHA-256 (hex) of every row's key and digest, in order. @pattern ^[A-Za-z0-9]{1,128}$ */
  digest: textLike(/^[A-Za-z0-9]{1,128}$/, ''),
  /** @asType integer @minimum 0 */
  rows: wholeNumber(0, maxRows),
  /** @asType integer @minimum 0 */
  pages: wholeNumber(0, maxRows),
});
/** A file of prepared rows, as a worker reaches it. */
export type RowsReference = Readonly<v.InferOutput<typeof rowsSchema>>;

const rowsRemedy = `{ location, digest, rows, pages }, which prepareRows of @longhaul/client/row-files (longhaul/row-files) and longhaul batch run --prepare make of rows: at most ${maxRows} rows and pages, a location of at most ${maxPathLength} characters, a digest in hex`;

const dayMs = 86_400_000;
// What a timer, a call and a history can take.
export const batchTuningSchema = v.object({
  /** How long ends of rows are collected before free places are filled, in milliseconds. */
  refillMs: v.optional(wholeNumber(1, dayMs), 1_000),
  /** How often the running rows are polled, for those whose end was missed, in milliseconds. */
  pollEveryMs: v.optional(wholeNumber(1, dayMs), 60_000),
  /** So many ended rows are recorded at a time. */
  recordRows: v.optional(wholeNumber(1, 10_000), 100),
  /** Bytes of records in one call; Temporal refuses more than 2 MB. @default 1000000 */
  recordBytes: v.optional(wholeNumber(1, 1_000_000), 1_000_000),
  /** Longest pause between two attempts of an activity, in milliseconds. */
  retryMaxMs: v.optional(wholeNumber(1, dayMs), 60_000),
  /** A run this long continues as new soon. */
  continueAsNewAfterEvents: v.optional(wholeNumber(30, 1_000), 500),
});
/** Every duration and threshold of the batch workflow; for tests and special cases. */
export type BatchTuning = Readonly<v.InferOutput<typeof batchTuningSchema>>;

/** It names a folder in the archive, where no part of a name begins with a dot. */
export function isBatchId(value: unknown): value is string {
  return v.is(batchId, value);
}

export const batchIdRemedy = '1 to 80 letters, digits, dots, underscores and hyphens, the first of them no dot';
const batchId = textLike(/^(?!\.)[A-Za-z0-9._-]{1,80}$/, batchIdRemedy);

/** More rows than this at the same time would make the batch's own state large. */
export const maxConcurrency = 500;
export const defaultConcurrency = 100;
const concurrency = wholeNumber(1, maxConcurrency);

export function isConcurrency(value: unknown): value is number {
  return v.is(concurrency, value);
}

/** More attempts than this fix nothing. */
export const maxAttempts = 10;
const attempts = wholeNumber(1, maxAttempts);

/** An amount with a decimal comma is shown with a point. */
export function budgetRemedy(given: unknown): string {
  const form = typeof given === 'string' && /^\d+,\d{1,2} ?[A-Z]{3}$/.test(given) ? given.replace(',', '.') : '20EUR';
  return `an amount of a currency such as "${form}", of at most 6 decimal digits`;
}

/** The budget that a text such as `20EUR` gives; undefined for anything else, and for zero. */
export function parseBudget(value: unknown): Money | undefined {
  const budget = typeof value === 'string' ? parseMoney(value) : undefined;
  return budget !== undefined && budget.micros > 0 ? budget : undefined;
}

const maxNamesLength = 1_000;

/** A text that is not empty, or null for none. */
function shortText(maxLength: number, remedy: string) {
  return v.custom<string>(
    (value) => value === null || (typeof value === 'string' && value !== '' && value.length <= maxLength),
    remedy,
  );
}

const names = shortText(maxNamesLength, `a template of names of at most ${maxNamesLength} characters`);

export function isNames(value: unknown): value is string {
  return value !== null && v.is(names, value);
}

const rowChoiceEntries = {
  /** Start rows again that the batch's record has as failed. May be paid anew. */
  retryFailed: v.optional(flag, false),
  /** Start again only rows that were refused unpaid, and no new ones. Means nothing beside `retryFailed`. */
  retryUnpaid: v.optional(flag, false),
  /** Start rows again whose content changed under a key that was run before. May be paid anew. */
  allowChanged: v.optional(flag, false),
  /** Start rows whose keys are not on record although keys on record are missing: they are other rows. */
  allowNew: v.optional(flag, false),
};
/** Which rows a run starts beside those that are not on record. */
export type RowChoice = Readonly<v.InferInput<v.ObjectSchema<typeof rowChoiceEntries, undefined>>>;

export const batchInputSchema = v.object({
  /** As in the workflow's id `batch:<id>`. @pattern ^(?![.])[A-Za-z0-9._-]{1,80}$ */
  id: batchId,
  rows: v.custom<RowsReference>((value) => isRecord(value) && v.is(rowsSchema, value), rowsRemedy),
  /** The row file as the caller named it, for people. */
  source: v.optional(shortText(maxPathLength, `a text of at most ${maxPathLength} characters`)),
  /** The `longhaul batch run` that started it, kept so that it can be run again. */
  command: v.optional(
    v.custom<BatchCommand>(isBatchCommand, '{ folder, files, options }, which longhaul batch run --prepare makes'),
  ),
  /** Rows that were left out because they cannot become tasks. @asType integer @minimum 0 */
  badRows: v.optional(wholeNumber(0), 0),
  /** Rows at the same time. Default: 100. @asType integer @minimum 1 @maximum 500 */
  concurrency: v.optional(concurrency, defaultConcurrency),
  /** A folder inside the worker's archive for the outputs of rows that name none. Default: `batches/<id>/outputs`. */
  archive: v.optional(v.custom<string>(isArchiveFolder, archiveFolderRemedy)),
  /** Template of the archived files' names. */
  names: v.optional(names),
  /** How the end of rows is noticed that do not say. Default: `activity`. */
  watch: v.optional(oneOf(['timer', 'activity']), 'activity'),
  ...rowChoiceEntries,
  /** How often a row is tried if another attempt may fix it. Default: 1. @asType integer @minimum 1 @maximum 10 */
  attempts: v.optional(attempts, 1),
  /** What the batch may cost, such as `20EUR`; no row is started that is expected to cost more. Default: no limit. */
  budget: v.optional(
    v.pipe(
      v.custom<string>(
        (value) => parseBudget(value) !== undefined,
        ({ input }) => budgetRemedy(input),
      ),
      v.transform((text) => parseBudget(text)),
    ),
  ),
  /** A webhook of the workers' configuration, sent once at the end. Default: none. @pattern ^[A-Za-z0-9._-]{1,80}$ */
  webhook: v.optional(webhookName),
  tuning: v.optional(
    fields(batchTuningSchema, `an object of whole numbers named ${Object.keys(batchTuningSchema.entries).join(', ')}`),
    {},
  ),
});
/** Input of the `batch` workflow; plain JSON. */
export type BatchInput = Readonly<v.InferInput<typeof batchInputSchema>>;
