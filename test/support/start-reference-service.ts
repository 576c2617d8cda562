import type { ReferenceService } from '../../reference-service/start-reference-service';
import { startReferenceStack, type ReferenceStackOptions } from '../../tools/reference-stack';

/** Short enough for a test, long enough that every state can be seen by a poll of 20 ms. */
const TEST_TIMINGS = { queueDelayMs: 60, preparingMs: 60, minimumRunningMs: 60 };

/**
 * Starts a reference service with its own S3 server on free ports and with shortened times; stop it after the test.
 */
export function startService(options: ReferenceStackOptions = {}): Promise<ReferenceService> {
  return startReferenceStack({ ...options, timings: { ...TEST_TIMINGS, ...options.timings } });
}
