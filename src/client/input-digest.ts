import { createHash } from 'node:crypto';
import { digestedInput } from '../contract/digested-input';
import type { TaskInput } from '../contract/task-input';

/** SHA-256 of a task's input, as hex: what tells whether two starts with the same key mean the same task. */
export function inputDigest(input: TaskInput): string {
  return createHash('sha256').update(digestedInput(input)).digest('hex');
}
