import type { StagingConfig } from '../../config/client-config';
import { ConfigError } from '../../config/config-error';
import { createArchiveClient } from '../../storage/s3/s3-client';
import { StagingError } from '../../storage/errors';
import { Staging } from '../../storage/staging';

export { stageInputs } from './stage-inputs';
export { stageRows } from './stage-rows';

/** Opens the staging, does something with it, and closes it whatever happens. Throws ConfigError where it fails. */
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
