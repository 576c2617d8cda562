import type { SoakReport } from './run-soak';

/** The report as a table for a person, with how to have the same again. */
export function soakTable(report: SoakReport, forMs: number): string {
  const { seed, tasks, seconds, acceptedCreates, broken } = report;
  const minutes = forMs / 60_000;
  return [
    section('faults', report.faults),
    section('a person let tasks', report.attentions),
    section('tasks ended as', report.ends),
    `${tasks} tasks, ${acceptedCreates} accepted creates, ${seconds} s`,
    broken.length === 0 ? 'every promise held' : `BROKEN:\n${broken.map((one) => `  ${one}`).join('\n')}`,
    `the same again: npm run soak -- --tasks ${tasks} --seed ${seed} --minutes ${minutes}`,
  ].join('\n');
}

function section(title: string, counts: ReadonlyMap<string, number>): string {
  const lines = [...counts].sort(([, a], [, b]) => b - a).map(([name, many]) => `  ${name.padEnd(22)}${many}`);
  return [title, ...(lines.length === 0 ? ['  none'] : lines)].join('\n');
}
