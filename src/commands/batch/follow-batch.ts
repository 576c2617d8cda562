import { setTimeout as delay } from 'node:timers/promises';
import type { BatchHandle } from '../../client/batch/batch-handle';
import type { BatchView } from '../../client/batch/batch-view';
import { NoWorkerError, WorkflowStuckError } from '../../client/errors';
import { TemporalBusyError, TemporalUnreachableError } from '../../client/connection-errors';
import type { BatchResult } from '../../contract/batch/batch-messages';
import type { CommandContext, Output } from '../command-context';
import { exitCodes } from '../exit-code';
import { type BatchDisplay, openBatchDisplay } from './batch-display';
import { batchReport, batchExitCode } from './batch-report';

/** A batch that is over. */
export interface EndedBatch {
  readonly result: BatchResult;
  readonly view: BatchView;
}

const pollEveryMs = 1_000;
/** While Temporal does not answer. */
const longestPauseMs = 10_000;

/**
 * Follows a batch to its end and shows its progress meanwhile; `undefined` when Ctrl-C ended that. It polls once a
 * second, however many rows there are, and waits while Temporal does not answer. A batch that fails is thrown, as
 * `result` throws it.
 */
async function followBatch(
  context: CommandContext,
  batch: BatchHandle,
  emit: EmitEvent,
): Promise<EndedBatch | undefined> {
  const display = openBatchDisplay(context.display);
  const watching = new AbortController();
  const stopListening = context.onInterrupt(() => {
    watching.abort();
  });
  try {
    return await pollUntilOver(batch, display, emit, watching.signal);
  } catch (error) {
    if (watching.signal.aborted) return undefined;
    throw error;
  } finally {
    stopListening();
    display.stop();
  }
}

async function pollUntilOver(
  batch: BatchHandle,
  display: BatchDisplay,
  emit: EmitEvent,
  signal: AbortSignal,
): Promise<EndedBatch> {
  let pauseMs = pollEveryMs;
  let lastEvent = '';
  const emitChange = (event: string, facts: object): void => {
    const text = JSON.stringify(facts);
    if (text !== lastEvent) emit(event, facts);
    lastEvent = text;
  };
  for (;;) {
    try {
      const view = await batch.status({ signal });
      if (view.isOver) return { view, result: await batch.result({ signal }) };
      pauseMs = pollEveryMs;
      const { taskQueue, progress, stuck, retrying, needPerson, uploading, createsHeldUp } = view;
      if (stuck !== null) throw new WorkflowStuckError(batch.workflowId, stuck.message);
      if (progress === null) throw new NoWorkerError(batch.workflowId, { taskQueue });
      const shown = { retrying, needPerson, uploading, createsHeldUp };
      display.show({ progress, ...shown });
      emitChange('progress', { ...progress, ...shown });
    } catch (error) {
      if (!isPassing(error)) throw error;
      display.showProblem(error.message);
      emitChange('warning', { message: error.message });
      if (!(error instanceof NoWorkerError)) pauseMs = Math.min(2 * pauseMs, longestPauseMs);
    }
    await delay(pauseMs, undefined, { signal });
  }
}

/** Errors that may pass: following waits for that. */
function isPassing(error: unknown): error is Error {
  const types = [NoWorkerError, TemporalBusyError, TemporalUnreachableError, WorkflowStuckError];
  return types.some((type) => error instanceof type);
}

/** How a batch is followed. */
export interface FollowOptions {
  readonly emit: EmitEvent;
  readonly isJson: boolean;
  /** Is called with its result: after the table, and before the last event. */
  readonly onResult?: (result: BatchResult) => Promise<void>;
}

/** Follows a batch to its end, prints the table, and sets the exit code; says how to go on when Ctrl-C ended that. */
export async function followBatchToTheEnd(
  context: CommandContext,
  batch: BatchHandle,
  { emit, isJson, onResult }: FollowOptions,
): Promise<void> {
  const ended = await followBatch(context, batch, emit);
  if (ended === undefined) {
    tellDetached(context, batch, emit);
  } else if (isJson) {
    await onResult?.(ended.result);
    emit('ended', ended.result);
    context.exitWith(batchExitCode(ended.result));
  } else {
    printReport(context, ended);
    await onResult?.(ended.result);
  }
}

/** Prints the table of a batch that is over, and sets the exit code. */
export function printReport(context: CommandContext, { result, view }: EndedBatch): void {
  const { startedAt, endedAt } = view;
  const elapsedMs = endedAt === null ? null : Date.parse(endedAt) - Date.parse(startedAt);
  const { columns } = context.stdout;
  context.stdout.write(`${batchReport(result, elapsedMs, columns)}\n`);
  context.exitWith(batchExitCode(result));
}

/** Says that the batch goes on after Ctrl-C, and how to go on with it. */
export function tellDetached(
  context: Pick<CommandContext, 'stderr' | 'exitWith'>,
  batch: Pick<BatchHandle, 'id' | 'workflowId'>,
  emit: EmitEvent,
): void {
  context.stderr.write(detachedText(batch));
  emit('detached', { workflowId: batch.workflowId });
  context.exitWith(exitCodes.detached);
}

function detachedText({ id, workflowId }: Pick<BatchHandle, 'id' | 'workflowId'>): string {
  return [
    `Detached: the batch ${workflowId} goes on without this command.`,
    `  follow it: longhaul batch status ${id} --follow`,
    `  stop it:   longhaul batch stop ${id}`,
    '',
  ].join('\n');
}

/** Emits an event of `--json`: one JSON object a line. */
export type EmitEvent = (event: string, facts: object) => void;

/** Event lines on standard output with `--json`, else nothing. */
export function createEventEmitter(stdout: Output, isJson: boolean): EmitEvent {
  if (!isJson) return () => undefined;
  return (event, facts) => {
    stdout.write(`${JSON.stringify({ event, ...facts })}\n`);
  };
}
