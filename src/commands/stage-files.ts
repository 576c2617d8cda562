import type { StagingConfig } from '../config/client-config';
import { ConfigError } from '../config/environment';
import { StagingError } from '../storage/errors';
import { createArchiveClient } from '../storage/s3/s3-client';
import { Staging } from '../storage/staging';

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
