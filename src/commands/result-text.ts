import type { TaskResult, Timestamps } from '../contract/task-result';
import { formatClock } from './format';
import { formatBytes, printableLine } from '../domain/text';

const shortHashLength = 16;
/** The others say when a record changed or will be gone, which is no part of the story. */
const milestones: readonly string[] = ['createdAt', 'executedAt', 'runningAt', 'endedAt'];

/** A task's result for a person: what it is, where the outputs are, and how long each step took. */
export function resultText(result: TaskResult): string {
  const { workflowId, requestId, status, outputs, manifest, timestamps } = result;
  // A result of an earlier version tells neither.
  const counts: Partial<TaskResult> = result;
  const { outputCount = outputs.length, failedOutputs = [], failedOutputCount = 0 } = counts;
  const rows: (readonly [string, string])[] = [
    ['request id', requestId ?? 'none: nothing was created, nothing is paid'],
    ...outputs.map(({ path, bytes, sha256, errorType, index }, position): readonly [string, string] => {
      const trouble = errorType === 'NOT_ERROR' ? '' : `, ${errorType}`;
      const facts = `${formatBytes(bytes)}, sha256 ${sha256.slice(0, shortHashLength)}${trouble}`;
      return [`output ${index ?? position}`, `${path}  (${facts})`];
    }),
    ...moreRow(outputCount - outputs.length, 'outputs'),
    ...failedOutputs.map(({ index, errorType, message }): readonly [string, string] => {
      return [`failed ${index}`, `at the service: ${[errorType, message].filter(Boolean).join(', ')}`];
    }),
    ...moreRow(failedOutputCount - failedOutputs.length, 'failed outputs'),
    ...(manifest === null ? [] : [['manifest', manifest] as const]),
    ...(timeLine(timestamps) === '' ? [] : [['time line', timeLine(timestamps)] as const]),
  ];
  return [
    `${status}  ${printableLine(workflowId)}`,
    ...rows.map(([name, value]) => `  ${name.padEnd(11)}${printableLine(value)}`),
  ].join('\n');
}

function moreRow(count: number, what: string): readonly (readonly [string, string])[] {
  return count > 0 ? [['and more', `${count} ${what}; the manifest has all`]] : [];
}

/** `2026-03-01T12:00:00Z created, +0:02 executed, +0:09 ended`. */
function timeLine(timestamps: Timestamps): string {
  const known = Object.entries(timestamps).flatMap(([name, { iso }]) => {
    return iso !== null && milestones.includes(name) ? [{ name, atMs: Date.parse(iso), iso }] : [];
  });
  known.sort((a, b) => a.atMs - b.atMs || milestones.indexOf(a.name) - milestones.indexOf(b.name));
  const [first] = known;
  if (first === undefined) return '';
  return known
    .map(({ name, atMs, iso }) => {
      const when = atMs === first.atMs && name === first.name ? iso : `+${formatClock(atMs - first.atMs)}`;
      return `${when} ${name.replace(/At$/, '')}`;
    })
    .join(', ');
}
