import { canonicalJson } from '../domain/canonical-json';
import type { TaskInput } from './task-input';

/**
 * The text whose SHA-256 is a task's input digest: equal for inputs that mean the same task. `createNumber` is left
 * out, because a retry of the same task raises it.
 */
export function digestedInput(input: TaskInput): string {
  const entries = Object.entries(input).filter(([name]) => name !== 'createNumber');
  return canonicalJson(Object.fromEntries(entries));
}
