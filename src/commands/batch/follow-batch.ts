import { setTimeout as delay } from 'node:timers/promises';
import type { BatchHandle, BatchView } from '../../client/batch-handle';
import { NoWorkerError, TemporalBusyError, TemporalUnreachableError, WorkflowStuckError } from '../../client/errors';
import type { BatchResult } from '../../contract/batch-messages';
import type { CommandContext } from '../command-context';
import type { BatchDisplay } from './batch-display';
import { openBatchDisplay } from './batch-display';
import type { TellEvent } from './batch-events';

/** A batch that is over. */
export interface EndedBatch {
  readonly result: BatchResult;
  readonly view: BatchView;
}

const lookEveryMs = 1_000;
/** While Temporal does not answer. */
const longestPauseMs = 10_000;

/**
 * Follows a batch to its end and shows its progress meanwhile; `undefined` when Ctrl-C ended that. It looks once a
 * second, however many rows there are, and waits for a Temporal that is away for as long as that takes. A batch that
 * fails is thrown, as `result` throws it.
 */
export async function followBatch(
  context: CommandContext,
  batch: BatchHandle,
  tell: TellEvent,
): Promise<EndedBatch | undefined> {
  const display = openBatchDisplay(context.display);
  const watching = new AbortController();
  const stopListening = context.onInterrupt(() => {
    watching.abort();
  });
  try {
    return await look(batch, display, tell, watching.signal);
  } catch (error) {
    if (watching.signal.aborted) return undefined;
    throw error;
  } finally {
    stopListening();
    display.stop();
  }
}

async function look(
  batch: BatchHandle,
  display: BatchDisplay,
  tell: TellEvent,
  signal: AbortSignal,
): Promise<EndedBatch> {
  let pauseMs = lookEveryMs;
  let told = '';
  const tellOnce = (event: string, facts: object): void => {
    const text = JSON.stringify(facts);
    if (text !== told) tell(event, facts);
    told = text;
  };
  for (;;) {
    try {
      const view = await batch.status({ signal });
      if (view.isOver) return { view, result: await batch.result({ signal }) };
      pauseMs = lookEveryMs;
      const { progress, stuck, retrying, needPerson, uploading } = view;
      if (stuck !== null) throw new WorkflowStuckError(batch.workflowId, stuck.message);
      if (progress === null) throw new NoWorkerError(batch.workflowId);
      display.show({ progress, retrying, needPerson, uploading });
      tellOnce('progress', { ...progress, retrying, needPerson, uploading });
    } catch (error) {
      if (!isPassing(error)) throw error;
      display.showTrouble(error.message);
      tellOnce('trouble', { message: error.message });
      if (!(error instanceof NoWorkerError)) pauseMs = Math.min(2 * pauseMs, longestPauseMs);
    }
    await delay(pauseMs, undefined, { signal });
  }
}

/** What comes right by itself: nothing is lost by waiting. */
function isPassing(error: unknown): error is Error {
  const types = [NoWorkerError, TemporalBusyError, TemporalUnreachableError, WorkflowStuckError];
  return types.some((type) => error instanceof type);
}
