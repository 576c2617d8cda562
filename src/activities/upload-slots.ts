import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { failureTypes } from '../contract/failure-types';

/** How soon an upload beyond its share asks again; the more there are, the later each. */
const soonestRetryMs = 2_000;
const latestRetryMs = 30_000;
const retryPerRefusalMs = 200;

/** What one account does in this worker. */
interface AccountUploads {
  running: number;
  /** Refused since the time below. */
  refused: number;
  sinceMs: number;
}

/**
 * How many of a worker's slots for uploads one account may hold: an account whose uploads are slow must not keep all
 * others from theirs. Temporal's fairness keys say in which order tasks are handed out, not how many of one key may run.
 */
export class UploadSlots {
  readonly #mostAtOnce: number;
  readonly #accounts = new Map<string, AccountUploads>();

  /** @param mostAtOnce - uploads of one account at the same time. */
  constructor(mostAtOnce: number) {
    this.#mostAtOnce = mostAtOnce;
  }

  /**
   * Runs an upload within its account's share.
   *
   * @throws a failure that is worth another try a little later, when the share is used up: waiting here would hold a slot.
   */
  async run<Result>(account: string, upload: () => Promise<Result>): Promise<Result> {
    const uploads = this.#accounts.get(account) ?? { running: 0, refused: 0, sinceMs: performance.now() };
    this.#accounts.set(account, uploads);
    if (uploads.running >= this.#mostAtOnce) throw beyondShare(account, this.#mostAtOnce, retryDelayMs(uploads));
    uploads.running += 1;
    try {
      return await upload();
    } finally {
      uploads.running -= 1;
    }
  }
}

function retryDelayMs(uploads: AccountUploads): number {
  if (performance.now() - uploads.sinceMs > latestRetryMs)
    Object.assign(uploads, { refused: 0, sinceMs: performance.now() });
  uploads.refused += 1;
  const delayMs = Math.min(latestRetryMs, Math.max(soonestRetryMs, uploads.refused * retryPerRefusalMs));
  return delayMs * (0.75 + Math.random() / 2);
}

function beyondShare(account: string, mostAtOnce: number, retryInMs: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: failureTypes.StorageUnavailable,
    message: `${mostAtOnce} uploads of the account "${account}" run in this worker, as many as one account may have.`,
    category: ApplicationFailureCategory.BENIGN,
    nextRetryDelay: Math.round(retryInMs),
  });
}
