import type * as z from 'zod';
import { shownValue, type VariableName, variableNames, variables } from './variables';
import { ConfigError } from './config-error';

export { ConfigError };

/** A configuration, and warnings that do not keep it from being used. */
export interface Loaded<Config> {
  readonly config: Config;
  readonly warnings: readonly string[];
}

/** The variables' values, by name. */
export type VariableValues = { readonly [Name in VariableName]: z.output<(typeof variables)[Name]['schema']> };

/** The valid values of the environment, and a problem for each other one. */
export interface ReadVariables {
  readonly values: Partial<VariableValues>;
  readonly problems: readonly string[];
}

/** Reads the named variables; an empty one counts as not set, as in a compose file. */
export function readVariables(env: NodeJS.ProcessEnv, names: readonly VariableName[]): ReadVariables {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const name of names) {
    const text = readText(env, name);
    const parsed = variables[name].schema.safeParse(text);
    if (parsed.success) values[name] = parsed.data;
    else problems.push(`${name} is ${shownValue(name, text ?? '')}; ${variables[name].remedy}.`);
  }
  return { values, problems };
}

/**
 * The text of a variable without surrounding spaces; `undefined` when it is not set or set to nothing, or when
 * Kubernetes set it.
 */
export function readText(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const text = env[name]?.trim();
  return text === '' || isServiceLink(env, name) ? undefined : text;
}

/**
 * Kubernetes describes each Service of a namespace to its pods by variables of the Service's name: one that is called
 * `longhaul-callback` sets `LONGHAUL_CALLBACK_PORT=tcp://10.0.0.1:8080`, and more beside it.
 */
function isServiceLink(env: NodeJS.ProcessEnv, name: string): boolean {
  return serviceLinkNames.test(name) || (name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(env[name] ?? ''));
}

const serviceLinkNames = /_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/;

/** Files are for the own user only. */
const privateUmask = 0o077;

/**
 * The umask of the process. One that cannot be used is reported when the other variables are read; until then files
 * are private.
 */
export function readUmask(env: NodeJS.ProcessEnv): number {
  return readVariables(env, ['LONGHAUL_UMASK']).values.LONGHAUL_UMASK ?? privateUmask;
}

const prefix = 'LONGHAUL_';
/** Names that are not the worker's or the command line's: the tool cache of development, and the tests' own. */
const foreignNames = /^LONGHAUL_(TOOLS$|TEST_)/;
/** The largest distance at which a name is suggested. */
const maxDistance = 6;
/** The largest distance in relation to the length of the name. */
const maxDifferentPart = 0.6;

/** A warning for every `LONGHAUL_*` variable that is ignored: unknown, with the nearest known name, or Kubernetes’ own. */
export function ignoredVariableWarnings(env: NodeJS.ProcessEnv): string[] {
  const names = Object.keys(env)
    .filter((name) => name.startsWith(prefix) && !foreignNames.test(name))
    .sort();
  const links = names.filter((name) => isKnown(name) && isServiceLink(env, name));
  const unknown = names.filter((name) => !isKnown(name) && !isServiceLink(env, name));
  return [...links.map(serviceLinkWarning), ...unknown.map(unknownWarning)];
}

function serviceLinkWarning(name: string): string {
  return `${name} was set by Kubernetes for a Service and is ignored; set enableServiceLinks: false in the pod.`;
}

function unknownWarning(name: string): string {
  const nearest = nearestKnown(name);
  return `Unknown variable ${name} is ignored${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
}

function isKnown(name: string): boolean {
  return variableNames.some((known) => known === name);
}

function nearestKnown(name: string): string | undefined {
  const ranked = variableNames
    .map((known) => ({ known, distance: editDistance(name, known) }))
    .sort((a, b) => a.distance - b.distance);
  const [best] = ranked;
  if (best === undefined || best.distance > maxDistance) return undefined;
  const letters = Math.max(name.length, best.known.length) - prefix.length;
  return best.distance <= letters * maxDifferentPart ? best.known : undefined;
}

/** Levenshtein's distance: how many letters to insert, remove or change. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 0; i < from.length; i += 1) {
    const next = [i + 1];
    for (let j = 0; j < to.length; j += 1) {
      const change = (row[j] ?? 0) + (from[i] === to[j] ? 0 : 1);
      next.push(Math.min(change, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** Whether what is sent to this URL crosses a network unencrypted; this machine is none. */
export function isClearText(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
