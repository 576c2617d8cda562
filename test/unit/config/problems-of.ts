import { ConfigError } from '../../../src/config/environment';

/** What a worker needs at least. */
export const workerEnv = {
  LONGHAUL_SERVICE_URL: 'https://service.example',
  LONGHAUL_API_KEY: 'key-0815',
  LONGHAUL_ARCHIVE: '/srv/archive',
};

/** What a receiver needs at least. */
export const receiverEnv = {
  LONGHAUL_CALLBACK_URL: 'https://longhaul.example/callback',
  LONGHAUL_CALLBACK_TOKEN: 'token-of-today-16',
};

/** The problems with which a configuration is refused; none where it is not. */
export function problemsOf(load: () => unknown): readonly string[] {
  try {
    load();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}
