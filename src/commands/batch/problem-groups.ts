import { formatRowPlace } from '../../domain/batch/row-place';
import { formatCount, printableLine } from '../../domain/text';
import { type RowProblem, rowProblemAdvice, rowProblemText } from '../../rows';

interface ProblemGroup {
  /** The first of them, as many as are shown one by one. */
  readonly first: RowProblem[];
  count: number;
}

/** So many equal problems are one line. */
const minGroup = 3;
const maxLines = 20;
/** Kinds of problems that are kept apart; of further ones only the number is known. */
const maxGroups = 1_000;

/**
 * The problems of a row file as a person reads them: problems of one column that have the same remedy are one line, so
 * that a mistake that every row has does not hide the others.
 */
export class ProblemGroups {
  readonly #groups = new Map<string, ProblemGroup>();
  #count = 0;

  add(problem: RowProblem): void {
    this.#count += 1;
    const name = groupName(problem);
    const group = this.#groups.get(name);
    if (group !== undefined) {
      group.count += 1;
      if (group.first.length < minGroup - 1) group.first.push(problem);
    } else if (this.#groups.size < maxGroups) this.#groups.set(name, { first: [problem], count: 1 });
  }

  /** In the order of the rows in which they were found first. */
  lines(): readonly string[] {
    const shown = [...this.#groups.values()].flatMap(toLines).sort((one, other) => one.line - other.line);
    const lines = shown.slice(0, maxLines);
    const more = this.#count - lines.reduce((sum, { count }) => sum + count, 0);
    return [
      ...lines.map(({ text }) => printableLine(`  ${text}`)),
      ...(more > 0
        ? [`  and ${formatCount(more)} more problems; --json prints all, --problems FILE keeps them as CSV`]
        : []),
    ];
  }
}

function toLines({ first, count }: ProblemGroup): { line: number; count: number; text: string }[] {
  const [problem] = first;
  if (problem === undefined) return [];
  if (count < minGroup) return first.map((one) => ({ line: one.line, count: 1, text: rowProblemText(one) }));
  const { line, message } = problem;
  return [{ line, count, text: `${formatCount(count)} rows, first in ${formatRowPlace(problem)}: ${message}` }];
}

/** Values of one column may differ, and with them the numbers in the remedy; a file is named by its problem alone. */
function groupName(problem: RowProblem): string {
  const { code, field, message } = problem;
  const what = code === 'VALUE' ? rowProblemAdvice(problem).replace(/-?\d+(?:[.,]\d+)*/g, '0') : message;
  return JSON.stringify([code, field, what]);
}
