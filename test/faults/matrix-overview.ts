import { ambushes, type Ending, endings, steps, strikes, type Step } from './matrix';

const columnWidth = 20;

/** The whole matrix as a table for a person, with what its words mean and why cells are left out. */
export function matrixOverview(): string {
  const rows = Object.entries({ ...strikes, ...ambushes });
  const nameWidth = Math.max(...rows.map(([fault]) => fault.length)) + 2;
  const reasons: string[] = [];
  const footnote = (because: string): string => {
    if (!reasons.includes(because)) reasons.push(because);
    return `– (${reasons.indexOf(because) + 1})`;
  };
  const line = (name: string, cells: readonly string[]): string =>
    `${name.padEnd(nameWidth)}${cells.map((cell) => cell.padEnd(columnWidth)).join('')}`.trimEnd();
  const table = rows.map(([fault, row]) => {
    const cellOf = (step: Step): string => {
      const cell: Ending | { readonly because: string } = row[step];
      return typeof cell === 'string' ? cell : footnote(cell.because);
    };
    return line(fault, steps.map(cellOf));
  });
  return [
    line('', steps),
    ...table,
    '',
    ...Object.entries(endings).map(([ending, words]) => `${ending}: ${words}`),
    ...reasons.map((because, index) => `(${index + 1}): ${because}`),
  ].join('\n');
}
