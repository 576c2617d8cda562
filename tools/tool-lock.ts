import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { lock } from 'proper-lockfile';
import { errorCode } from '../src/core/text';
import type { Progress } from './progress';

const retryMs = 500;

/** How to wait for the lock of a tool. */
export interface ToolLockOptions {
  readonly progress: Progress;
  /** Age from which a lock that is not refreshed is taken over. @default 10000, at least 2000 */
  readonly staleMs?: number;
}

/**
 * Runs the work while holding the lock of the file, across processes. Waits for as long as another live process holds
 * it; the lock of a dead one is taken over.
 */
export async function withToolLock<T>(path: string, options: ToolLockOptions, work: () => Promise<T>): Promise<T> {
  const { progress, staleMs = 10_000 } = options;
  await mkdir(dirname(path), { recursive: true });
  const acquire = async (): Promise<() => Promise<void>> => {
    for (;;) {
      const release = await tryLock(path, staleMs);
      if (release) return release;
      await delay(retryMs);
    }
  };
  const release =
    (await tryLock(path, staleMs)) ??
    (await progress.during('Another process is preparing it', () => 'waiting', acquire()));
  try {
    return await work();
  } finally {
    // A lock lost on the way (a suspended machine) is no harm: at worst two build, and each publishes a whole file.
    await release().catch(() => undefined);
  }
}

async function tryLock(path: string, staleMs: number): Promise<(() => Promise<void>) | undefined> {
  try {
    return await lock(path, { stale: staleMs, realpath: false, onCompromised: () => undefined });
  } catch (error) {
    if (errorCode(error) === 'ELOCKED') return undefined;
    throw error;
  }
}
