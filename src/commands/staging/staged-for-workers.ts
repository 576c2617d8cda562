import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { InputInvalidError } from '../../client/errors';
import type { InputValue } from '../../contract/task-input';
import { loadClientConfig } from '../../config/client-config';
import { errorCode } from '../../domain/text';
import { isUri } from '../../domain/uri';
import type { CommandContext } from '../command-context';
import { stagedText } from './staged-text';

/**
 * The inputs of a task as the workers can read them: with `LONGHAUL_STAGING` its local files are uploaded there, else
 * everything stays as it is. Throws `InputInvalidError` for a file that cannot be read, and ConfigError.
 */
export async function stagedForWorkers(
  { env, stderr }: CommandContext,
  inputs: Readonly<Record<string, InputValue>>,
): Promise<Readonly<Record<string, InputValue>>> {
  const place = loadClientConfig(env).config.staging;
  const files = Object.entries(inputs).flatMap(([key, value]) =>
    typeof value === 'object' && !isUri(value.file) ? [{ key, file: value.file }] : [],
  );
  if (place === null || files.length === 0) return inputs;
  const problems = (await Promise.all(files.map(problemOf))).flat();
  if (problems.length > 0) throw new InputInvalidError(problems);
  const { withStaging, stageInputs } = await import('./staging-parts.js');
  return await withStaging(place, async (staging) => {
    const [staged = inputs] = await stageInputs(staging, [inputs]);
    stderr.write(stagedText(staging.location, staging.count));
    return staged;
  });
}

async function problemOf({ key, file }: { readonly key: string; readonly file: string }): Promise<string[]> {
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
