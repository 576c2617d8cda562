import { titleOf, type Clause, type OpenPoint, type UncheckableStatement } from './clause';
import type { Verdict } from './verdict';

export interface ClauseResult {
  readonly clause: Clause;
  readonly verdict: Verdict;
}

/** An open point with what the service does, if that could be seen. */
export interface OpenPointResult {
  readonly point: OpenPoint;
  readonly seen: string | undefined;
}

export interface Findings {
  readonly byPlainHttp: readonly ClauseResult[];
  readonly throughClient: readonly ClauseResult[];
  readonly uncheckable: readonly UncheckableStatement[];
  readonly openPoints: readonly OpenPointResult[];
}

const OUTCOME_WIDTH = 15;
const SECTION_WIDTH = 5;

/** The whole table: every clause with its verdict, then what the specification leaves open. */
export function reportOf({ byPlainHttp, throughClient, uncheckable, openPoints }: Findings): string {
  return [
    ...heading('By plain HTTP'),
    ...byPlainHttp.flatMap(({ clause, verdict }) => clauseRow(clause, verdict)),
    ...uncheckable.flatMap((statement) => clauseRow(statement, { outcome: 'not checkable', why: statement.why })),
    ...(throughClient.length === 0 ? [] : heading("Through the project's client")),
    ...throughClient.flatMap(({ clause, verdict }) => clauseRow(clause, verdict)),
    ...heading('Not shown in the specification: our decision, and what this service does'),
    ...openPoints.flatMap(openPointRow),
    '',
    `By plain HTTP: ${count(byPlainHttp)}.`,
    ...(throughClient.length === 0 ? [] : [`Through the client: ${count(throughClient)}.`]),
    `${uncheckable.length} statements can never be checked from outside; ${openPoints.length} points are open.`,
    '',
  ].join('\n');
}

export function isConforming({ byPlainHttp, throughClient }: Findings): boolean {
  return [...byPlainHttp, ...throughClient].every(({ verdict }) => verdict.outcome !== 'does not hold');
}

/** A clause with its verdict, and below it the reason of one that is not "holds". */
function clauseRow(clause: Pick<Clause, 'section' | 'statement'>, verdict: Verdict): readonly string[] {
  const row = `${verdict.outcome.padEnd(OUTCOME_WIDTH)}${titleOf(clause)}`;
  switch (verdict.outcome) {
    case 'holds':
      return [row];
    case 'does not hold':
      return [row, below(`seen: ${verdict.seen}`)];
    case 'not checkable':
      return [row, below(verdict.why)];
  }
}

function openPointRow({ point, seen }: OpenPointResult): readonly string[] {
  const agrees = seen === undefined ? 'not seen' : seen === point.decided ? 'as decided' : 'otherwise';
  return [
    `${agrees.padEnd(OUTCOME_WIDTH)}§${point.section} ${point.question}`,
    below(`decision: ${point.decision}`),
    ...(agrees === 'otherwise' ? [below(`seen: ${seen ?? ''}`)] : []),
  ];
}

function below(text: string): string {
  return `${' '.repeat(OUTCOME_WIDTH + SECTION_WIDTH)}${text}`;
}

function heading(text: string): readonly string[] {
  return ['', text, '-'.repeat(text.length)];
}

function count(results: readonly ClauseResult[]): string {
  const of = (outcome: Verdict['outcome']): number =>
    results.filter(({ verdict }) => verdict.outcome === outcome).length;
  return `${of('holds')} hold, ${of('does not hold')} do not hold, ${of('not checkable')} not checkable`;
}
