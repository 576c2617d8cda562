import { ConfigError } from '../config/environment';
import { loadArchivePlace } from '../config/client-config';
import type { Archive } from '../storage/archive/archive';
import { openArchive } from '../storage/archive/open-archive';
import { ArchiveError } from '../storage/errors';
import type { CommandContext } from './command-context';

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

/** Runs a function until Ctrl-C, which aborts its signal; `undefined` when that ended it. */
export async function untilInterrupted<Result>(
  context: Pick<CommandContext, 'onInterrupt'>,
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result | undefined> {
  const interrupted = new AbortController();
  const stopListening = context.onInterrupt(() => {
    interrupted.abort();
  });
  try {
    return await run(interrupted.signal);
  } catch (error) {
    if (interrupted.signal.aborted) return undefined;
    throw error;
  } finally {
    stopListening();
  }
}
