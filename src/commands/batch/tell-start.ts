import type { BatchHandle } from '../../client/batch-handle';
import { InputInvalidError } from '../../client/errors';
import type { CommandContext } from '../command-context';
import type { TellEvent } from './batch-events';
import { formatCount } from './batch-line';
import type { BatchSettings } from './batch-settings';

/** What is asked of a batch that was started or found. */
type StartedHandle = Pick<BatchHandle, 'id' | 'workflowId' | 'started' | 'url' | 'status'>;

/**
 * Says what a start led to: a batch of its own, or one that runs already.
 *
 * Throws {@link InputInvalidError} when that one runs other rows: to follow it would pass its end for that of these.
 */
export async function tellStart(
  { stderr }: CommandContext,
  batch: StartedHandle,
  { input }: BatchSettings,
  tell: TellEvent,
): Promise<void> {
  const { workflowId, started, url } = batch;
  const { origin = 'started', hasTheseRows = true } = started ?? {};
  tell(origin, { workflowId, url, hasTheseRows });
  if (!hasTheseRows) throw await otherRows(batch);
  stderr.write(`${origin === 'started' ? 'Started' : 'Following, for it runs already:'} ${workflowId}\n`);
  if (url !== null) stderr.write(`  ${url}\n`);
  const without = origin === 'started' ? [] : withoutEffect(input);
  if (without.length > 0) stderr.write(`  Without effect on a batch that runs: ${without.join(', ')}.\n`);
}

async function otherRows(batch: StartedHandle): Promise<InputInvalidError> {
  const { id, workflowId } = batch;
  const { source, progress } = await batch.status();
  const rows = progress === null ? [] : [`${formatCount(progress.rows)} rows`];
  const which = [...(source === null ? [] : [`source ${source}`]), ...rows].join(', ');
  const problem =
    `${workflowId} runs with other rows${which === '' ? '' : ` (${which})`}, and none of these; give this file an ` +
    `--id of its own, or wait for it to end: longhaul batch status ${id} --follow`;
  return new InputInvalidError([problem], 'batch');
}

/** Options that a batch takes only when it starts, each with what to do instead. */
function withoutEffect({ id, ...input }: BatchSettings['input']): string[] {
  const later = 'run it again when it is over';
  const options: readonly (readonly [string, unknown, string])[] = [
    ['--retry-failed', input.retryFailed, `longhaul batch retry ${id}`],
    ['--concurrency', input.concurrency, `longhaul batch set-concurrency ${id} ${input.concurrency ?? ''}`],
    ['--allow-changed', input.allowChanged, later],
    ['--names', input.names, later],
    ['--archive', input.archive, later],
    ['--watch', input.watch, later],
  ];
  return options.flatMap(([option, value, instead]) => (value === undefined ? [] : [`${option} (${instead})`]));
}
