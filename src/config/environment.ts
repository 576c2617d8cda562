import { readFileSync } from 'node:fs';
import type * as v from 'valibot';
import { nearestName } from '../core/nearest-name';
import { errorCode } from '../core/text';
import { redactUrl } from '../core/uri';
import { ConfigError } from './config-error';
import { type JsonFileRules, parseJsonFile } from './json-file';
import { baseUrl, baseUrlFaults, callbackUrl, type Parse } from './values';
import { type Variable, type VariableName, variableNames, variables } from './variables';

export { ConfigError };

/** Warnings do not keep it from being used. */
export interface Loaded<Config> {
  readonly config: Config;
  readonly warnings: readonly string[];
}

type Variables = typeof variables;

export type VariableValues = {
  readonly [Name in VariableName]:
    | Exclude<ReturnType<Variables[Name]['parse']>, undefined>
    | (Variables[Name] extends { readonly unset: infer Unset } ? Unset : null);
};

/** Throws as `readFileSync` does. Tests give their own. */
export type ReadTextFile = (path: string) => string;

/** The values of some variables, files that they name, and what is wrong with any of it. */
export class Environment<Name extends VariableName = VariableName> {
  readonly env: NodeJS.ProcessEnv;
  /** Where one cannot be used, its value when not set. */
  readonly values: Pick<VariableValues, Name>;
  /** Each with the variable's name, its value (never a secret's) and the remedy. */
  readonly problems: string[] = [];
  readonly #readTextFile: ReadTextFile;

  constructor(
    env: NodeJS.ProcessEnv,
    names: readonly Name[],
    readTextFile: ReadTextFile = (path) => readFileSync(path, 'utf8'),
  ) {
    this.env = env;
    this.#readTextFile = readTextFile;
    const values: Record<string, unknown> = {};
    for (const name of names) {
      const { parse, unset = null, remedy }: Variable = variables[name];
      const text = readText(env, name);
      const value = text === undefined ? unset : parse(text);
      values[name] = value ?? unset;
      if (value === undefined) this.problems.push(`${name} is ${shownValue(name, text ?? '')}; ${remedy}.`);
    }
    // Each name has what its own variable parses.
    this.values = values as Pick<VariableValues, Name>;
  }

  isSet(name: VariableName): boolean {
    return readText(this.env, name) !== undefined;
  }

  /** Adds a problem when it is not set. */
  require(name: VariableName, unless = ''): void {
    if (!this.isSet(name)) this.problems.push(`${name} is not set${unless}; ${variables[name].remedy}.`);
  }

  /** Adds a problem when both are set. */
  refuseBoth(name: VariableName, other: VariableName): void {
    if (!this.isSet(name) || !this.isSet(other)) return;
    this.problems.push(`${name} and ${other} are both set; leave one of them out.`);
  }

  /**
   * The text of a file; undefined when it cannot be read, which is a problem.
   * @param what - the variable or field that names it.
   */
  readFile(what: string, file: string, problems = this.problems): string | undefined {
    try {
      // Editors of Windows put a mark before UTF-8.
      return this.#readTextFile(file).replace(/^\uFEFF/, '');
    } catch (error) {
      const reason = errorCode(error) || 'it cannot be read';
      const remedy = isPath(file) ? 'give a readable file' : 'write it to a file, and give the path of that';
      problems.push(`${what} is ${shownFile(file)}, which cannot be read (${reason}); ${remedy}.`);
      return undefined;
    }
  }

  /** The whole file; null when it cannot be used, which is a problem. It is never shown. */
  readSecret<Value>(what: string, file: string, parse: Parse<Value>, kind: string): Value | null {
    const text = this.readFile(what, file)?.trim();
    const value = text === undefined ? undefined : parse(text);
    if (text !== undefined && value === undefined) {
      this.problems.push(`${what} is ${shownFile(file)}, which holds no ${kind}.`);
    }
    return value ?? null;
  }

  /** Null when the variable is not set, or the file cannot be used, which is a problem. */
  readJson<Schema extends v.GenericSchema>(
    name: Name & VariableName,
    rules: JsonFileRules<Schema>,
  ): v.InferOutput<Schema> | null {
    const file = readText(this.env, name);
    const text = file === undefined ? undefined : this.readFile(name, file);
    if (file === undefined || text === undefined) return null;
    const { content, faults } = parseJsonFile(text, rules, variables[name].remedy);
    this.problems.push(...faults.map((fault) => `${name} is ${shownFile(file)}${fault}`));
    return content ?? null;
  }

  /** `value` is null only where there is a problem. Throws {@link ConfigError} with every problem at once. */
  usable<Value>(value: Value | null, hints: readonly string[] = []): Value {
    if (value === null || this.problems.length > 0) throw new ConfigError([...this.problems, ...hints]);
    return value;
  }
}

/** A value as a message may show it; of a URL, what it may not have is named and not shown. */
function shownValue(name: VariableName, text: string): string {
  const { isSecret, parse }: Variable = variables[name];
  if (isSecret) return '[redacted]';
  if (!URL.canParse(text) || !text.includes('://')) return JSON.stringify(text);
  const faults = parse === baseUrl || parse === callbackUrl ? baseUrlFaults(text) : [];
  return `${JSON.stringify(redactUrl(text))}${faults.length === 0 ? '' : `, which has ${faults.join(' and ')}`}`;
}

/** What is no path may be what belongs into the file: a secret. */
export function shownFile(file: string): string {
  return isPath(file) ? JSON.stringify(file) : `a text of ${file.length} characters that is no path`;
}

/** From a folder, or with the ending of a file. Base64 keys end with `=`, JSON and PEM have quotes or spaces. */
function isPath(text: string): boolean {
  return /^(?:\.{0,2}|~|[A-Za-z]:)[/\\][^"'{}=+\r\n]*$/.test(text) || /^[^"'{}=+\s]{1,200}\.[A-Za-z]{1,5}$/.test(text);
}

/** Without surrounding spaces; undefined when it is not set, or empty as in a compose file. */
export function readText(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const text = env[name]?.trim();
  return text === '' ? undefined : text;
}

/** One that cannot be used is reported when the other variables are read. */
export function readUmask(env: NodeJS.ProcessEnv): number {
  return new Environment(env, ['LONGHAUL_UMASK']).values.LONGHAUL_UMASK;
}

const prefix = 'LONGHAUL_';
/** Names that are not the worker's or the command line's: the tool cache of development, and the tests' own. */
const foreignNames = /^LONGHAUL_(TOOLS$|TEST_)/;

/** For every unknown `LONGHAUL_*` variable, with the nearest known name. */
export function ignoredVariableWarnings(env: NodeJS.ProcessEnv): string[] {
  const known: readonly string[] = variableNames;
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith(prefix) && !foreignNames.test(name) && !known.includes(name),
  );
  return unknown.sort().map((name) => {
    if (name === 'LONGHAUL_TASK_QUEUE') {
      return `Unknown variable ${name} is ignored; give --task-queue, or taskQueue in the library`;
    }
    const nearest = nearestName(name, known, prefix.length);
    return `Unknown variable ${name} is ignored${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
  });
}
