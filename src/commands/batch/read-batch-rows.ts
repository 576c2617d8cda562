import { InputInvalidError } from '../../client/errors';
import { appColumn, readRows, type RowOutcome, type RowProblem } from '../../rows';
import type { RowFileToRead } from './row-file-options';

/**
 * The rows of a file. What is wrong with all of them is told once, as a mistake of the command line.
 *
 * Throws {@link InputInvalidError} for it, and what `readRows` throws.
 */
export async function* readBatchRows({ file, options }: RowFileToRead): AsyncGenerator<RowOutcome, void, undefined> {
  const unused = new Map(Object.entries(options.forms ?? {}));
  let [isAnyUsable, isAppMissing] = [false, false];
  for await (const outcome of readRows(file, options)) {
    const { row, problems } = outcome;
    if (row === undefined) {
      isAppMissing ||= problems.some(isWithoutApp);
    } else {
      isAnyUsable = true;
      for (const key of unused.keys()) if (typeof row.input.inputs[key] === 'object') unused.delete(key);
    }
    yield outcome;
  }
  if (!isAnyUsable && isAppMissing) throw refused('No app: say --app, or give the rows a webAppId.');
  if (isAnyUsable && unused.size > 0) {
    const problems = [...unused].map(([key, form]) => `--as "${key}=${form}": no row has a file as "${key}".`);
    throw refused(...problems);
  }
}

function isWithoutApp({ field, value }: RowProblem): boolean {
  return field === appColumn && value === 'missing';
}

function refused(...problems: string[]): InputInvalidError {
  return new InputInvalidError(problems, 'batch');
}
