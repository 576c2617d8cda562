import { constants } from 'node:fs';
import { access, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { InputInvalidError } from '../client/errors';
import { loadClientConfig } from '../config/client-config';
import type { InputValue } from '../contract/task-input';
import { errorCode, formatBytes, formatCount, formatCountOf } from '../core/text';
import { isUri } from '../core/uri';
import {
  findFolderProblem,
  type PreparedRowFile,
  prepareRows,
  type PrepareRowsOptions,
  type RowOutcome,
  stageInputs,
  stageRows,
} from '../rows';
import type { StagedCount } from '../storage/staging';
import type { CommandContext } from './command-context';

/** With `LONGHAUL_STAGING`, uploads local files. Throws `InputInvalidError` for an unreadable one, and ConfigError. */
export async function stageForWorkers(
  { env, stderr }: CommandContext,
  inputs: Readonly<Record<string, InputValue>>,
): Promise<Readonly<Record<string, InputValue>>> {
  const place = loadClientConfig(env).config.staging;
  const files = Object.entries(inputs).flatMap(([key, value]) =>
    typeof value === 'object' && !isUri(value.file) ? [{ key, file: value.file }] : [],
  );
  if (place === null || files.length === 0) return inputs;
  const problems = (await Promise.all(files.map(findProblem))).flat();
  if (problems.length > 0) throw new InputInvalidError(problems);
  const { withStaging } = await import('./storage-access.js');
  return await withStaging(place, async (staging) => {
    const [staged = inputs] = await stageInputs(staging, [inputs]);
    stderr.write(stagedText(staging.location, staging.count));
    return staged;
  });
}

async function findProblem({ key, file }: { readonly key: string; readonly file: string }): Promise<string[]> {
  const where = `The input ${JSON.stringify(key)} is ${JSON.stringify(file)}`;
  try {
    const stats = await stat(file);
    if (!stats.isFile()) return [`${where}, which is no regular file; give the path of one.`];
    if (stats.size === 0) return [`${where}, which is empty; give a file that has content.`];
    await access(file, constants.R_OK);
    return [];
  } catch (error) {
    return [`${where}, which cannot be read here (${errorCode(error)}); give a file of this machine.`];
  }
}

function stagedText(location: string, { sent, sentBytes, found }: StagedCount, more = ''): string {
  const before = found === 0 ? '' : `, ${formatCount(found)} there before`;
  return `Staged at ${location}: ${formatCountOf(sent, 'file')} sent, ${formatBytes(sentBytes)}${before}${more}\n`;
}

/** Why {@link prepareForWorkers} could not write the rows, as far as that shows without writing; undefined: it can. */
export async function findPlaceProblem({ env }: CommandContext, rowFolder: string): Promise<string | undefined> {
  return loadClientConfig(env).config.staging === null
    ? await findFolderProblem(path.join(rowFolder, preparedFolder))
    : undefined;
}

/** In the folder of the row file, or of the pictures. */
const preparedFolder = '.longhaul';

/** Writes rows and files to `LONGHAUL_STAGING`, else rows beside their file. Nothing is staged for refused rows. */
export async function prepareForWorkers(
  { env, stderr }: CommandContext,
  rowFolder: string,
  outcomes: AsyncIterable<RowOutcome>,
  options: Omit<PrepareRowsOptions, 'folder' | 'staging'>,
): Promise<PreparedRowFile> {
  const place = loadClientConfig(env).config.staging;
  if (place === null) return await prepareRows(outcomes, { ...options, folder: path.join(rowFolder, preparedFolder) });
  const folder = await mkdtemp(path.join(tmpdir(), 'longhaul-rows-'));
  try {
    const prepared = await prepareRows(outcomes, { ...options, folder });
    const { rows, report } = prepared;
    if (rows === null) return prepared;
    stderr.write(`Staging ${formatCountOf(report.files.distinct, 'input file')} and the rows …\n`);
    const { withStaging } = await import('./storage-access.js');
    return await withStaging(place, async (staging) => {
      const staged = await stageRows(staging, rows, options.name);
      stderr.write(stagedText(staging.location, staging.count, ', and the rows'));
      return { report, rows: staged };
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
