import type { InputValue } from '../../contract/task-input';
import { isUri } from '../../domain/uri';
import type { Staging } from '../../storage/staging';

type Inputs = Readonly<Record<string, InputValue>>;

/** Files that are staged at the same time. */
const atOnce = 8;

/**
 * Stages the local files of several tasks' inputs, a few at a time, and puts their `s3:` URIs in their place. Throws
 * what {@link Staging.keepInput} throws.
 */
export async function stageInputs(staging: Staging, tasks: readonly Inputs[]): Promise<Inputs[]> {
  const queue = new Set(tasks.flatMap((inputs) => Object.values(inputs).flatMap(localFileOf)));
  const uris = new Map<string, string>();
  const lane = async (): Promise<void> => {
    for (const file of queue) {
      queue.delete(file);
      uris.set(file, await staging.keepInput(file));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return tasks.map((inputs) => {
    const staged = Object.entries(inputs).map(([key, value]): [string, InputValue] => {
      return [key, typeof value === 'object' ? { ...value, file: uris.get(value.file) ?? value.file } : value];
    });
    return Object.fromEntries(staged);
  });
}

function localFileOf(value: InputValue): string[] {
  return typeof value === 'object' && !isUri(value.file) ? [value.file] : [];
}
