import { ConfigError } from '../config/config-error';
import type { WorkerConfig } from '../config/worker-config';
import { ServiceClient } from '../service';
import { ArchiveError } from '../storage/errors';
import { openArchive } from '../storage/archive/open-archive';
import type { ReconcileParts } from '../reconcile/reconcile';

export { reconcile } from '../reconcile/reconcile';

/** Opens what a worker would, runs something with it, and closes it whatever happens. */
export async function withWorkerSide<Result>(
  config: WorkerConfig,
  use: (parts: Omit<ReconcileParts, 'longhaul'>) => Promise<Result>,
): Promise<Result> {
  const services = new Map(
    [...config.accounts.values()].map(({ name, apiKey, serviceUrl }) => {
      return [name, new ServiceClient({ baseUrl: serviceUrl, apiKey: () => apiKey.reveal() })] as const;
    }),
  );
  try {
    return await use({ services, archive: openArchive(config.archive) });
  } catch (error) {
    if (error instanceof ArchiveError) throw new ConfigError([`LONGHAUL_ARCHIVE: ${error.message}`]);
    throw error;
  } finally {
    await Promise.all([...services.values()].map((service) => service.close()));
  }
}
