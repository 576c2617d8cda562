import type { TaskPlan } from '../contract/parse-task-input';

/** Longer texts are cut: this is a headline and a page, not the input itself, which the history holds. */
const maxSummaryLength = 160;
const maxRows = 40;
const maxValueLength = 120;

/** One line for the Web UI's list: which app, which key, how many inputs. */
export function staticSummary(key: string, plan: TaskPlan): string {
  if (plan.adoptRequestId !== null) return cut(`Task ${plan.adoptRequestId}, adopted (${key})`, maxSummaryLength);
  const { files, values } = plan;
  const names = files.length === 0 ? '' : `: ${files.map(({ file }) => nameOf(file)).join(', ')}`;
  const inputs = Object.keys(values).length + files.length;
  return cut(
    `App ${plan.webAppId ?? ''} (${key}), ${inputs} ${inputs === 1 ? 'input' : 'inputs'}${names}`,
    maxSummaryLength,
  );
}

/** A page for the Web UI: what the task was asked to do. */
export function staticDetails(plan: TaskPlan): string {
  const asked: [string, string][] = [
    ...plan.files.map(({ key, file, as }): [string, string] => [key, `file ${file} (as ${as})`]),
    ...Object.entries(plan.values).map(([key, value]): [string, string] => [key, JSON.stringify(value)]),
  ];
  return [
    `**Account** ${plan.account}${plan.archiveFolder === '' ? '' : `, **archive folder** ${oneLine(plan.archiveFolder)}`}`,
    ...(asked.length === 0 ? [] : ['']),
    ...asked.slice(0, maxRows).map(([key, value]) => `- \`${oneLine(key)}\`: ${oneLine(value)}`),
    ...(asked.length > maxRows ? [`- and ${asked.length - maxRows} more`] : []),
  ].join('\n');
}

function nameOf(file: string): string {
  return file.split(/[/\\]/).at(-1) ?? file;
}

function oneLine(text: string): string {
  return cut(text.replace(/\s+/g, ' '), maxValueLength);
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
