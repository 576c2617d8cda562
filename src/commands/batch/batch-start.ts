import type { BatchHandle } from '../../client/batch/batch-handle';
import type { BatchSetting } from '../../client/batch/start-batch';
import { InputChangedError, InputInvalidError } from '../../client/errors';
import type { BatchInput } from '../../contract/batch/batch-input';
import type { CommandContext } from '../command-context';
import type { EmitEvent } from './follow-batch';

/** The part of a handle that is used here. */
type StartedHandle = Pick<BatchHandle, 'id' | 'workflowId' | 'started' | 'url'>;

/**
 * Starts the batch, or attaches to it.
 *
 * Throws {@link InputInvalidError} when the batch that runs has other rows: its result would be taken for that of these.
 */
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

/** Prints whether the batch was started or attached to. */
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

/** An option that a batch takes only when it starts, with what to do instead. */
function withRemedy(name: BatchSetting, { id, concurrency, budget }: BatchInput): string {
  const changes: Partial<Record<BatchSetting, string>> = {
    retryFailed: `longhaul batch retry ${id}`,
    concurrency: `longhaul batch set-concurrency ${id} ${concurrency ?? ''}`,
    budget: `longhaul batch set-budget ${id} ${budget ?? ''}`,
  };
  const option = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return `--${option} (${changes[name] ?? 'run it again when it is over'})`;
}
