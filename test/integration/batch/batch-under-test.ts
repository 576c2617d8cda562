import { randomUUID } from 'node:crypto';
import { NativeConnection } from '@temporalio/worker';
import { Client, type WorkflowExecutionDescription } from '@temporalio/client';
import { createBatchActivities } from '../../../src/activities';
import type { DailyBudgets } from '../../../src/activities/daily-budgets';
import type { RowTasks } from '../../../src/activities/dependencies';
import { TemporalRowTasks } from '../../../src/client/batch/row-tasks';
import type { BatchActivities, StartRowsInput, StartRowsResult } from '../../../src/contract/batch/batch-activities';
import type { RowsReference } from '../../../src/contract/batch/batch-input';
import type { RowEnd, RowRecord, RunningRow } from '../../../src/contract/batch/batch-rows';
import { rowWorkflowId } from '../../../src/contract/workflow-ids';
import { FolderArchive } from '../../../src/storage/archive/folder-archive';
import { eventually } from '../../support/eventually';
import { preparedRows, type TestRow, writePreparedRows } from '../../support/prepared-rows-under-test';
import { fastTuning } from '../../support/task-environment';
import { TaskStack } from '../../support/task-stack';
import { temporaryFolder } from '../../support/temporary-folder';
import { ActivityEnvironment } from '../../support/activity-environment';

/** What a test says of one call of `startRows` beside the rows. */
type StartChoice = Partial<Omit<StartRowsInput, 'id' | 'rows'>> & {
  /** Two calls with the same one are two attempts of the same activity. */
  readonly activityId?: string;
  /** Over the real ones, for what goes wrong on the way. */
  readonly rowTasks?: RowTasks;
  readonly dailyBudgets?: DailyBudgets;
};

/** The batch's activities over real parts, as a worker has them, without a batch workflow. */
export class BatchUnderTest {
  readonly stack: TaskStack;
  readonly rowTasks: RowTasks;
  readonly #native: NativeConnection;
  readonly #folder = temporaryFolder();

  private constructor(stack: TaskStack, native: NativeConnection) {
    this.stack = stack;
    this.#native = native;
    const client = new Client({ connection: native });
    const { taskQueue } = stack;
    this.rowTasks = new TemporalRowTasks({ client, address: 'the test’s', taskQueue, webUiUrl: null });
  }

  static async open(): Promise<BatchUnderTest> {
    // A task whose workflow was terminated runs on at the service, and must not keep the others waiting.
    const stack = await TaskStack.open({ service: { slots: 100 } });
    const address = process.env['LONGHAUL_TEST_TEMPORAL_ADDRESS'] ?? '';
    return new BatchUnderTest(stack, await NativeConnection.connect({ address }));
  }

  async close(): Promise<void> {
    await this.#native.close();
    await this.stack.close();
    this.#folder.remove();
  }

  /** How often the service was asked to create a task. */
  get creates(): number {
    return this.stack.service.ledger.total('create');
  }

  /** Writes rows of quick tasks for the workers. */
  async write(rows: readonly TestRow[], pageRows?: number): Promise<RowsReference> {
    const quick = rows.map(({ input, ...row }) => ({ ...row, input: { tuning: fastTuning, ...input } }));
    return await writePreparedRows(this.#folder.path, randomUUID(), preparedRows(quick), pageRows);
  }

  /** One attempt of an activity. */
  async run<Input, Result>(
    choose: (activities: BatchActivities) => (input: Input) => Promise<Result>,
    input: Input,
    ways: Pick<StartChoice, 'activityId' | 'rowTasks' | 'dailyBudgets'> = {},
  ): Promise<Result> {
    const { activityId = randomUUID(), rowTasks = this.rowTasks, dailyBudgets } = ways;
    const rules = {
      inputRoots: [this.#folder.path],
      inputHosts: [],
      maxBytes: 1024 ** 3,
      spoolFolder: this.#folder.path,
    };
    const archive = new FolderArchive(this.stack.archive);
    const activities = createBatchActivities({
      ...{ archive, sources: rules, rowTasks },
      ...(dailyBudgets !== undefined && { dailyBudgets }),
    });
    const workflowExecution = { workflowId: 'batch:test', runId: 'run' };
    const info = { activityId, workflowExecution, currentAttemptScheduledTimestampMs: Date.now() };
    const environment = new ActivityEnvironment(info);
    return await environment.run(choose(activities), input);
  }

  async startRows(id: string, rows: RowsReference, choice: StartChoice = {}): Promise<StartRowsResult> {
    const { activityId, rowTasks, dailyBudgets, ...more } = choice;
    const input: StartRowsInput = {
      ...{ id, rows, cursor: { page: 0, skip: 0 }, limit: 200, mode: 'new', choice: {} },
      defaults: { archive: `batches/${id}/outputs`, watch: 'activity', names: null },
      ...more,
    };
    const ways = {
      ...(activityId !== undefined && { activityId }),
      ...(rowTasks !== undefined && { rowTasks }),
      ...(dailyBudgets !== undefined && { dailyBudgets }),
    };
    return await this.run(({ startRows }) => startRows, input, ways);
  }

  /** Waits until these rows' tasks are over, and records how they ended, as the batch does. */
  async record(id: string, { digest }: RowsReference, running: readonly RunningRow[]): Promise<RowRecord[]> {
    const ends = await this.ends(
      id,
      running.map(({ key }) => key),
    );
    const records = ends.map((end, index) => ({ ...end, ...running[index]! }));
    await this.run(({ recordRows }) => recordRows, { id, digest, records });
    return records;
  }

  /** How these rows' tasks ended, once all of them are over. */
  async ends(id: string, keys: readonly string[]): Promise<RowEnd[]> {
    const ended = await eventually(
      async () => {
        const found = await this.run(({ pollRows }) => pollRows, { id, keys });
        return found.ended.length === keys.length ? found.ended : undefined;
      },
      { withinMs: 60_000, what: `the rows ${keys.join(', ')} to be over` },
    );
    return [...(ended ?? [])];
  }

  async describe(id: string, key: string): Promise<WorkflowExecutionDescription> {
    return await this.stack.client.workflow.getHandle(rowWorkflowId(id, key)).describe();
  }
}

/** A row whose task runs for longer than any test. */
export function longRow(key: string): TestRow {
  return { key, input: { inputs: { '2:Wait.seconds': 3_600 } } };
}
