import { ConfigError } from '../config/environment';
import { loadArchivePlace, type StagingConfig } from '../config/client-config';
import type { Archive } from '../storage/archive/archive';
import { findArchiveIdentity } from '../storage/archive/archive-identity';
import { openArchive } from '../storage/archive/open-archive';
import { ArchiveError, StagingError } from '../storage/errors';
import { createArchiveClient } from '../storage/s3/s3-client';
import { Staging } from '../storage/staging';
import type { CommandContext } from './command-context';

// Commands load it on demand: with it comes the AWS SDK, which takes half a second.

/** Runs a function with the archive that the environment names. Throws ConfigError where it fails. */
export async function withArchive<Result>(
  { env }: Pick<CommandContext, 'env'>,
  use: (archive: Archive) => Promise<Result>,
): Promise<Result> {
  try {
    return await use(openArchive(loadArchivePlace(env)));
  } catch (error) {
    if (error instanceof ArchiveError) throw new ConfigError([`LONGHAUL_ARCHIVE: ${error.message}`]);
    throw error;
  }
}

/** Throws ArchiveError for an archive that no worker has used, of which every sum would be 0. It is left as it is. */
export async function requireUsedArchive(archive: Archive): Promise<void> {
  if ((await findArchiveIdentity(archive)) !== null) return;
  const words = `${archive.location} is not the archive of any worker: it has no id; correct LONGHAUL_ARCHIVE, mount its disk, or copy its hidden files, too`;
  throw new ArchiveError('ARCHIVE_UNUSABLE', words);
}

/** Runs a function with the opened staging, and closes it afterwards. Throws ConfigError where it fails. */
export async function withStaging<Result>(
  { isPathStyle, ...place }: StagingConfig,
  use: (staging: Staging) => Promise<Result>,
): Promise<Result> {
  const client = createArchiveClient(isPathStyle);
  try {
    return await use(new Staging({ client, ...place }));
  } catch (error) {
    if (error instanceof StagingError) throw new ConfigError([`LONGHAUL_STAGING: ${error.message}`]);
    throw error;
  } finally {
    client.destroy();
  }
}
