import type { InstantBatchReport } from './instant-batch';
import type { BatchSoakReport } from './run-batch-soak';

/** The report of a batch under kills as a table for a person. */
export function batchSoakTable({ size, seconds, creates, uploads, again, ...others }: BatchSoakReport): string {
  const { faults, attentions, events, memory, broken } = others;
  return [
    `rows            ${size.rows} in ${seconds.toFixed(1)} s, ${(size.rows / seconds).toFixed(1)} a second`,
    `paid            ${creates} creates, ${uploads} uploads`,
    `faults          ${counted(faults)}`,
    `a person let    ${counted(attentions)}`,
    `events          ${events.task.toFixed(1)} a row in its task, ${events.batch.toFixed(2)} in the batch`,
    `most memory     ${memory}`,
    `run again       ${again.creates} creates, ${again.uploads} uploads, ${again.seconds.toFixed(1)} s`,
    verdict(broken),
  ].join('\n');
}

/** Such as `10 worker killed, 2 command killed`. */
function counted(names: readonly string[]): string {
  const counts = [...new Set(names)].map((name) => `${names.filter((one) => one === name).length} ${name}`);
  return counts.length === 0 ? 'nothing' : counts.join(', ');
}

/** The report of instant rows as a table for a person. */
export function instantBatchTable({ rows, seconds, memory, broken, ...events }: InstantBatchReport): string {
  return [
    `rows            ${rows} in ${seconds.toFixed(1)} s, ${(rows / seconds).toFixed(0)} a second`,
    `events          ${events.eventsARow.toFixed(2)} a row, at most ${events.mostEventsOfARun} in one of ${events.runs} runs`,
    `most memory     ${memory.afterATenth} after a tenth`,
    `                ${memory.atTheEnd} at the end`,
    verdict(broken),
  ].join('\n');
}

function verdict(broken: readonly string[]): string {
  return broken.length === 0 ? 'every promise held' : `BROKEN:\n${broken.map((one) => `  ${one}`).join('\n')}`;
}
