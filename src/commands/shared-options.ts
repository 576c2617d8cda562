import path from 'node:path';
import { Argument, Option } from 'commander';
import { InputInvalidError } from '../client/errors';
import { checkedTaskId } from '../client/start-check';
import type { InputValue, ResourceForm } from '../contract/task-input';
import { workflowTaskQueue } from '../contract/task-queues';
import { readInputText } from '../core/input-values';
import { isDrivePath, isUri } from '../core/uri';

/** `undefined` when it is not given. */
export function repeatable(flags: string, description: string): Option {
  const collect = (value: string, previous: readonly string[] = []): readonly string[] => [...previous, value];
  return new Option(flags, description).argParser(collect);
}

/** For a second, separate set of workers in one namespace. */
export function taskQueueOption(): Option {
  return new Option('--task-queue <name>', `task queue of the workers (default: "${workflowTaskQueue}")`);
}

/** For commands that do not wait anyway: it means the same as for those that do. */
export function detachedAnyway(description: string): Option {
  return new Option('--detach', description);
}

/** Checked before Temporal is asked. */
export function idArgument(): Argument {
  return new Argument('<id>', 'the task’s key or workflow id').argParser(checkedTaskId);
}

/** `NaN` for what is not 1 to 16 digits. */
export function wholeNumber(text: string): number {
  return /^\d{1,16}$/.test(text) ? Number(text) : NaN;
}

/** At least 1. Throws {@link InputInvalidError}. */
export function readCount(option: string, text: string, most = Number.MAX_SAFE_INTEGER): number {
  const count = wholeNumber(text);
  if (count >= 1 && count <= most) return count;
  const range = most === Number.MAX_SAFE_INTEGER ? 'on' : `to ${most}`;
  throw new InputInvalidError([`${option} is ${JSON.stringify(text)}; give a whole number from 1 ${range}.`], 'batch');
}

/** Each in the order of the command line. */
export interface InputOptions {
  readonly input?: readonly string[];
  readonly string?: readonly string[];
  readonly as?: readonly string[];
}

/**
 * `KEY=VALUE` is a number where a double holds it exactly, else text; `-s` is always text. `KEY=@FILE` is a file as the
 * worker sees it: a relative path becomes absolute, an `https:` URL stays. A path with a drive is refused, also without
 * the `@`, where there are no drives: it comes from another machine. Throws {@link InputInvalidError} with every
 * problem.
 */
export function readInputs(options: InputOptions, cwd: string): Record<string, InputValue> {
  const problems: string[] = [];
  const inputs = new Map<string, InputValue>();
  const add = (option: string, text: string, read: (value: string) => InputValue): void => {
    const pair = splitPair(text);
    if (pair === undefined) problems.push(`${option} ${JSON.stringify(text)} is not KEY=VALUE.`);
    else if (inputs.has(pair.key)) problems.push(`The input ${JSON.stringify(pair.key)} is given twice.`);
    else inputs.set(pair.key, read(pair.value));
  };
  for (const text of options.input ?? []) {
    problems.push(...driveProblem(text));
    add('-i', text, (given) => {
      const value = readInputText(given);
      if (typeof value !== 'object') return value;
      return { file: value.file === '' || isUri(value.file) ? value.file : path.resolve(cwd, value.file) };
    });
  }
  for (const text of options.string ?? []) add('-s', text, (value) => value);
  for (const text of options.as ?? []) {
    const { key = '', value: form } = splitPair(text) ?? {};
    const input = inputs.get(key);
    if (!isResourceForm(form)) problems.push(noForm(text));
    else if (typeof input !== 'object') problems.push(`--as ${JSON.stringify(text)}: there is no -i ${key}=@FILE.`);
    else inputs.set(key, { ...input, as: form });
  }
  if (problems.length > 0) throw new InputInvalidError(problems);
  return Object.fromEntries(inputs);
}

function splitPair(text: string): { key: string; value: string } | undefined {
  const equals = text.indexOf('=');
  return equals < 1 ? undefined : { key: text.slice(0, equals), value: text.slice(equals + 1) };
}

function driveProblem(text: string): string[] {
  const { key, value = '' } = splitPair(text) ?? {};
  const file = value.replace(/^@/, '');
  if (key === undefined || path.sep !== '/' || !isDrivePath(file)) return [];
  const asText = value.startsWith('@') ? '' : `; or send it as text: -s ${key}=TEXT`;
  return [
    `-i ${JSON.stringify(text)} is a path of Windows, with a drive; give the path that the file has on the worker’s machine: -i ${key}=@/PATH${asText}.`,
  ];
}

/** `--as`: holds for the files of every row under that key. Throws {@link InputInvalidError} with every problem. */
export function readForms(texts: readonly string[]): Record<string, ResourceForm> {
  const problems: string[] = [];
  const forms = texts.flatMap((text) => {
    const { key, value } = splitPair(text) ?? {};
    if (key !== undefined && isResourceForm(value)) return [[key, value] as const];
    problems.push(noForm(text));
    return [];
  });
  if (problems.length > 0) throw new InputInvalidError(problems, 'batch');
  return Object.fromEntries(forms);
}

/** The app's id. Throws {@link InputInvalidError}. */
export function readApp(app: string): number {
  if (/^[1-9]\d*$/.test(app)) return Number(app);
  throw new InputInvalidError([`The app is ${JSON.stringify(app)}; give its web_app_id, a positive whole number.`]);
}

function noForm(text: string): string {
  return `--as ${JSON.stringify(text)} is not KEY=url, KEY=name or KEY=id.`;
}

function isResourceForm(text: string | undefined): text is ResourceForm {
  return text === 'url' || text === 'name' || text === 'id';
}
