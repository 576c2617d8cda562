import { randomUUID } from 'node:crypto';
import { WorkflowExecutionAlreadyStartedError, type WorkflowStartOptions } from '@temporalio/client';
import type { BatchInput } from '../../contract/batch/batch-input';
import { keptCommand } from '../../contract/batch/batch-command';
import { type BatchPlan, parseBatchInput } from '../../contract/batch/parse-batch-input';
import { progressQuery } from '../../contract/batch/batch-messages';
import { searchAttributes } from '../../contract/search-attributes';
import { batchWorkflowId } from '../../contract/workflow-ids';
import { workflowTaskTimeout } from '../../core/workflow-tasks';
import { batchPriority } from '../../core/priority';
import { formatCountOf, markdownText } from '../../core/text';
import { parseTraceparent } from '../../core/trace-context';
import { queryWorkflow } from '../base-handle';
import { startingWithin } from '../client-traces';
import { InputChangedError, InputInvalidError } from '../errors';
import { type BatchSetting, settingsWithoutEffect } from './batch-settings';
import { isBatchProgress } from '../replies';
import { traceOptionProblems, type TraceOptions } from '../start-check';
import type { TaskOrigin } from '../task/start-task';
import { abortable, askTemporal, findDescription, type TemporalAccess } from '../temporal-access';
import { type DescribedWorkflow, describeWorkflow, readStartArgument, type WorkflowInfo } from '../workflow-info';

/** What a start leaves in a batch's memo. The names are durable. */
export interface BatchMemo extends Record<string, unknown> {
  readonly startId: string;
  readonly rowsDigest: string;
  readonly source: string | null;
  /** Row files of the command that started it, absolute. */
  readonly files: readonly string[] | null;
  /** The latest run before this one that was not refused. */
  readonly previousRunId?: string;
}

/** What a start led to: a new run, or the batch that runs already. */
export interface StartedBatch {
  readonly id: string;
  readonly origin: TaskOrigin;
  /**
   * Given options that it lacks because it ran already; empty for a batch that was started. `setConcurrency`,
   * `setBudget` and `retryFailed` change three.
   */
  readonly withoutEffect: readonly BatchSetting[];
}

/** The name of the workflow; durable. */
const batchWorkflow = 'batch';
const maxShownSourceLength = 1_000;

/** Throws {@link InputInvalidError} with every problem of what `startBatch` of the library is given. */
export function checkBatchStart(input: BatchInput, options?: TraceOptions): void {
  const wrongOptions = traceOptionProblems(options);
  const { problems: inputProblems = [] } = parseBatchInput(input);
  const problems = [...inputProblems, ...wrongOptions];
  if (problems.length > 0) throw new InputInvalidError(problems, wrongOptions.length === 0 ? 'batch' : 'arguments');
}

/** As `Longhaul.startBatch`; throws the errors of `askTemporal`, too. */
export async function startBatch(
  access: TemporalAccess,
  input: BatchInput,
  { traceparent, signal }: TraceOptions = {},
): Promise<StartedBatch> {
  const parent = traceparent === undefined ? undefined : parseTraceparent(traceparent);
  const { problems, plan } = parseBatchInput(input);
  if (problems !== undefined) throw new InputInvalidError(problems, 'batch');
  return await abortable(access, signal, async () => {
    const { client } = access;
    const { id, rows } = plan;
    const workflowId = batchWorkflowId(id);
    const startId = randomUUID();
    const starting = parent === undefined ? client.workflow : startingWithin(client.workflow, parent);
    const previousRunId = await latestRunId(access, workflowId);
    const latest = await askTemporal(access, workflowId, async () => {
      try {
        await starting.start(batchWorkflow, {
          ...startOptions(access, plan, { startId, previousRunId }),
          args: [input],
        });
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
      return await describeWorkflow(client, workflowId);
    });
    if (latest.memo.get('startId') === startId) return { id, origin: 'started', withoutEffect: [] };
    const argument = await askTemporal(access, workflowId, () => readStartArgument(client, workflowId, latest.runId));
    // Null: another program started the batch.
    const running = isBatchInput(argument) ? argument : null;
    const runningDigest = latest.memo.get('rowsDigest') ?? running?.rows.digest;
    if (runningDigest !== rows.digest) throw InputChangedError.ofBatch(id, workflowId, runningRows(latest, running));
    const isChangeable = input.concurrency !== undefined || input.budget !== undefined;
    const ask = () => client.workflow.getHandle(workflowId).query(progressQuery);
    const progress = isChangeable ? await queryWorkflow(access, ask, isBatchProgress, workflowId) : undefined;
    return { id, origin: 'attached', withoutEffect: settingsWithoutEffect(input, running, progress) };
  });
}

export function isBatchInput(input: unknown): input is BatchInput {
  return parseBatchInput(input).plan !== undefined;
}

/** What a person knows the rows by. */
function runningRows({ memo }: DescribedWorkflow, running: BatchInput | null): string[] {
  const source = memo.get('source');
  const count = running?.rows.rows;
  return [
    ...(typeof source === 'string' ? [`source ${source}`] : []),
    ...(count === undefined ? [] : [formatCountOf(count, 'row')]),
  ];
}

/** The latest run that was not refused; undefined when this id was never run. */
async function latestRunId(access: TemporalAccess, workflowId: string): Promise<string | undefined> {
  const latest = await findDescription(access, workflowId);
  return latest && (isRefused(latest) ? readPreviousRunId(latest) : latest.runId);
}

/** Whether a run failed before it compared its rows with the record: it has started none of them. */
export function isRefused({ execution, attributes }: WorkflowInfo): boolean {
  const state = attributes.get(searchAttributes.status.name);
  return execution === 'FAILED' && (state === undefined || state === 'Opening');
}

export function readFiles(value: unknown): readonly string[] | null {
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : null;
}

export function readPreviousRunId({ memo }: DescribedWorkflow): string | undefined {
  const runId = memo.get('previousRunId');
  return typeof runId === 'string' ? runId : undefined;
}

function startOptions(
  { taskQueue }: TemporalAccess,
  plan: BatchPlan,
  { startId, previousRunId }: Pick<BatchMemo, 'startId' | 'previousRunId'>,
): WorkflowStartOptions {
  const { id, rows, badRows, source } = plan;
  const files = keptCommand(plan.command)?.files ?? null;
  const memo: BatchMemo = { startId, rowsDigest: rows.digest, source, files };
  const skipped = badRows === 0 ? '' : `, ${formatCountOf(badRows, 'bad one')} left out`;
  return {
    workflowId: batchWorkflowId(id),
    taskQueue,
    workflowTaskTimeout,
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
    // A memo keeps a field that is undefined.
    memo: previousRunId === undefined ? memo : { ...memo, previousRunId },
    priority: batchPriority(id),
    // Temporal keeps the first summary, so it has nothing that can be changed while the batch runs.
    staticSummary: `Batch ${id}, ${formatCountOf(rows.rows, 'row')}${skipped}`,
    staticDetails: source === null ? undefined : `**Rows of** ${markdownText(source, maxShownSourceLength)}`,
  };
}
