import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadClientConfig } from '../../config/client-config';
import { givenKey, type PreparedRowFile, type PrepareRowsOptions, prepareRows, type RowOutcome } from '../../rows';
import type { CommandContext } from '../command-context';
import { stagedText } from '../staging/staged-text';

/** The id of a batch that nobody named: the row file's name without its ending, made a key. */
export function batchIdOfFile(rowFile: string): string {
  return givenKey(path.parse(rowFile).name).key;
}

/**
 * Prepares rows where the workers read them: with `LONGHAUL_STAGING` there, and the files that they name with them; else
 * beside the row file, which the workers must be able to read anyway. Nothing is staged for rows that are refused.
 */
export async function prepareForWorkers(
  { env, stderr }: CommandContext,
  rowFile: string,
  outcomes: AsyncIterable<RowOutcome>,
  options: Omit<PrepareRowsOptions, 'folder'>,
): Promise<PreparedRowFile> {
  const place = loadClientConfig(env).config.staging;
  if (place === null) {
    return await prepareRows(outcomes, { ...options, folder: path.join(path.dirname(rowFile), '.longhaul') });
  }
  const folder = await mkdtemp(path.join(tmpdir(), 'longhaul-rows-'));
  try {
    const prepared = await prepareRows(outcomes, { ...options, folder });
    const { rows, report } = prepared;
    if (rows === null) return prepared;
    stderr.write(`Staging ${report.files.distinct} input files …\n`);
    const { withStaging, stageRows } = await import('../staging/staging-parts.js');
    return await withStaging(place, async (staging) => {
      const staged = await stageRows(staging, rows, options.name);
      stderr.write(stagedText(staging.location, staging.count));
      return { report, rows: staged };
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
