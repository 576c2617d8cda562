import type { z } from 'zod';
import { shownValue, type VariableName, variables } from './variables';

/** The variables' values, by name. */
export type VariableValues = { readonly [Name in VariableName]: z.output<(typeof variables)[Name]['schema']> };

/** What the environment holds: the values that can be read, and a complaint about each of the others. */
export interface ReadVariables {
  readonly values: Partial<VariableValues>;
  readonly problems: readonly string[];
}

/** Reads the named variables; one that is set to nothing counts as not set, as in a compose file. */
export function readVariables(env: NodeJS.ProcessEnv, names: readonly VariableName[]): ReadVariables {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const name of names) {
    const text = textOf(env, name);
    const parsed = variables[name].schema.safeParse(text);
    if (parsed.success) values[name] = parsed.data;
    else problems.push(`${name} is ${shownValue(name, text ?? '')}; ${variables[name].remedy}.`);
  }
  return { values, problems };
}

/** The text of a variable without surrounding spaces; `undefined` when it is not set or set to nothing. */
export function textOf(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const text = env[name]?.trim();
  return text === '' ? undefined : text;
}

/** Files are for the own user only. */
const privateUmask = 0o077;

/**
 * The umask of the process. One that cannot be used is complained about by whoever reads the other variables; until
 * then files are private.
 */
export function readUmask(env: NodeJS.ProcessEnv): number {
  return readVariables(env, ['LONGHAUL_UMASK']).values.LONGHAUL_UMASK ?? privateUmask;
}
