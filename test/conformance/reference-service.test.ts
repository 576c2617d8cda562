import type { ReferenceService } from '../../reference-service/start-reference-service';
import { checkClause, checkThroughClient, lookAtOpenPoint } from './check-clause';
import { titleOf, type Clause, type OpenPoint } from './clause';
import { clauses } from './clauses';
import { openPoints } from './clauses/open-points';
import { openClientContext, type ClientContext } from './client-context';
import { shortPace, startReferenceTarget } from './reference-target';
import { openServiceContext, type ServiceContext } from './service-context';
import { warmUp } from './warm-up';

const byPlainHttp = clauses.filter(({ check }) => check !== undefined);
const byClient = clauses.filter(({ checkThroughClient: check }) => check !== undefined);

let service: ReferenceService;
let context: ServiceContext;
let client: ClientContext;

beforeAll(async () => {
  const started = await startReferenceTarget(shortPace);
  service = started.service;
  context = await openServiceContext(started.target);
  client = await openClientContext(started.target);
  await warmUp(context);
});

afterAll(async () => {
  await client.close();
  await context.close();
  await service.stop();
});

describe('by plain HTTP', () => {
  it.each(named(byPlainHttp))('%s', async (_title, clause) => {
    expect(await checkClause(clause, context)).toEqual({ outcome: 'holds' });
  });
});

describe('through the client', () => {
  it.each(named(byClient))('%s', async (_title, clause) => {
    expect(await checkThroughClient(clause, client)).toEqual({ outcome: 'holds' });
  });
});

describe('what the specification leaves open', () => {
  const visible = openPoints.filter(({ observe }) => observe !== undefined);

  it.each(
    visible.map((point): [string, OpenPoint] => [`§${point.section} ${point.question}: ${point.decision}`, point]),
  )('%s', async (_title, point) => {
    expect(await lookAtOpenPoint(point, context)).toBe(point.decided);
  });
});

function named(those: readonly Clause[]): [string, Clause][] {
  return those.map((clause) => [titleOf(clause), clause]);
}
