import { checkClause, checkThroughClient, lookAtOpenPoint } from './check-clause';
import { titleOf, type Clause } from './clause';
import { clauses } from './clauses';
import { uncheckable } from './clauses/not-checkable';
import { openPoints } from './clauses/open-points';
import { openClientContext } from './client-context';
import type { ClauseResult, Findings, OpenPointResult } from './report';
import { openServiceContext, type ServiceContext } from './service-context';
import type { Target } from './target';
import { warmUp } from './warm-up';
import type { Verdict } from './verdict';

export interface RunOptions {
  /** Whether to go through the project's client as well: each paid journey is made a second time. */
  readonly throughClient: boolean;
  readonly say: (line: string) => void;
}

/** Looks at every clause and every open point of a service, and sends nothing to create unless the target allows it. */
export async function runConformance(target: Target, { throughClient, say }: RunOptions): Promise<Findings> {
  const context = await openServiceContext(target);
  try {
    say('by plain HTTP');
    await warmUp(context);
    const byPlainHttp = await judgeAll((clause) => checkClause(clause, context), say);
    const seen = await lookAtOpenPoints(context);
    return {
      byPlainHttp,
      uncheckable,
      openPoints: seen,
      throughClient: throughClient ? await goThrough(target, say) : [],
    };
  } finally {
    await context.close();
  }
}

async function goThrough(target: Target, say: RunOptions['say']): Promise<readonly ClauseResult[]> {
  const context = await openClientContext(target);
  try {
    say("through the project's client");
    return await judgeAll((clause) => checkThroughClient(clause, context), say);
  } finally {
    await context.close();
  }
}

async function judgeAll(
  judge: (clause: Clause) => Promise<Verdict | undefined>,
  say: RunOptions['say'],
): Promise<readonly ClauseResult[]> {
  const results: ClauseResult[] = [];
  for (const clause of clauses) {
    const verdict = await judge(clause);
    if (verdict === undefined) continue;
    results.push({ clause, verdict });
    if (verdict.outcome === 'does not hold') say(`does not hold: ${titleOf(clause)}`);
  }
  return results;
}

async function lookAtOpenPoints(context: ServiceContext): Promise<readonly OpenPointResult[]> {
  const results: OpenPointResult[] = [];
  for (const point of openPoints) results.push({ point, seen: await lookAtOpenPoint(point, context) });
  return results;
}
