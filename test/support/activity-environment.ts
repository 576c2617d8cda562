import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';

/** One activity as a worker runs it, without a server; of its log only errors are printed. */
export class ActivityEnvironment extends MockActivityEnvironment {
  constructor(
    info: ConstructorParameters<typeof MockActivityEnvironment>[0] = {},
    options: ConstructorParameters<typeof MockActivityEnvironment>[1] = {},
  ) {
    const scheduled = Date.now();
    super(
      { scheduledTimestampMs: scheduled, currentAttemptScheduledTimestampMs: scheduled, ...info },
      { logger: new DefaultLogger('ERROR'), ...options },
    );
  }
}
