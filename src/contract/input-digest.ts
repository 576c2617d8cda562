import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { canonicalJson } from '../domain/canonical-json';
import type { NewTaskInput, TaskInput } from './task-input';

/**
 * SHA-256 of a task's input, as hex: equal for inputs that mean the same task. `createNumber` is left out, because a
 * retry of the same task raises it. An adopted task is its request id and account: how it is followed makes no other
 * task of it. Pure JavaScript, because a workflow has no other.
 */
export function inputDigest(input: TaskInput): string {
  if ('adopt' in input) return digest({ adopt: input.adopt, account: input.account ?? 'default' });
  const entries = Object.entries(input).filter(([name]) => name !== 'createNumber');
  return digest(Object.fromEntries(entries));
}

/** SHA-256 of what a create sends, as hex: two creates that would be paid for the same thing have the same. */
export function createDigest({ account = 'default', ...input }: NewTaskInput): string {
  const { webAppId, inputs, suppressPreviewOutput } = input;
  return digest({ account, webAppId, inputs, suppressPreviewOutput });
}

function digest(value: unknown): string {
  return bytesToHex(sha256(utf8ToBytes(canonicalJson(value))));
}
