import { InputInvalidError } from '../../client/errors';
import { parseTaskInput } from '../../contract/parse-task-input';
import { showValue } from '../../domain/text';
import { isUri } from '../../domain/uri';
import { sizeOfInputFile } from '../../rows';
import { fit } from '../format';
import type { RowFileOptions, RowFileToRead } from './row-file-options';

/**
 * Checks what is said of all rows, once and before they are read: the constants and their files, what all tasks have in
 * common, and options that mean nothing to such a file.
 *
 * Throws {@link InputInvalidError} with every problem.
 */
export async function checkRowOptions(toRead: RowFileToRead, options: RowFileOptions): Promise<void> {
  const { common, constants } = toRead.options;
  const { problems = [] } = parseTaskInput({ webAppId: 1, ...common, inputs: constants });
  const all = [...optionsForTables(toRead, options), ...problems, ...(await fileProblems(toRead, options))];
  if (all.length > 0) throw new InputInvalidError(all, 'batch');
}

function optionsForTables({ file }: RowFileToRead, { empty }: RowFileOptions): string[] {
  if (file.format !== 'jsonl' || empty === undefined) return [];
  return [`--empty is ${showValue(empty)}; JSONL has no cells that could be empty: leave it out.`];
}

async function fileProblems({ options }: RowFileToRead, { input = [] }: RowFileOptions): Promise<string[]> {
  const looks = Object.entries(options.constants ?? {}).map(async ([key, value]): Promise<string[]> => {
    if (typeof value !== 'object' || value.file.trim() === '' || isUri(value.file)) return [];
    const size = await sizeOfInputFile(value.file, 'where the command runs');
    if (typeof size === 'number') return [];
    const option = input.find((text) => text.startsWith(`${key}=`)) ?? key;
    return [`-i ${fit(option, maxOptionLength)}: ${showValue(value.file)} ${size}.`];
  });
  return (await Promise.all(looks)).flat();
}

const maxOptionLength = 200;
