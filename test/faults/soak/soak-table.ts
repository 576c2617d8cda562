import type { SoakReport } from './run-soak';

/** The report as a table for a person, with the command that does the same again. */
export function soakTable(report: SoakReport, again: string): string {
  const { tasks, seconds, acceptedCreates, broken } = report;
  return [
    section('faults', report.faults),
    section('a person let tasks', report.attentions),
    section('tasks ended as', report.ends),
    `${tasks} tasks, ${acceptedCreates} accepted creates, ${seconds} s`,
    broken.length === 0 ? 'every promise held' : `BROKEN:\n${broken.map((one) => `  ${one}`).join('\n')}`,
    `the same again: ${again}`,
  ].join('\n');
}

function section(title: string, counts: ReadonlyMap<string, number>): string {
  const lines = [...counts].sort(([, a], [, b]) => b - a).map(([name, many]) => `  ${name.padEnd(22)}${many}`);
  return [title, ...(lines.length === 0 ? ['  none'] : lines)].join('\n');
}
