import { isDeepStrictEqual } from 'node:util';
import type { BatchInput } from '../../contract/batch/batch-input';
import type { BatchProgress } from '../../contract/batch/batch-messages';
import { parseBatchInput } from '../../contract/batch/parse-batch-input';

// Apart from the start of a batch, so that the command line has the settings without Temporal's client.

/** An option of a batch that it takes when it starts. */
export type BatchSetting = Exclude<keyof BatchInput, 'id' | 'rows' | 'source' | 'command' | 'badRows'>;

type Settings = Readonly<Partial<Record<BatchSetting, unknown>>>;

/** How archived files are named where a batch does not say. */
export const defaultNames = '{requestId}/{index}{ext}';

/**
 * The given options that the running batch does not have, or not surely.
 * @param running - what it was started with; null when that cannot be read.
 * @param progress - what changes while it runs; undefined when no worker answers.
 */
export function settingsWithoutEffect(
  given: BatchInput,
  running: BatchInput | null,
  progress: Pick<BatchProgress, 'concurrency' | 'budget'> | undefined,
): readonly BatchSetting[] {
  const wanted = settingsOf(given);
  const has: Settings = { ...settingsOf(running), ...changed(progress) };
  const names = Object.keys(wanted) as BatchSetting[];
  return names.filter((name) => given[name] !== undefined && !isDeepStrictEqual(has[name], wanted[name]));
}

function changed(progress: Pick<BatchProgress, 'concurrency' | 'budget'> | undefined): Settings {
  if (progress === undefined) return {};
  const { concurrency, budget } = progress;
  return budget === undefined ? { concurrency } : { concurrency, budget: budget?.budget ?? null };
}

/** With every default, so that the same settings are equal however they were given. */
function settingsOf(input: BatchInput | null): Settings {
  const { plan } = parseBatchInput(input);
  if (plan === undefined) return {};
  const { choice, defaults, concurrency, budget, attempts, webhook, tuning } = plan;
  const names = defaults.names ?? defaultNames;
  return { ...choice, ...defaults, names, concurrency, budget, attempts, webhook, tuning };
}
