import path from 'node:path';
import { isExactNumber } from '../domain/input-values';
import { isRecord } from '../domain/json';
import { isUri } from '../domain/uri';
import { looksLikeMediaFile } from './media-file';
import { optionFor } from './option-for';
import type { RowOptions } from './row-options';
import type { RowProblems } from './row-problem';

/**
 * The inputs of a row's task: its own over those of all rows, with absolute paths. What is no object stays as it is, for
 * the check of the whole input to say so.
 */
export function rowInputs(
  { inputs }: Readonly<Record<string, unknown>>,
  folder: string,
  options: RowOptions,
  problems: RowProblems,
): unknown {
  const { constants } = options;
  if (inputs === undefined) return constants ?? {};
  if (!isRecord(inputs)) return inputs;
  const own = Object.entries(inputs).map(([key, value]) => [key, ownInput(key, value, folder, options, problems)]);
  return { ...constants, ...Object.fromEntries(own) } as unknown;
}

function ownInput(
  key: string,
  value: unknown,
  folder: string,
  { forms = {}, textColumns = [] }: RowOptions,
  problems: RowProblems,
): unknown {
  const isText = textColumns.includes(key);
  if (key !== key.trim()) problems.addField('VALUE', key, value, 'its name has spaces around it: remove them');
  if (typeof value === 'number') {
    if (isExactNumber(value)) return isText ? String(value) : value;
    problems.addField('VALUE', key, value, 'a double does not hold such a number exactly: give it as text');
  }
  if (typeof value === 'string' && !isText && looksLikeMarkedFile(value)) {
    const asFile = `in JSONL and templates a file is { "file": ${JSON.stringify(value.slice(1))} }`;
    const asText = `text that looks so is to be named ${optionFor('--text-column', key)}`;
    problems.addField('VALUE', key, value, `${asFile}, and ${asText}`);
  }
  if (!isRecord(value) || typeof value['file'] !== 'string') return value;
  const form = forms[key];
  return { ...(form !== undefined && { as: form }), ...value, file: absolute(value['file'], folder) };
}

/** `@photos/cat.jpg` is a file in cells alone. `@ada` is text: nobody means a file by it. */
function looksLikeMarkedFile(text: string): boolean {
  return text.startsWith('@') && (looksLikeMediaFile(text) || isUri(text.slice(1)));
}

function absolute(file: string, folder: string): string {
  return file.trim() === '' || isUri(file) ? file : path.resolve(folder, file);
}
