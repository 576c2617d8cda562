import { setTimeout as delay } from 'node:timers/promises';
import type { BatchHandle } from '../../client/batch/batch-handle';
import type { BatchSetting } from '../../client/batch/batch-settings';
import { InputChangedError, InputInvalidError, NoWorkerError, WorkflowStuckError } from '../../client/errors';
import { TemporalBusyError, TemporalUnreachableError } from '../../client/connection-errors';
import type { BatchInput } from '../../contract/batch/batch-input';
import type { BatchResult } from '../../contract/batch/batch-messages';
import { problemText } from '../../contract/problem';
import type { CommandContext, Output } from '../command-context';
import { exitCodes } from '../exit-code';
import { type BatchDisplay, openBatchDisplay } from './batch-display';
import { batchExitCode, type EndedBatch, printReport } from './batch-report';

type StartedHandle = Pick<BatchHandle, 'id' | 'workflowId' | 'started' | 'url'>;

/** Throws {@link InputInvalidError} when the batch that runs has other rows: its result would be taken for theirs. */
export async function startOrFollow<Handle>(
  longhaul: {
    readonly startBatch: (input: BatchInput) => Promise<Handle>;
    readonly batch: (id: string) => Pick<BatchHandle, 'workflowId' | 'url'>;
  },
  input: BatchInput,
  emit: EmitEvent,
): Promise<Handle> {
  try {
    return await longhaul.startBatch(input);
  } catch (error) {
    if (!(error instanceof InputChangedError)) throw error;
    const { workflowId, url } = longhaul.batch(input.id);
    emit('attached', { workflowId, url, hasTheseRows: false });
    const how = `(--id gives it an id; to wait: longhaul batch status ${input.id} --follow)`;
    throw new InputInvalidError([`${error.message} ${how}`], 'batch');
  }
}

export function reportStart(
  { stderr }: CommandContext,
  batch: StartedHandle,
  input: BatchInput,
  emit: EmitEvent,
): void {
  const { workflowId, started, url } = batch;
  const { origin = 'started', withoutEffect = [] } = started ?? {};
  emit(origin, { workflowId, url, hasTheseRows: true, withoutEffect });
  stderr.write(`${origin === 'started' ? 'Started' : 'Following, for it runs already:'} ${workflowId}\n`);
  if (url !== null) stderr.write(`  ${url}\n`);
  const options = withoutEffect.map((name) => withRemedy(name, input));
  if (options.length > 0) stderr.write(`  Without effect on a batch that runs: ${options.join(', ')}.\n`);
}

/** Says what to do instead with an option that a batch takes only when it starts. */
function withRemedy(name: BatchSetting, { id, concurrency, budget }: BatchInput): string {
  const changes: Partial<Record<BatchSetting, string>> = {
    retryFailed: `longhaul batch retry ${id}`,
    concurrency: `longhaul batch set-concurrency ${id} ${concurrency ?? ''}`,
    budget: `longhaul batch set-budget ${id} ${budget ?? ''}`,
  };
  const option = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return `--${option} (${changes[name] ?? 'run it again when it is over'})`;
}

const pollEveryMs = 1_000;
/** While Temporal does not answer. */
const longestPauseMs = 10_000;
const passing = [NoWorkerError, TemporalBusyError, TemporalUnreachableError, WorkflowStuckError];

/** Prints the table, then calls `onResult`, then emits the last event; sets the exit code. Throws as `result` does. */
export async function followBatchToTheEnd(
  context: CommandContext,
  batch: BatchHandle,
  how: {
    readonly emit: EmitEvent;
    readonly isJson: boolean;
    readonly onResult?: (result: BatchResult) => Promise<void>;
  },
): Promise<void> {
  const { emit, isJson, onResult } = how;
  const display = openBatchDisplay(context.display);
  const watching = new AbortController();
  const stopListening = context.onInterrupt(() => {
    watching.abort();
  });
  let ended: EndedBatch | undefined;
  try {
    ended = await pollUntilOver(batch, display, emit, watching.signal);
  } catch (error) {
    if (!watching.signal.aborted) throw error;
  } finally {
    stopListening();
    display.stop();
  }
  if (ended === undefined) {
    tellDetached(context, batch, emit);
    return;
  }
  if (!isJson) printReport(context, ended);
  await onResult?.(ended.result);
  if (!isJson) return;
  emit('ended', ended.result);
  context.exitWith(batchExitCode(ended.result));
}

/** Once a second, however many rows there are; waits while Temporal does not answer. */
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
      const { taskQueue, progress, problem, needPerson, uploading } = view;
      if (problem?.code === 'Stuck') throw new WorkflowStuckError(batch.workflowId, problemText(problem));
      if (progress === null) throw new NoWorkerError(batch.workflowId, { taskQueue });
      display.show({ ...view, progress });
      emitChange('progress', { ...progress, problem, needPerson, uploading });
    } catch (error) {
      if (!(error instanceof Error) || !passing.some((type) => error instanceof type)) throw error;
      display.showProblem(error.message);
      emitChange('warning', { message: error.message });
      if (!(error instanceof NoWorkerError)) pauseMs = Math.min(2 * pauseMs, longestPauseMs);
    }
    await delay(pauseMs, undefined, { signal });
  }
}

export function tellDetached(
  context: Pick<CommandContext, 'stderr' | 'exitWith'>,
  batch: Pick<BatchHandle, 'id' | 'workflowId'>,
  emit: EmitEvent,
): void {
  const { id, workflowId } = batch;
  context.stderr.write(
    `Detached: the batch ${workflowId} goes on without this command.\n` +
      `  follow it: longhaul batch status ${id} --follow\n` +
      `  stop it:   longhaul batch stop ${id}\n`,
  );
  emit('detached', { workflowId });
  context.exitWith(exitCodes.detached);
}

/** One JSON object a line. */
export type EmitEvent = (event: string, facts: object) => void;

export function createEventEmitter(stdout: Output, isJson: boolean): EmitEvent {
  if (!isJson) return () => undefined;
  return (event, facts) => {
    stdout.write(`${JSON.stringify({ event, ...facts })}\n`);
  };
}
