import type { ReferenceService } from '../../reference-service/start-reference-service';
import { startHttpServer, type TestHttpServer } from '../support/start-http-server';
import { BreakingProxy } from './breaking-proxy';
import { brokenServices, type BrokenService } from './broken-services';
import { checkClause } from './check-clause';
import { type Clause, titleOf } from './clause';
import { clauses } from './clauses';
import { shortPace, startReferenceTarget, type ReferenceTarget } from './reference-target';
import { openServiceContext } from './service-context';

const AT_ONCE = 12;
/** Tasks that nobody can stop do not keep the others from running, and are queued for long enough to be seen. */
const SETTINGS = { slots: 500, timings: { queueDelayMs: 1_800, preparingMs: 300, minimumRunningMs: 700 } };
/** Each of these services is looked at from the first create to the last callback. */
const TEST_TIMEOUT_MS = 300_000;

let service: ReferenceService;
let target: ReferenceTarget['target'];
let storage: TestHttpServer;

beforeAll(async () => {
  ({ service, target } = await startReferenceTarget(shortPace, SETTINGS));
  storage = await startHttpServer((_request, response) => response.end('anything'));
});

afterAll(async () => {
  await storage.close();
  await service.stop();
});

/** The titles of those of the clauses that do not hold at a service broken like this. */
async function brokenClauses(
  { sections, statements, breaks }: BrokenService,
  among: readonly Clause[],
): Promise<readonly string[]> {
  const looked = among.filter(
    ({ section, statement }) => sections.test(section) && (statements?.test(statement) ?? true),
  );
  if (looked.length === 0) return [];
  const proxy = new BreakingProxy(service.url, breaks);
  const context = await openServiceContext({ ...target, baseUrl: await proxy.start() });
  try {
    const verdicts = await Promise.all(looked.map((clause) => checkClause(clause, context)));
    return looked.filter((_, index) => verdicts[index]?.outcome === 'does not hold').map(titleOf);
  } finally {
    await context.close();
    await proxy.stop();
  }
}

describe('every clause', () => {
  it(
    'does not hold at one service at least that breaks it',
    async () => {
      const broken = new Set<string>();
      const left = [...brokenServices(storage.url)];
      const breakNext = async (): Promise<void> => {
        for (let next = left.pop(); next !== undefined; next = left.pop()) {
          for (const title of await brokenClauses(next, clauses)) broken.add(title);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, breakNext));
      const checkable = clauses.filter(({ check }) => check !== undefined);
      const unbroken = (): Clause[] => checkable.filter((clause) => !broken.has(titleOf(clause)));
      // Where many are looked at side by side on a busy machine, a clause may not have been checkable: alone it is.
      for (const one of brokenServices(storage.url)) {
        for (const title of await brokenClauses(one, unbroken())) broken.add(title);
      }

      expect(unbroken().map(titleOf)).toEqual([]);
    },
    TEST_TIMEOUT_MS,
  );
});
