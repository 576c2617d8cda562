import type * as v from 'valibot';
import { isFields, isRecord } from '../../core/json';
import { parseOutputNameTemplate } from '../../core/output-name-template';
import { defaultRowFolder, longFolderProblem, reservedFolderProblem } from '../archive-folder';
import { firstProblems, unusableInput } from '../input-bounds';
import { check, type Parsed, pick, unknownFieldProblems } from '../schema';
import { batchInputSchema, batchTuningSchema, isNames } from './batch-input';

/** A batch's input, checked, with every default filled in. */
export type BatchPlan = Readonly<ReturnType<typeof toPlan>>;

/** What every row's task is given beside its own input. */
export type RowDefaults = BatchPlan['defaults'];

const names = Object.keys(batchInputSchema.entries);

export function parseBatchInput(input: unknown): Parsed<BatchPlan> {
  const unusable = unusableInput(input, '{ id, rows }');
  if (unusable !== undefined || !isRecord(input)) return { problems: [unusable ?? 'The input is not an object.'] };
  const { tuning } = input;
  const { output, problems } = check(batchInputSchema, pick(input, names));
  const plan = output && toPlan(output);
  const found = [
    ...unknownFieldProblems(batchInputSchema, input),
    ...unknownFieldProblems(batchTuningSchema, isFields(tuning) ? tuning : {}, 'tuning.'),
    ...problems,
    ...(isNames(input['names']) ? (parseOutputNameTemplate(input['names']).problems ?? []) : []),
  ];
  if (plan !== undefined) {
    const { archive } = plan.defaults;
    const folder = reservedFolderProblem(archive, plan.id) ?? longFolderProblem(archive);
    if (folder !== undefined) found.push(folder);
  }
  return plan === undefined || found.length > 0 ? { problems: firstProblems(found) } : { plan };
}

function toPlan(input: v.InferOutput<typeof batchInputSchema>) {
  return {
    id: input.id,
    rows: input.rows,
    source: input.source ?? null,
    /** Null: another program started it. */
    command: input.command ?? null,
    badRows: input.badRows,
    concurrency: input.concurrency,
    defaults: {
      archive: input.archive ?? defaultRowFolder(input.id),
      watch: input.watch,
      names: input.names ?? null,
    },
    choice: {
      retryFailed: input.retryFailed,
      retryUnpaid: input.retryUnpaid,
      allowChanged: input.allowChanged,
      allowNew: input.allowNew,
    },
    attempts: input.attempts,
    /** Null: no limit. */
    budget: input.budget ?? null,
    /** Null: none is sent. */
    webhook: input.webhook ?? null,
    tuning: input.tuning,
  };
}
