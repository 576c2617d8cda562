import { Readable } from 'node:stream';
import { dependsOnService, type ServiceFacts } from '../core/reconcile';
import type { ServiceTimestamp } from '../core/time';
import { withoutUrls } from '../core/uri';
import {
  ApiKeyUnavailableError,
  NotFoundError,
  OutputGoneError,
  type ServiceClient,
  ServiceError,
  UnauthorizedError,
} from '../service';
import { PollHeldBackError } from '../service/account-gate';
import type { KnownTasks } from './known-tasks';

const questionsAtOnce = 4;

export type InTurn = <T>(account: string, query: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

interface Asking {
  readonly services: ReadonlyMap<string, ServiceClient>;
  /** @default at once */
  readonly inTurn?: InTurn;
  readonly signal?: AbortSignal;
}

/** Asks about every task whose safety depends on the answer; returns how many. Queries cost nothing. */
export async function askService(
  asking: Asking,
  known: KnownTasks,
  fallbackAccount: string | null,
  onProgress: (asked: number) => void,
): Promise<number> {
  let asked = 0;
  const open = [...known.all()].filter(dependsOnService).map(({ requestId, account }) => ({ requestId, account }));
  await Readable.from(open).forEach(
    async ({ requestId, account }: (typeof open)[number]) => {
      const answered = await askAccounts(asking, requestId, account ?? fallbackAccount);
      known.answer({ requestId, account }, answered.account ?? account, answered.facts);
      asked += 1;
      onProgress(asked);
    },
    { concurrency: questionsAtOnce, signal: asking.signal },
  );
  return asked;
}

/** Asks one account, or each until one knows the task; an account that gave no answer may own it. */
export async function askAccounts(
  asking: Asking,
  requestId: string,
  only: string | null,
): Promise<{ readonly account: string | null; readonly facts: ServiceFacts }> {
  const accounts = only === null ? [...asking.services.keys()] : [only];
  let best: ServiceFacts = { says: 'unknown' };
  for (const account of accounts) {
    const facts = await askOne(asking, account, requestId);
    if (facts.says === 'task' || facts.says === 'gone') return { account, facts };
    if (facts.says === 'nothing') best = facts;
  }
  return { account: accounts.length === 1 ? (accounts[0] ?? null) : null, facts: best };
}

async function askOne({ services, inTurn, signal }: Asking, account: string, requestId: string): Promise<ServiceFacts> {
  const service = services.get(account);
  if (service === undefined) return { says: 'nothing', words: `the account "${account}" is not configured here` };
  try {
    const query = () => service.getTask(requestId);
    const { status, createdAt, expiredAt } = await (inTurn === undefined ? query() : inTurn(account, query, signal));
    return { says: 'task', status, createdAtMs: toInstantMs(createdAt), expiresAtMs: toInstantMs(expiredAt) };
  } catch (error) {
    if (error instanceof OutputGoneError) return { says: 'gone' };
    if (error instanceof NotFoundError && error.code === 'TASK_NOT_FOUND') return { says: 'unknown' };
    // One account that does not answer must not end the comparison of all others.
    if (!(error instanceof ServiceError || error instanceof PollHeldBackError)) throw error;
    const isRefused = error instanceof UnauthorizedError || error instanceof ApiKeyUnavailableError;
    return { says: 'nothing', words: withoutUrls(error.message), refusedKeyOf: isRefused ? account : undefined };
  }
}

function toInstantMs({ iso }: Partial<ServiceTimestamp> = {}): number | null {
  return iso == null ? null : Date.parse(iso);
}
