import type * as z from 'zod';
import { nearestName } from '../core/nearest-name';
import { redactUrl } from '../core/uri';
import { baseUrlFaults } from './values';
import { type VariableName, variableNames, variables } from './variables';

export { ConfigError } from './config-error';

/** A configuration, and warnings that do not keep it from being used. */
export interface Loaded<Config> {
  readonly config: Config;
  readonly warnings: readonly string[];
}

/** The variables' values, by name. */
export type VariableValues = { readonly [Name in VariableName]: z.output<(typeof variables)[Name]['schema']> };

/** The values of the environment, and a problem for each that cannot be used; its default takes its place. */
export interface ReadVariables<Name extends VariableName> {
  readonly values: Pick<VariableValues, Name>;
  readonly problems: string[];
}

/** Reads the named variables; an empty one counts as not set, as in a compose file. */
export function readVariables<Name extends VariableName>(
  env: NodeJS.ProcessEnv,
  names: readonly Name[],
): ReadVariables<Name> {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const name of names) {
    const { schema, remedy } = variables[name];
    const text = readText(env, name);
    const parsed = schema.safeParse(text);
    values[name] = parsed.success ? parsed.data : schema.safeParse(undefined).data;
    if (!parsed.success) problems.push(`${name} is ${shownValue(name, text ?? '')}; ${remedy}.`);
  }
  // Each name has the output of its own schema.
  return { values: values as Pick<VariableValues, Name>, problems };
}

/** Those whose URL has neither credentials nor a query. */
const baseUrls: readonly VariableName[] = [
  'LONGHAUL_SERVICE_URL',
  'LONGHAUL_TRACES_OTLP_URL',
  'LONGHAUL_CALLBACK_URL',
  'LONGHAUL_WEB_UI_URL',
];

/** A value as a message may show it; of a URL, what it may not have is named and not shown. */
function shownValue(name: VariableName, text: string): string {
  if ('isSecret' in variables[name]) return '[redacted]';
  if (!URL.canParse(text) || !text.includes('://')) return JSON.stringify(text);
  const faults = baseUrls.includes(name) ? baseUrlFaults(text) : [];
  return `${JSON.stringify(redactUrl(text))}${faults.length === 0 ? '' : `, which has ${faults.join(' and ')}`}`;
}

/** The text of a variable without surrounding spaces; `undefined` when it is not set or set to nothing. */
export function readText(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const text = env[name]?.trim();
  return text === '' ? undefined : text;
}

/** Files are for the own user only. */
const privateUmask = 0o077;

/** The umask of the process. One that cannot be used is reported when the other variables are read. */
export function readUmask(env: NodeJS.ProcessEnv): number {
  return readVariables(env, ['LONGHAUL_UMASK']).values.LONGHAUL_UMASK ?? privateUmask;
}

const prefix = 'LONGHAUL_';
/** Names that are not the worker's or the command line's: the tool cache of development, and the tests' own. */
const foreignNames = /^LONGHAUL_(TOOLS$|TEST_)/;

/** A warning for every `LONGHAUL_*` variable that is not known, with the nearest known name. */
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

/** Whether what is sent to this URL crosses a network unencrypted; this machine is none. */
export function isClearText(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
