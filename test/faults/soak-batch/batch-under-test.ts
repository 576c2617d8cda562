import { temporal } from '@temporalio/proto';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { batchWorkflowId, rowWorkflowId } from '../../../src/contract/workflow-ids';
import { searchAttributes } from '../../../src/contract/search-attributes';
import { longhaulCommand } from '../../support/product-build';
import { supervise, type SupervisedProcess } from '../../../tools/supervise';
import { photoFolder } from '../../support/task-stack';
import type { FaultStack } from '../fault-stack';
import type { Attention } from '../soak/attend';
import { faultTuning } from '../task-under-test';
import { acceptedCreates, attendRows } from './attend-rows';

/** The reference service's apps: one that is done at once and wants no file, and one that works on a photo. */
const swatch = 5;
const photoFinish = 1;
const photo = 'rocket.jpg';
/** Every so many rows one works on the photo, which they share. */
const photoEvery = 10;

const concurrency = 50;
/** A dead worker's watch is given up soon. */
const tuning = { ...faultTuning, watchHeartbeatMs: 10_000 };

/** How `longhaul batch run` ended. */
export interface CommandOutcome {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The end of what it wrote. */
  readonly output: string;
}

/** A batch that faults are aimed at: its row file, its command, and what the service was asked for it. */
export class BatchUnderTest {
  readonly id = 'under-test';
  readonly workflowId = batchWorkflowId(this.id);
  readonly rows: number;
  /** Of the rows, in their order. */
  readonly keys: readonly string[];
  readonly #stack: FaultStack;
  readonly #file: string;
  #command: SupervisedProcess | undefined;

  constructor(stack: FaultStack, rows: number) {
    this.#stack = stack;
    this.rows = rows;
    this.keys = Array.from({ length: rows }, (_, index) => `row-${index}`);
    this.#file = join(stack.parts.inputs, 'rows.jsonl');
    copyFileSync(join(photoFolder, photo), join(stack.parts.inputs, photo));
    writeFileSync(this.#file, this.keys.map(rowLine).join(''));
  }

  /** `longhaul batch run` as a process of its own: starts the batch, or follows the one that runs. */
  async startCommand(): Promise<void> {
    const { env, taskQueue } = this.#stack.parts;
    const args = ['batch', 'run', this.#file, '--id', this.id, '--task-queue', taskQueue, '--json'];
    const command = longhaulCommand([...args, '--concurrency', String(concurrency)]);
    this.#command = await supervise({ ...command, env, cwd: join(__dirname, '../../..') });
  }

  /** SIGKILL, as a terminal that is gone. */
  async killCommand(): Promise<void> {
    const command = this.#command;
    if (command === undefined) throw new Error('There is no command to kill.');
    process.kill(command.pid, 'SIGKILL');
    await command.ended;
  }

  /** Resolves when the command has ended by itself, with the batch. */
  async commandEnd(): Promise<CommandOutcome> {
    const command = this.#command;
    if (command === undefined) throw new Error('There is no command to wait for.');
    return { ...(await command.ended), output: command.output().slice(-2_000) };
  }

  get isCommandRunning(): boolean {
    return this.#command?.isRunning() ?? false;
  }

  async stop(): Promise<void> {
    await this.#command?.stop();
  }

  /** What was paid. */
  get creates(): number {
    return this.#stack.parts.service.ledger.total('create');
  }

  /** What was sent to the storage, whether or not the service was told of it. */
  get uploads(): number {
    return this.#stack.parts.service.ledger.total('upload-token');
  }

  /** The request ids of the creates of each row that the service accepted. */
  acceptedCreates(): Map<string, string[]> {
    return acceptedCreates(this.#stack);
  }

  /** A person looks after the rows that wait for one. */
  async attend(tell: (attention: Attention, workflowId: string) => void): Promise<void> {
    await attendRows(this.#stack, this.id, tell);
  }

  async runningTasks(): Promise<number> {
    return (await this.#stack.parts.client.workflow.count(this.#runningQuery)).count;
  }

  /** A line for the batch and for each of its tasks that runs, at most 20: pending work, last events. */
  async whatRunningTasksWaitFor(): Promise<string[]> {
    const { client } = this.#stack.parts;
    const ids = [this.workflowId];
    for await (const { workflowId } of client.workflow.list({ query: this.#runningQuery })) {
      if (ids.length < 20) ids.push(workflowId);
    }
    return await Promise.all(
      ids.map(async (id) => {
        const handle = client.workflow.getHandle(id);
        const { raw } = await handle.describe();
        const events = (await handle.fetchHistory()).events ?? [];
        const last = events.slice(-4).map(({ eventType }) => temporal.api.enums.v1.EventType[eventType ?? 0]);
        const { pendingActivities, pendingWorkflowTask } = raw;
        return `${id} hangs: ${JSON.stringify({ pendingWorkflowTask, pendingActivities, last })}`;
      }),
    );
  }

  get #tasksQuery(): string {
    return `WorkflowType = "task" AND ${searchAttributes.batch.name} = "${this.id}"`;
  }

  get #runningQuery(): string {
    return `${this.#tasksQuery} AND ExecutionStatus = "Running"`;
  }

  /** How many events each run of each row's task has. */
  async historyLengthsOfTasks(): Promise<number[]> {
    const lengths: number[] = [];
    const tasks = this.#stack.parts.client.workflow.list({ query: this.#tasksQuery });
    for await (const { historyLength } of tasks) lengths.push(historyLength);
    return lengths;
  }

  rowWorkflowId(key: string): string {
    return rowWorkflowId(this.id, key);
  }
}

function rowLine(key: string, index: number): string {
  const isPhoto = index % photoEvery === 0;
  const inputs = isPhoto ? { '1:LoadImage.image': { file: photo }, '2:ImageScale.width': 64 + index } : {};
  return `${JSON.stringify({ key, webAppId: isPhoto ? photoFinish : swatch, inputs, tuning })}\n`;
}
