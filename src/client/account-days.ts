import { WithStartWorkflowOperation } from '@temporalio/client';
import {
  accountDayWorkflow,
  accountDayWorkflowId,
  type AccountDayInput,
  type DayAnswer,
  dayQuery,
  isDayView,
  type DayRequest,
  spendUpdate,
} from '../contract/account-day';
import { workflowTaskTimeout } from '../core/workflow-tasks';
import type { DayView } from '../money/day-operations';
import { queryWorkflow } from './base-handle';
import { NoWorkerError, TaskOverError, UnknownTaskError } from './errors';
import { askTemporal, findDescription, type TemporalAccess } from './temporal-access';

/** How long a create waits for the answer; then it is tried again. */
const spendTimeoutMs = 10_000;

/** The daily budgets of accounts, each kept by a workflow of its day. Methods throw the errors of `askTemporal`. */
export class TemporalAccountDays {
  readonly #access: TemporalAccess;

  constructor(access: TemporalAccess) {
    this.#access = access;
  }

  /** May be repeated. Asking for money starts the day's workflow; `undefined`: not running, no money was asked for. */
  async spend(of: AccountDayInput, request: DayRequest): Promise<DayAnswer | undefined> {
    const { client, taskQueue } = this.#access;
    const workflowId = accountDayWorkflowId(of);
    const isAsking = request.operations.some(({ kind }) => kind === 'reserve' || kind === 'hold');
    const args: [DayRequest] = [request];
    try {
      return await askTemporal(
        this.#access,
        workflowId,
        async () => {
          if (!isAsking) return await client.workflow.getHandle(workflowId).executeUpdate(spendUpdate, { args });
          const startWorkflowOperation = new WithStartWorkflowOperation(accountDayWorkflow, {
            workflowId,
            taskQueue,
            workflowTaskTimeout,
            args: [of],
            workflowIdConflictPolicy: 'USE_EXISTING',
            staticSummary: `Daily budget of ${of.account} on ${of.day}`,
          });
          return await client.workflow.executeUpdateWithStart(spendUpdate, { args, startWorkflowOperation });
        },
        spendTimeoutMs,
      );
    } catch (error) {
      if (!isAsking && (error instanceof UnknownTaskError || error instanceof TaskOverError)) return undefined;
      throw error;
    }
  }

  /** `undefined` when nothing was asked on that day, or Temporal no longer keeps it. Throws `NoWorkerError`. */
  async view(of: AccountDayInput): Promise<DayView | undefined> {
    const workflowId = accountDayWorkflowId(of);
    const described = await findDescription(this.#access, workflowId);
    if (described === undefined) return undefined;
    const ask = () => this.#access.client.workflow.getHandle(workflowId).query(dayQuery);
    const view = await queryWorkflow(this.#access, ask, isDayView, workflowId);
    if (view === undefined) throw new NoWorkerError(workflowId, { taskQueue: described.taskQueue });
    return view;
  }
}
