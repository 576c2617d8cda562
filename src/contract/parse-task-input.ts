import * as v from 'valibot';
import { parseInputKey } from '../core/input-values';
import { isFields, isRecord } from '../core/json';
import { unknownNameProblems } from '../core/nearest-name';
import { showValue, textRemedy } from '../core/text';
import { hasPassword, signatureParameterOf } from '../core/uri';
import { firstProblems, maxInputFiles, unusableInput } from './input-bounds';
import { check, type Parsed, pick, unknownFieldProblems } from './schema';
import {
  adoptedTaskSchema,
  adoptSchema,
  deadlinesSchema,
  fileSchema,
  newTaskSchema,
  type ResourceForm,
  tuningSchema,
} from './task-input';

export interface PlannedFile {
  readonly key: string;
  readonly file: string;
  readonly as: ResourceForm;
  readonly sha256?: string | undefined;
}

/** A task's input, checked, with every default filled in. */
export type TaskPlan = Readonly<ReturnType<typeof toPlan>>;

/** How an uncertain create is handled means nothing for an adopted task, and is checked all the same. */
const adoptedTask = v.object({
  ...newTaskSchema.entries,
  inputs: v.unknown(),
  ...adoptedTaskSchema.entries,
});

const names = Object.keys(adoptedTask.entries);
/** What only Longhaul itself sets. */
const ownNames = ['createNumber', 'batch'];
const shownNames = ['adopt', ...names.filter((name) => name !== 'adopt' && !ownNames.includes(name))];

/**
 * Pure: client, command line and workflow use the same check.
 * @param further - names of fields that the caller takes beside those of the input, for its messages.
 */
export function parseTaskInput(input: unknown, further: readonly string[] = []): Parsed<TaskPlan> {
  const unusable = unusableInput(input, '{ webAppId, inputs }');
  if (unusable !== undefined || !isRecord(input)) return { problems: [unusable ?? 'The input is not an object.'] };
  const isNew = input['adopt'] === undefined;
  const inputs = readInputs(isNew ? input['inputs'] : undefined);
  const { output, problems } = check(isNew ? newTaskSchema : adoptedTask, pick(input, names));
  const found = [...unknownProblems(input, further), ...inputs.problems, ...problems];
  if (!isNew && input['inputs'] !== undefined) {
    found.push('A task is either created (webAppId, inputs) or adopted (adopt, webAppId); leave one of them out.');
  }
  if (output === undefined || found.length > 0) return { problems: firstProblems(found) };
  return { plan: toPlan(output, inputs) };
}

function toPlan(
  task: v.InferOutput<typeof newTaskSchema> | v.InferOutput<typeof adoptedTask>,
  { values, files }: ReturnType<typeof readInputs>,
) {
  return {
    account: task.account,
    archiveFolder: task.archive,
    watch: task.watch,
    /** Null: none is sent. */
    webhook: task.webhook ?? null,
    /** Null: the task is no row. */
    batch: task.batch ?? null,
    deadlinesMs: task.deadlines,
    tuning: task.tuning,
    /** Set: the task exists already. */
    adoptRequestId: 'adopt' in task ? task.adopt.requestId : null,
    webAppId: task.webAppId ?? null,
    values,
    files,
    suppressPreviewOutput: task.suppressPreviewOutput ?? null,
    onUncertain: task.onUncertain,
    /** Null: as long as a callback can be expected. */
    uncertainWaitMs: task.uncertainWait ?? null,
    createNumber: task.createNumber,
  };
}

function unknownProblems(input: Readonly<Record<string, unknown>>, further: readonly string[]): readonly string[] {
  const given = Object.keys(input).filter((name) => !ownNames.includes(name));
  // With inputs it is a new task, and no adoption with a misspelt name.
  const known =
    input['inputs'] === undefined || 'adopt' in input ? shownNames : shownNames.filter((name) => name !== 'adopt');
  const nested = Object.entries({ adopt: adoptSchema, deadlines: deadlinesSchema, tuning: tuningSchema });
  return [
    ...unknownNameProblems('field', given, [...further, ...known]),
    ...nested.flatMap(([name, schema]) => {
      const value = input[name];
      return isFields(value) ? unknownFieldProblems(schema, value, `${name}.`) : [];
    }),
  ];
}

/** What is no object is refused by its schema. */
function readInputs(inputs: unknown) {
  const values: Record<string, string | number> = {};
  const files: PlannedFile[] = [];
  const problems: string[] = [];
  for (const [key, one] of Object.entries(isFields(inputs) ? inputs : {})) {
    const where = `inputs[${showValue(key)}]`;
    if (parseInputKey(key) === undefined) {
      const remedy = 'not "<node_id>:<NodeClass>.<parameter>", such as "1:LoadImage.image"';
      problems.push(`The input key ${showValue(key)} is ${remedy}.`);
    }
    if (typeof one === 'string' || (typeof one === 'number' && Number.isFinite(one))) {
      values[key] = one;
      problems.push(...secretLinkProblems(where, String(one)));
    } else if (isRecord(one) && 'file' in one) {
      const { output, problems: wrong } = check(fileSchema, one, [where]);
      const unknown = unknownFieldProblems(fileSchema, one);
      problems.push(...unknown.map((problem) => `${where}: ${problem}`), ...wrong);
      if (output === undefined) continue;
      files.push({ key, ...output });
      problems.push(...secretLinkProblems(`${where}.file`, output.file));
    } else {
      problems.push(`${where} is ${showValue(one)}; ${inputRemedy(one)}.`);
    }
  }
  if (files.length > maxInputFiles) {
    problems.push(`inputs has ${files.length} files; a task takes at most ${maxInputFiles}.`);
  }
  return { values, files, problems };
}

/** A signed link would be a key to the file, in a history that many may read. */
function secretLinkProblems(where: string, text: string): readonly string[] {
  const parameter = signatureParameterOf(text);
  if (parameter === undefined && !hasPassword(text)) return [];
  const secret = parameter === undefined ? 'a password' : `the signature parameter "${parameter}"`;
  return [
    `${where} is a URL with ${secret}; such a link must not enter a workflow history. Give an s3: URI, a file, or the URL without it if it opens without.`,
  ];
}

function inputRemedy(value: unknown): string {
  const text = textRemedy(value, '');
  if (text !== '') return `give ${text}`;
  if (ArrayBuffer.isView(value) || (isRecord(value) && 'content' in value)) {
    return 'contents are for start of a client with a staging place; in a row give { file } with the s3: URI that staging.keep(stream, "photo.jpg") returns';
  }
  return 'the service takes text and finite numbers, and files are { file: "path" } or, in start of a client with a staging place, { content, name: "photo.jpg" }';
}
