import type { BatchHandle } from '../../client/batch-handle';
import type { CommandContext } from '../command-context';
import { exitCodes } from '../exit-code';
import type { TellEvent } from './batch-events';
import { batchReport, exitCodeOfBatch } from './batch-report';
import { type EndedBatch, followBatch } from './follow-batch';

/** Follows a batch to its end, prints the table, and sets the exit code; says how to go on when Ctrl-C ended that. */
export async function followBatchToTheEnd(
  context: CommandContext,
  batch: BatchHandle,
  { tell, isJson }: { readonly tell: TellEvent; readonly isJson: boolean },
): Promise<void> {
  const ended = await followBatch(context, batch, tell);
  if (ended === undefined) {
    context.stderr.write(detachedText(batch));
    tell('detached', { workflowId: batch.workflowId });
    context.exitWith(exitCodes.detached);
  } else if (isJson) {
    tell('ended', ended.result);
    context.exitWith(exitCodeOfBatch(ended.result));
  } else printReport(context, ended);
}

/** Prints the table of a batch that is over, and sets the exit code. */
export function printReport(context: CommandContext, { result, view }: EndedBatch): void {
  const { startedAt, endedAt } = view;
  const elapsedMs = endedAt === null ? null : Date.parse(endedAt) - Date.parse(startedAt);
  const { columns } = context.stdout;
  context.stdout.write(`${batchReport(result, elapsedMs, columns)}\n`);
  context.exitWith(exitCodeOfBatch(result));
}

function detachedText({ id, workflowId }: BatchHandle): string {
  return [
    `Detached: the batch ${workflowId} goes on without this command.`,
    `  follow it: longhaul batch status ${id} --follow`,
    `  stop it:   longhaul batch stop ${id}`,
    '',
  ].join('\n');
}
