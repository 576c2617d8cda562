import { serviceOptions } from '../config/accounts';
import { ConfigError } from '../config/environment';
import { loadArchivePlace, type StagingConfig } from '../config/client-config';
import type { WorkerConfig } from '../config/worker-config';
import type { ReconcileDependencies } from '../reconcile/reconcile';
import { ServiceClient } from '../service';
import type { Archive } from '../storage/archive/archive';
import { findArchiveIdentity } from '../storage/archive/archive-identity';
import { openArchive } from '../storage/archive/open-archive';
import { ArchiveError, StagingError } from '../storage/errors';
import { createArchiveClient } from '../storage/s3/s3-client';
import { Staging } from '../storage/staging';
import type { CommandContext } from './command-context';

// Commands load this module on demand: its AWS SDK takes half a second.

/** Throws ConfigError where it fails. */
export async function withArchive<Result>(
  { env }: Pick<CommandContext, 'env'>,
  use: (archive: Archive) => Promise<Result>,
): Promise<Result> {
  return await orConfigError('LONGHAUL_ARCHIVE', () => use(openArchive(loadArchivePlace(env))));
}

/** With the service clients and the archive of a worker; closes them. Throws ConfigError where it fails. */
export async function withWorkerSide<Result>(
  config: WorkerConfig,
  use: (parts: Omit<ReconcileDependencies, 'longhaul'>) => Promise<Result>,
): Promise<Result> {
  const services = new Map(
    [...config.accounts.values()].map((account) => [account.name, new ServiceClient(serviceOptions(account))] as const),
  );
  try {
    return await orConfigError('LONGHAUL_ARCHIVE', () => use({ services, archive: openArchive(config.archive) }));
  } finally {
    await Promise.all([...services.values()].map((service) => service.close()));
  }
}

/** Throws errors of a storage as those of the variable that names it. */
async function orConfigError<Result>(variable: string, use: () => Promise<Result>): Promise<Result> {
  try {
    return await use();
  } catch (error) {
    if (!(error instanceof ArchiveError) && !(error instanceof StagingError)) throw error;
    throw new ConfigError([`${variable}: ${error.message}`]);
  }
}

/** Throws ArchiveError for an archive that no worker has used: every sum would be 0. Leaves it as it is. */
export async function requireUsedArchive(archive: Archive): Promise<void> {
  if ((await findArchiveIdentity(archive)) !== null) return;
  const words = `${archive.location} is not the archive of any worker: it has no id; correct LONGHAUL_ARCHIVE, mount its disk, or copy its hidden files, too`;
  throw new ArchiveError('ARCHIVE_UNUSABLE', words);
}

/** Closes the staging afterwards. Throws ConfigError where it fails. */
export async function withStaging<Result>(
  { isPathStyle, ...place }: StagingConfig,
  use: (staging: Staging) => Promise<Result>,
): Promise<Result> {
  const client = createArchiveClient(isPathStyle);
  try {
    return await orConfigError('LONGHAUL_STAGING', () => use(new Staging({ client, ...place })));
  } finally {
    client.destroy();
  }
}
