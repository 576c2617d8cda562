import { canonicalJson } from '../domain/canonical-json';
import type { TaskInput } from './task-input';

/**
 * The text whose SHA-256 is a task's input digest: equal for inputs that mean the same task. `createNumber` is left
 * out, because a retry of the same task raises it. An adopted task is its request id and account: how it is followed
 * makes no other task of it.
 */
export function digestedInput(input: TaskInput): string {
  if ('adopt' in input) return canonicalJson({ adopt: input.adopt, account: input.account ?? 'default' });
  const entries = Object.entries(input).filter(([name]) => name !== 'createNumber');
  return canonicalJson(Object.fromEntries(entries));
}
