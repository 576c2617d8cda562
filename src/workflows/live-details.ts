import type { TaskStatus } from '../contract/task-status';
import { markdownText } from '../domain/plain-text';
import { formatMoment } from '../domain/timestamp';

/**
 * The page an operator sees in the Web UI: what is, since when, what is waited for, and what comes next. It is Markdown;
 * the service's words in it are not.
 */
export function liveDetails(status: TaskStatus): string {
  const rows = [
    ['Request id', status.requestId ?? 'none yet'],
    ['At the service', serviceWords(status)],
    ['Waiting for', status.waitingFor],
    ['Next', status.nextStep],
    ['Queries so far', `${status.polls}${status.failedPolls === 0 ? '' : `, ${status.failedPolls} failed`}`],
    ['Creates sent', String(status.createRequests)],
  ];
  return [
    `### ${status.status}`,
    `since ${formatMoment(status.since)}`,
    '',
    ...rows.map(([name = '', value = '']) => `- **${name}:** ${markdownText(value)}`),
    ...(status.problem === null ? [] : ['', `**Trouble:** ${markdownText(status.problem)}`]),
    ...(status.stopRequests.length === 0 ? [] : ['', '**Requests to end it**', '']),
    ...status.stopRequests.map(
      ({ verb, askedAt, words }) => `- \`${verb}\` at ${formatMoment(askedAt)}: ${markdownText(words)}`,
    ),
  ].join('\n');
}

function serviceWords({ serviceStatus, queuePosition }: TaskStatus): string {
  if (serviceStatus === null) return 'not seen yet';
  return queuePosition === null ? serviceStatus : `${serviceStatus}, ${queuePosition} ahead in the queue`;
}
