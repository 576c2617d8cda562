import { Readable } from 'node:stream';
import { dependsOnService, type ServiceFacts } from '../domain/reconcile';
import { parseServiceTimestamp } from '../domain/time';
import { withoutUrls } from '../domain/uri';
import { NotFoundError, OutputGoneError, type ServiceClient, ServiceError } from '../service';
import type { KnownTasks } from './known-tasks';

/** Concurrent queries: far fewer than a worker sends. */
const questionsAtOnce = 4;

/** Queries the service for every task whose safety depends on the answer. Queries cost nothing. */
export async function askService(
  services: ReadonlyMap<string, ServiceClient>,
  known: KnownTasks,
  fallbackAccount: string | null,
  onProgress: (asked: number) => void,
): Promise<void> {
  let asked = 0;
  const open = [...known.all()].filter(dependsOnService).map(({ requestId, account }) => ({ requestId, account }));
  await Readable.from(open).forEach(
    async ({ requestId, account }: (typeof open)[number]) => {
      const first = account ?? fallbackAccount;
      const answered = await askAccounts(services, requestId, first === null ? [...services.keys()] : [first]);
      known.answer(requestId, answered.account ?? account, answered.facts);
      asked += 1;
      onProgress(asked);
    },
    { concurrency: questionsAtOnce },
  );
}

/** Asks about one task: the given account, or each. */
export async function askAboutTask(
  services: ReadonlyMap<string, ServiceClient>,
  requestId: string,
  account: string | null,
): Promise<ServiceFacts> {
  return (await askAccounts(services, requestId, account === null ? [...services.keys()] : [account])).facts;
}

/** Asks one account after the other until one knows the task; an account that gave no answer may own it. */
async function askAccounts(
  services: ReadonlyMap<string, ServiceClient>,
  requestId: string,
  accounts: readonly string[],
): Promise<{ readonly account: string | null; readonly facts: ServiceFacts }> {
  let best: ServiceFacts = { says: 'unknown' };
  for (const account of accounts) {
    const facts = await askOne(services.get(account), account, requestId);
    if (facts.says === 'task' || facts.says === 'gone') return { account, facts };
    if (facts.says === 'nothing') best = facts;
  }
  return { account: accounts.length === 1 ? (accounts[0] ?? null) : null, facts: best };
}

async function askOne(service: ServiceClient | undefined, account: string, requestId: string): Promise<ServiceFacts> {
  if (service === undefined) return { says: 'nothing', words: `the account "${account}" is not configured here` };
  try {
    const { status, createdAt, expiredAt } = await service.getTask(requestId);
    return { says: 'task', status, createdAtMs: toInstantMs(createdAt), expiresAtMs: toInstantMs(expiredAt) };
  } catch (error) {
    if (error instanceof OutputGoneError) return { says: 'gone' };
    if (error instanceof NotFoundError && error.code === 'TASK_NOT_FOUND') return { says: 'unknown' };
    if (error instanceof ServiceError) return { says: 'nothing', words: withoutUrls(error.message) };
    throw error;
  }
}

function toInstantMs(raw: string | undefined): number | null {
  const iso = raw === undefined ? undefined : parseServiceTimestamp(raw);
  return iso === undefined ? null : Date.parse(iso);
}
