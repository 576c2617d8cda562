import { setCurrentDetails } from '@temporalio/workflow';
import { parseSweepInput, type SweepInput, type SweepResult } from '../contract/sweep';
import { markdownCode, markdownText } from '../core/text';
import { formatMoment } from '../core/time';
import { sweepActivities } from './activity-proxies';
import { requireNoProblems } from './failures';
import { readStartArgument } from './run-info';

/** Finds what was paid for and is not safe. Changes nothing unless its input asks for it. */
export async function sweep(argument: SweepInput): Promise<SweepResult> {
  const { input, problems: argumentProblems } = readStartArgument(argument);
  const { plan, problems } = parseSweepInput(input);
  requireNoProblems([...argumentProblems, ...problems]);
  const result = await sweepActivities().sweep(plan);
  setCurrentDetails(sweepDetails(result));
  return result;
}

/** Markdown for the Web UI. @internal exported for tests */
export function sweepDetails({ unsafe, safe, handled, changesSince, next, report, text }: SweepResult): string {
  const count = (counts: Readonly<Record<string, number>>): number => {
    return Object.values(counts).reduce((sum, one) => sum + one, 0);
  };
  return [
    count(unsafe) === 0 ? '### Nothing unsafe was found' : `### ${count(unsafe)} not safe`,
    '',
    `- **Compared:** ${comparedText(changesSince, next?.comparedAllAt)}`,
    `- **Safe:** ${count(safe)}`,
    ...(handled === 0 ? [] : [`- **Taken care of by this sweep:** ${handled}`]),
    `- **Report:** ${markdownText(report)}`,
    '',
    ...text.split('\n').flatMap(toMarkdown),
  ].join('\n');
}

function comparedText(changesSince: string | null, comparedAllAt: string | undefined): string {
  if (changesSince === null) return 'everything in the window of this sweep';
  const all = comparedAllAt === undefined ? '' : `; everything was at ${formatMoment(comparedAllAt)}`;
  return `what changed since ${formatMoment(changesSince)}, runs, or was not safe before${all}`;
}

const ownWords = /^[A-Za-z0-9 ,]+(?:\. Safe: \d+ )?\([A-Za-z0-9 ,]+\)[:.]$/;

/** The Web UI cuts off long lines of a code block. */
function toMarkdown(line: string): readonly string[] {
  const words = line.trim();
  if (line.startsWith('    ')) return [`- ${markdownCode(words)}`];
  if (line.startsWith('  ')) return ['', markdownText(words), ''];
  if (!ownWords.test(line)) return [markdownText(line)];
  return [line.endsWith(':') ? `**${line}**` : line];
}
