import type * as z from 'zod';
import { redactUrl } from '../domain/uri';
import { nearestName } from '../domain/nearest-name';
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
/**
 * A warning for every `LONGHAUL_*` variable that is ignored: unknown, with the nearest known name, or Kubernetes’ own;
 * and for every other one that is all but called like one of Temporal's or AWS's that Longhaul's libraries read.
 */
export function ignoredVariableWarnings(env: NodeJS.ProcessEnv): string[] {
  const set = Object.keys(env).sort();
  const names = set.filter((name) => name.startsWith(prefix) && !foreignNames.test(name));
  const links = names.filter((name) => isKnown(name) && isServiceLink(env, name));
  const unknown = names.filter((name) => !isKnown(name) && !isServiceLink(env, name));
  const misspelt = set.filter((name) => !isServiceLink(env, name)).flatMap(misspeltWarning);
  return [...links.map(serviceLinkWarning), ...unknown.map(unknownWarning), ...misspelt];
}

const temporalNames = [
  ...['ADDRESS', 'NAMESPACE', 'API_KEY', 'PROFILE', 'CONFIG_FILE', 'TLS', 'TLS_SERVER_NAME'],
  ...['TLS_CLIENT_CERT_PATH', 'TLS_CLIENT_CERT_DATA', 'TLS_CLIENT_KEY_PATH', 'TLS_CLIENT_KEY_DATA'],
  ...['TLS_SERVER_CA_CERT_PATH', 'TLS_SERVER_CA_CERT_DATA', 'TLS_DISABLE_HOST_VERIFICATION'],
].map((name) => `TEMPORAL_${name}`);
const awsNames = [
  ...['ENDPOINT_URL', 'ENDPOINT_URL_S3', 'REGION', 'DEFAULT_REGION', 'PROFILE'],
  ...['ACCESS_KEY_ID', 'SECRET_ACCESS_KEY', 'SESSION_TOKEN'],
].map((name) => `AWS_${name}`);

/** Both have variables beside these, such as AWS_ENDPOINT_URL_SQS. */
function misspeltWarning(name: string): string[] {
  const isTemporals = name.startsWith('TEMPORAL_');
  const known = isTemporals ? temporalNames : awsNames;
  if ((!isTemporals && !name.startsWith('AWS_')) || known.includes(name)) return [];
  const nearest = nearestName(name, known, 0, isTemporals ? 2 : 1);
  return nearest === undefined ? [] : [`Nothing reads the variable ${name}; did you mean ${nearest}?`];
}

function serviceLinkWarning(name: string): string {
  return `${name} was set by Kubernetes for a Service and is ignored; set enableServiceLinks: false in the pod.`;
}

function unknownWarning(name: string): string {
  if (name === 'LONGHAUL_TASK_QUEUE') {
    return `Unknown variable ${name} is ignored; give --task-queue, or taskQueue in the library`;
  }
  const meant = meantNames(name);
  return `Unknown variable ${name} is ignored${meant.length === 0 ? '' : `; did you mean ${oneOf(meant)}?`}`;
}

function isKnown(name: string): boolean {
  return variableNames.some((known) => known === name);
}

function oneOf(names: readonly string[]): string {
  const [first = '', ...others] = [...names].reverse();
  return others.length === 0 ? first : `${others.reverse().join(', ')} or ${first}`;
}

/** So many names that begin with the same word are named. */
const maxMeant = 3;

/**
 * The nearest name; where others begin with the same word and that one does not, these: who writes
 * LONGHAUL_HEALTH_ADDRESS means the health check, and no other address.
 */
function meantNames(name: string): readonly string[] {
  const nearest = nearestKnown(name);
  const family = `${prefix}${name.slice(prefix.length).split('_', 1)[0] ?? ''}_`;
  const relatives = variableNames.filter((known) => known.startsWith(family));
  if (nearest?.startsWith(family) === true || relatives.length === 0 || relatives.length > maxMeant) {
    return nearest === undefined ? [] : [nearest];
  }
  return relatives;
}

function nearestKnown(name: string): string | undefined {
  return nearestName(name, variableNames, prefix.length);
}

/** Whether what is sent to this URL crosses a network unencrypted; this machine is none. */
export function isClearText(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
