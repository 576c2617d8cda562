import { archiveFolderRemedy, isArchiveFolder } from './archive-folder';
import { firstProblems, maxInputFiles, type UnknownFields, unknownFields, unusableInput } from './input-bounds';
import { defaultDeadlinesMs, defaultTuning, type PlannedFile, type TaskPlan } from './task-plan';
import { isTaskKey } from './workflow-ids';
import { maxDurationDays, parseDuration } from '../domain/time';
import { nearestName, unknownNameProblems } from '../domain/nearest-name';
import { parseInputKey } from '../domain/input-values';
import { isFields, isRecord } from '../domain/json';
import type { PollBounds } from '../domain/poll-cadence';
import { isRequestId } from '../domain/create-outcome';
import { showValue, textRemedy } from '../domain/text';
import { hasPassword, signatureParameterOf, uriKind } from '../domain/uri';
import type { BatchMembership, FileInput, InputValue, OutputNaming, TaskTuning } from './task-input';

/** Either the plan, or every problem of the input: each names the field, the value and the remedy. */
export type ParsedTaskInput = UnknownFields &
  (
    | { readonly plan: TaskPlan; readonly problems?: never }
    | { readonly plan?: never; readonly problems: readonly string[] }
  );

const fields = [
  ...['adopt', 'webAppId', 'inputs', 'suppressPreviewOutput', 'onUncertain', 'uncertainWait'],
  ...['account', 'archive', 'watch', 'deadlines', 'webhook', 'tuning'],
];
/** What only Longhaul itself sets. */
const ownFields = ['createNumber', 'batch'];

/**
 * Checks the input of a `task` workflow. Pure: client, command line and workflow use the same check.
 *
 * @param further - names of fields that the caller takes beside those of the input, for its messages.
 */
export function parseTaskInput(input: unknown, further: readonly string[] = []): ParsedTaskInput {
  const unusable = unusableInput(input, '{ webAppId, inputs }');
  if (unusable !== undefined || !isRecord(input)) return { problems: [unusable ?? 'The input is not an object.'] };
  const problems: string[] = [];
  const check = new Checker(problems);
  const names = Object.keys(input).filter((name) => !ownFields.includes(name));
  // With inputs it is a new task, and no adoption with a misspelt name.
  const known = input['inputs'] === undefined || 'adopt' in input ? fields : fields.filter((name) => name !== 'adopt');
  problems.push(...unknownNameProblems('field', names, [...further, ...known]));
  const adoptRequestId = check.adopt(input['adopt']);
  const isNew = input['adopt'] === undefined;
  const { values, files } = isNew ? check.inputs(input['inputs']) : { values: {}, files: [] };
  if (!isNew && input['inputs'] !== undefined) {
    problems.push('A task is either created (webAppId, inputs) or adopted (adopt, webAppId); leave one of them out.');
  }
  const hasApp = isNew || input['webAppId'] !== undefined;
  const plan: TaskPlan = {
    adoptRequestId,
    webAppId: hasApp ? check.integer('webAppId', input['webAppId'], 'the app’s web_app_id') : null,
    values,
    files,
    suppressPreviewOutput: check.flag('suppressPreviewOutput', input['suppressPreviewOutput']),
    onUncertain: check.oneOf('onUncertain', input['onUncertain'], ['hold', 'fail', 'recreate'], 'hold'),
    uncertainWaitMs: check.duration('uncertainWait', input['uncertainWait']),
    createNumber:
      input['createNumber'] === undefined ? 1 : check.integer('createNumber', input['createNumber'], 'a count from 1'),
    account: check.word('account', input['account'], 'default'),
    archiveFolder: check.folder(input['archive']),
    batch: check.batch(input['batch']),
    watch: check.oneOf('watch', input['watch'], ['timer', 'activity'], 'timer'),
    webhook: input['webhook'] === undefined ? null : check.word('webhook', input['webhook'], ''),
    deadlinesMs: check.deadlines(input['deadlines']),
    tuning: check.tuning(input['tuning']),
  };
  const unknown = unknownFields(check.unknownFields);
  return { ...(problems.length > 0 ? { problems: firstProblems(problems) } : { plan }), ...unknown };
}

const durationRemedy = `a duration such as "90 seconds" or "12h", or milliseconds as a number, at most ${maxDurationDays} days`;
const fileFields = Object.keys({ file: 0, as: 0 } satisfies Record<Exclude<keyof FileInput, 'content'>, 0>);

/** Collects problems; every method answers a usable value, so that one pass finds them all. */
class Checker {
  /** Of files and `adopt`, each with its problem; see {@link UnknownFields}. */
  readonly unknownFields: string[] = [];
  readonly #problems: string[];

  constructor(problems: string[]) {
    this.#problems = problems;
  }

  adopt(value: unknown): string | null {
    if (value === undefined) return null;
    const names = isRecord(value) ? Object.keys(value) : [];
    this.unknownFields.push(...unknownNameProblems('field', names, ['requestId'], 'adopt.'));
    const requestId = isRecord(value) ? value['requestId'] : undefined;
    if (isRequestId(requestId)) return requestId;
    this.#problems.push(`adopt ${showValue(value)} is not { requestId } with the service’s request id as text.`);
    return '';
  }

  inputs(value: unknown): Pick<TaskPlan, 'values' | 'files'> {
    const values: Record<string, string | number> = {};
    const files: PlannedFile[] = [];
    if (!isFields(value)) {
      this.#problems.push(
        `inputs is ${showValue(value)}; give an object of "<node_id>:<NodeClass>.<parameter>": value.`,
      );
      return { values, files };
    }
    for (const [key, one] of Object.entries(value)) {
      if (parseInputKey(key) === undefined) {
        this.#problems.push(
          `The input key ${showValue(key)} is not "<node_id>:<NodeClass>.<parameter>", such as "1:LoadImage.image".`,
        );
      }
      if (isPlainValue(one)) values[key] = this.#unsigned(`inputs[${showValue(key)}]`, one);
      else if (isRecord(one) && 'file' in one) files.push(this.#file(key, one));
      else {
        this.#problems.push(`inputs[${showValue(key)}] is ${showValue(one)}; ${inputRemedy(one)}.`);
      }
    }
    if (files.length > maxInputFiles) {
      this.#problems.push(`inputs has ${files.length} files; a task takes at most ${maxInputFiles}.`);
    }
    return { values, files };
  }

  #file(key: string, value: Record<string, unknown>): PlannedFile {
    const { file } = value;
    for (const problem of unknownNameProblems('field', Object.keys(value), fileFields)) {
      this.unknownFields.push(`inputs[${showValue(key)}]: ${problem}`);
    }
    const where = `inputs[${showValue(key)}].file`;
    if (typeof file !== 'string' || file.trim() === '' || uriKind(file) === 'foreign') {
      const remedy = textRemedy(file, 'a path, an https: URL or an s3: URI');
      this.#problems.push(`${where} is ${showValue(file)}; give ${remedy}.`);
      return { key, file: '', as: 'url' };
    }
    return {
      key,
      file: this.#unsigned(where, file),
      as: this.oneOf(`inputs[${showValue(key)}].as`, value['as'], ['url', 'name', 'id'], 'url'),
    };
  }

  /** Refuses a signed link: it would be a key to the file, in a history that many may read. */
  #unsigned<T extends string | number>(where: string, value: T): T {
    const text = String(value);
    const parameter = signatureParameterOf(text);
    const secret = parameter === undefined ? 'a password' : `the signature parameter "${parameter}"`;
    if (parameter !== undefined || hasPassword(text)) {
      this.#problems.push(
        `${where} is a URL with ${secret}; such a link must not enter a workflow history. Give an s3: URI, a file, or the URL without it if it opens without.`,
      );
    }
    return value;
  }

  integer(name: string, value: unknown, meaning: string): number {
    if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
    this.#problems.push(`${name} is ${showValue(value)}; give ${meaning} as a positive whole number.`);
    return 0;
  }

  flag(name: string, value: unknown): boolean | null {
    if (value === undefined) return null;
    if (typeof value === 'boolean') return value;
    this.#problems.push(`${name} is ${showValue(value)}; give true or false.`);
    return null;
  }

  oneOf<T extends string>(name: string, value: unknown, allowed: readonly T[], fallback: T): T {
    if (value === undefined) return fallback;
    const found = allowed.find((one) => one === value);
    if (found !== undefined) return found;
    this.#problems.push(`${name} is ${showValue(value)}; it can be ${allowed.map(showValue).join(', ')}.`);
    return fallback;
  }

  word(name: string, value: unknown, fallback: string): string {
    if (value === undefined) return fallback;
    if (typeof value === 'string' && /^[A-Za-z0-9._-]{1,80}$/.test(value)) return value;
    this.#problems.push(`${name} is ${showValue(value)}; give 1 to 80 letters, digits, dots, underscores or hyphens.`);
    return fallback;
  }

  folder(value: unknown): string {
    if (value === undefined) return '';
    if (isArchiveFolder(value)) return value;
    this.#problems.push(`archive is ${showValue(value)}; give ${archiveFolderRemedy}.`);
    return '';
  }

  batch(value: unknown): BatchMembership | null {
    if (value === undefined) return null;
    const { id, key, names } = isRecord(value) ? value : {};
    if (isKey(id) && isKey(key) && (names === undefined || isNaming(names))) {
      return { id, key, ...(names !== undefined && { names }) };
    }
    this.#problems.push(`batch is ${showValue(value)}; only a batch sets it, as { id, key, names? }.`);
    return null;
  }

  duration(name: string, value: unknown): number | null {
    if (value === undefined) return null;
    const durationMs = parseDuration(value);
    if (durationMs === undefined) {
      this.#problems.push(`${name} is ${showValue(value)}; give ${durationRemedy}.`);
    }
    return durationMs ?? null;
  }

  deadlines(value: unknown): TaskPlan['deadlinesMs'] {
    if (value === undefined) return defaultDeadlinesMs;
    if (!isFields(value)) {
      this.#problems.push(
        `deadlines is ${showValue(value)}; give one or more of queue, run and total, such as { total: "12h" }.`,
      );
      return defaultDeadlinesMs;
    }
    const read = { ...defaultDeadlinesMs };
    const names = Object.keys(defaultDeadlinesMs);
    this.#problems.push(...unknownNameProblems('field', Object.keys(value), names, 'deadlines.'));
    for (const [name, one] of Object.entries(value)) {
      if (name !== 'queue' && name !== 'run' && name !== 'total') continue;
      const durationMs = parseDuration(one);
      if (durationMs === undefined || durationMs === 0) {
        this.#problems.push(`deadlines.${name} is ${showValue(one)}; give ${durationRemedy}, and above 0.`);
      } else read[name] = durationMs;
    }
    return read;
  }

  tuning(value: unknown): TaskTuning {
    if (value === undefined) return defaultTuning;
    const read = { ...defaultTuning };
    const names = Object.keys(defaultTuning);
    if (isFields(value)) {
      this.#problems.push(...unknownNameProblems('field', Object.keys(value), names, 'tuning.'));
    }
    for (const [name, one] of Object.entries(isFields(value) ? value : { tuning: value })) {
      if (isFields(value) && !Object.hasOwn(defaultTuning, name)) continue;
      if (name === 'poll' && isPollBounds(one)) read.poll = { minMs: one.minMs, maxMs: one.maxMs };
      else if (name !== 'poll' && isTuningName(name) && isCount(one)) read[name] = one;
      else {
        this.#problems.push(
          `tuning.${name} is ${showValue(one)}; known are ${names.join(', ')}: each a whole number from 1, poll { minMs, maxMs } of two.`,
        );
      }
    }
    return read;
  }
}

/** So many letters of a field may be wrong, for `file` to be meant: `value` is another word. */
const maxTypos = 2;

/** Of what is neither text, a number nor a file. */
function inputRemedy(value: unknown): string {
  const text = textRemedy(value, '');
  if (text !== '') return `give ${text}`;
  if (ArrayBuffer.isView(value) || (isRecord(value) && 'content' in value)) {
    return 'contents are for start of a client with a staging place; in a row give { file } with the s3: URI that staging.keep(stream, "photo.jpg") returns';
  }
  const names = isFields(value) ? Object.keys(value).slice(0, fileFields.length) : [];
  const misspelt = names.find((name) => nearestName(name, ['file'], 0, maxTypos) !== undefined);
  if (misspelt !== undefined) return `did you mean file by ${showValue(misspelt)}? Files are { file: "path" }`;
  return 'the service takes text and finite numbers, and files are { file: "path" } or, in start of a client with a staging place, { content, name: "photo.jpg" }';
}

function isKey(value: unknown): value is string {
  return typeof value === 'string' && isTaskKey(value);
}

function isNaming(value: unknown): value is OutputNaming {
  if (!isRecord(value) || typeof value['template'] !== 'string' || !isRecord(value['columns'])) return false;
  return Object.values(value['columns']).every((column) => typeof column === 'string');
}

function isTuningName(name: string): name is keyof Omit<TaskTuning, 'poll'> {
  return Object.hasOwn(defaultTuning, name);
}

/** What a timer, a timeout and a retry policy of Temporal take; any of them refuses zero or halves at run time. */
function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && parseDuration(value) !== undefined;
}

function isPollBounds(value: unknown): value is PollBounds {
  return isRecord(value) && isCount(value['minMs']) && isCount(value['maxMs']) && value['minMs'] <= value['maxMs'];
}

function isPlainValue(value: unknown): value is Exclude<InputValue, object> {
  return typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value));
}
