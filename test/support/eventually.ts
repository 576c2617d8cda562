import { setTimeout as delay } from 'node:timers/promises';

export interface EventuallyOptions {
  /** Deadline, from the call on, with room for a busy machine. @default 60000 */
  readonly withinMs?: number;
  readonly everyMs?: number;
  /** What is waited for, for the message of the failure. @default "the condition" */
  readonly what?: string;
}

/**
 * Waits for a condition: tries again until the probe returns a truthy value, and returns that. What the probe throws
 * counts as "not yet" until the deadline; then this throws, with the last of it as the cause.
 */
export async function eventually<T>(probe: () => T | Promise<T>, options: EventuallyOptions = {}): Promise<T> {
  const { withinMs = 60_000, everyMs = 50, what = 'the condition' } = options;
  const deadline = Date.now() + withinMs;
  for (;;) {
    let cause: unknown;
    try {
      const value = await probe();
      if (value) return value;
    } catch (error) {
      cause = error;
    }
    if (Date.now() >= deadline) throw new Error(`waited ${withinMs} ms in vain for ${what}`, { cause });
    await delay(everyMs);
  }
}
