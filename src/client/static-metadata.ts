import type { TaskPlan } from '../contract/parse-task-input';
import { markdownText } from '../domain/text';

/**
 * Longer texts are cut: this is a headline and a page, not the input itself, which the history holds. Temporal takes a
 * summary of 400 bytes and details of 20,000; a character may have three, and be fenced by two more.
 */
const maxNamesLength = 50;
const maxRows = 40;
const maxKeyLength = 60;
const maxValueLength = 90;

/** One line of Markdown for the Web UI: which app, which key, how many inputs. */
export function staticSummary(key: string, plan: TaskPlan): string {
  const shownKey = markdownText(key, maxNamesLength);
  if (plan.adoptRequestId !== null)
    return `Task ${markdownText(plan.adoptRequestId, maxNamesLength)}, adopted (${shownKey})`;
  const { files, values } = plan;
  const names = files.map(({ file }) => nameOf(file)).join(', ');
  const inputs = Object.keys(values).length + files.length;
  return [
    `App ${plan.webAppId ?? ''} (${shownKey}), ${inputs} ${inputs === 1 ? 'input' : 'inputs'}`,
    ...(files.length === 0 ? [] : [markdownText(names, maxNamesLength)]),
  ].join(': ');
}

/** A page of Markdown for the Web UI: what the task was asked to do. */
export function staticDetails(plan: TaskPlan): string {
  const asked: [string, string][] = [
    ...plan.files.map(({ key, file, as }): [string, string] => [key, `file ${file} (as ${as})`]),
    ...Object.entries(plan.values).map(([key, value]): [string, string] => [key, JSON.stringify(value)]),
  ];
  return [
    `**Account** ${markdownText(plan.account)}${plan.archiveFolder === '' ? '' : `, **archive folder** ${markdownText(plan.archiveFolder, maxValueLength)}`}`,
    ...(asked.length === 0 ? [] : ['']),
    ...asked
      .slice(0, maxRows)
      .map(([key, value]) => `- ${markdownText(key, maxKeyLength)}: ${markdownText(value, maxValueLength)}`),
    ...(asked.length > maxRows ? [`- and ${asked.length - maxRows} more`] : []),
  ].join('\n');
}

function nameOf(file: string): string {
  return file.split(/[/\\]/).at(-1) ?? file;
}
