import { isClearText } from './clear-text';
import { textOf, type VariableValues } from './read-variables';
import { Secret } from './secret';
import { variables } from './variables';

/** Where the service reports the end of a task, and how the receiver knows that it is the service. */
export interface CallbackConfig {
  /** As it is sent with every create. */
  readonly url: string;
  /** One, or two while they are rotated: the first is sent with every create, both are accepted. */
  readonly tokens: readonly Secret[];
}

const names = ['LONGHAUL_CALLBACK_URL', 'LONGHAUL_CALLBACK_TOKEN'] as const;

/** Reads it; `null` when neither of its variables is set. One without the other is a problem. */
export function readCallback(
  env: NodeJS.ProcessEnv,
  values: Partial<VariableValues>,
  problems: string[],
): CallbackConfig | null {
  const missing = names.filter((name) => textOf(env, name) === undefined);
  if (missing.length === names.length) return null;
  problems.push(...missing.map((name) => `${name} is not set, but its counterpart is; ${variables[name].remedy}.`));
  const tokens = (values.LONGHAUL_CALLBACK_TOKEN ?? []).map((token) => new Secret(token));
  return Object.freeze({ url: values.LONGHAUL_CALLBACK_URL ?? '', tokens: Object.freeze(tokens) });
}

/** What a person should know of it although it can be used. */
export function callbackWarnings(callback: CallbackConfig | null): string[] {
  if (callback === null || !isClearText(callback.url)) return [];
  return [`The callback token comes to ${callback.url} unencrypted; use https.`];
}
