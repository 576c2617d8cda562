import { isRecord } from '../../core/json';
import { redact } from '../../core/redact';

/** A `longhaul batch run`, to run the batch again. */
export interface BatchCommand {
  /** Absolute: where it ran. */
  readonly folder: string;
  /** Row files, absolute. */
  readonly files: readonly string[];
  /** The options that decide about rows, as words; their paths are absolute. */
  readonly options: readonly string[];
}

const maxWords = 300;
const maxCharacters = 16_384;

export function isBatchCommand(value: unknown): value is BatchCommand {
  if (!isRecord(value)) return false;
  const words: unknown[] = [value['folder'], value['files'], value['options']].flat();
  if (!Array.isArray(value['files']) || !Array.isArray(value['options']) || words.length > maxWords) return false;
  const texts = words.filter((word) => typeof word === 'string');
  return texts.length === words.length && texts.join('').length <= maxCharacters;
}

/** Undefined for one that is too long to be kept, or has what looks like a secret. */
export function keptCommand(command: BatchCommand | null | undefined): BatchCommand | undefined {
  if (command == null || !isBatchCommand(command)) return undefined;
  const { folder, files, options } = command;
  return [folder, ...files, ...options].some((word) => redact(word) !== word) ? undefined : { folder, files, options };
}
