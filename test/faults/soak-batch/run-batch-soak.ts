import { setTimeout as delay } from 'node:timers/promises';
import { historyLengthsOf } from '../../support/history-lengths';
import { FaultStack } from '../fault-stack';
import type { Attention } from '../soak/attend';
import { brokenPromisesOfBatch, resultsOf } from './batch-promises';
import { BatchUnderTest } from './batch-under-test';
import { MemoryWatch } from './memory-watch';

/** How large a soak of a batch is, and which faults it meets. */
export interface BatchSoakSize {
  readonly rows: number;
  readonly workerKills: number;
  readonly cliKills: number;
  readonly temporalRestarts: number;
}

type ProcessFault = 'worker killed' | 'command killed' | 'Temporal killed';

/** What a soak of a batch did, and what came of it. */
export interface BatchSoakReport {
  readonly size: BatchSoakSize;
  /** The faults, in order. */
  readonly faults: readonly ProcessFault[];
  readonly attentions: readonly Attention[];
  readonly seconds: number;
  readonly creates: number;
  readonly uploads: number;
  /** History events for each row: of the batch's own workflow, and of the row's task. */
  readonly events: { readonly batch: number; readonly task: number };
  readonly memory: string;
  /** What the same file cost when it was run again after the end. */
  readonly again: { readonly seconds: number; readonly creates: number; readonly uploads: number };
  /** What of the promises does not hold; nothing when all of it does. */
  readonly broken: readonly string[];
}

const pollEveryMs = 200;
const attendEveryMs = 2_000;
/** A batch that ends no task for so long hangs; any fault is over long before. */
const stalledAfterMs = 150_000;

/** Runs a batch on real parts of its own while they are killed, then the finished file again. */
export async function runBatchSoak(size: BatchSoakSize, say: (line: string) => void): Promise<BatchSoakReport> {
  const stack = await FaultStack.open();
  const batch = new BatchUnderTest(stack, size.rows);
  try {
    return await new BatchSoak(stack, batch, size, say).run();
  } finally {
    await batch.stop();
    await stack.close();
  }
}

class BatchSoak {
  readonly #stack: FaultStack;
  readonly #batch: BatchUnderTest;
  readonly #size: BatchSoakSize;
  readonly #say: (line: string) => void;
  readonly #beganAtMs = performance.now();
  readonly #faults: ProcessFault[] = [];
  readonly #attentions: Attention[] = [];
  readonly #broken: string[] = [];
  #isOver = false;
  #hasStalled = false;

  constructor(stack: FaultStack, batch: BatchUnderTest, size: BatchSoakSize, say: (line: string) => void) {
    this.#stack = stack;
    this.#batch = batch;
    this.#size = size;
    this.#say = say;
  }

  async run(): Promise<BatchSoakReport> {
    const stack = this.#stack;
    const batch = this.#batch;
    const size = this.#size;
    const memory = new MemoryWatch({ worker: () => stack.workerPid, Temporal: () => stack.temporal.pid });
    const beganAtMs = performance.now();
    await batch.startCommand();
    const watching = Promise.all([this.#attendToTheEnd(), this.#watchForStall()]);
    for (const { fault, atCreates } of plannedFaults(size)) {
      await this.#whenCreated(atCreates);
      await this.#inject(fault);
    }
    await this.#endOfCommand();
    this.#isOver = true;
    await watching;
    const seconds = (performance.now() - beganAtMs) / 1_000;
    this.#tell('the batch is over');
    await memory.stop();
    this.#broken.push(...(await brokenPromisesOfBatch(stack, batch)));
    const { creates, uploads } = batch;
    const events = await this.#eventsARow();
    const again = this.#hasStalled ? { seconds: 0, creates: 0, uploads: 0 } : await this.#runAgain();
    return {
      ...{ size, seconds, creates, uploads, events, again },
      faults: this.#faults,
      attentions: this.#attentions,
      broken: this.#broken,
      memory: memory.toString(),
    };
  }

  async #eventsARow(): Promise<BatchSoakReport['events']> {
    const { client } = this.#stack.parts;
    const { workflowId, rows } = this.#batch;
    const lengths = await historyLengthsOf(client, workflowId);
    return { batch: sum(lengths) / rows, task: sum(await this.#batch.historyLengthsOfTasks()) / rows };
  }

  /** The finished file costs nothing, and leaves the same results. */
  async #runAgain(): Promise<BatchSoakReport['again']> {
    const stack = this.#stack;
    const batch = this.#batch;
    const before = { ...resultsOf(stack, batch), creates: batch.creates, uploads: batch.uploads };
    const beganAtMs = performance.now();
    await batch.startCommand();
    await this.#endOfCommand();
    const seconds = (performance.now() - beganAtMs) / 1_000;
    const after = resultsOf(stack, batch);
    if (after.jsonl !== before.jsonl) this.#broken.push('run again, results.jsonl is another');
    if (after.csv !== before.csv) this.#broken.push('run again, results.csv is another');
    const again = { seconds, creates: batch.creates - before.creates, uploads: batch.uploads - before.uploads };
    if (again.creates > 0) this.#broken.push(`run again, ${again.creates} creates`);
    if (again.uploads > 0) this.#broken.push(`run again, ${again.uploads} uploads`);
    return again;
  }

  async #endOfCommand(): Promise<void> {
    const end = this.#batch.commandEnd();
    while (this.#batch.isCommandRunning && !this.#hasStalled) await delay(pollEveryMs);
    if (this.#hasStalled) return;
    const { code, signal, output } = await end;
    if (code !== 0) this.#broken.push(`the command ended with ${signal ?? `code ${String(code)}`}: ${output}`);
  }

  /** Ends the soak when no task has ended for a long time, having told what those that run wait for. */
  async #watchForStall(): Promise<void> {
    let sinceMs = performance.now();
    let running = Infinity;
    while (!this.#isOver && !this.#hasStalled) {
      await delay(attendEveryMs);
      const before = running;
      running = await this.#batch.runningTasks().catch(() => before);
      if (running !== before) sinceMs = performance.now();
      if (performance.now() - sinceMs < stalledAfterMs) continue;
      this.#broken.push(...(await this.#batch.whatRunningTasksWaitFor()));
      this.#hasStalled = true;
    }
  }

  /** By then so many rows are paid; a batch that ended before that is over. */
  async #whenCreated(creates: number): Promise<void> {
    while (this.#batch.creates < creates && this.#batch.isCommandRunning && !this.#hasStalled) await delay(pollEveryMs);
  }

  async #inject(fault: ProcessFault): Promise<void> {
    const stack = this.#stack;
    const batch = this.#batch;
    if (this.#hasStalled) return;
    if (!batch.isCommandRunning) {
      this.#broken.push(`the batch was over before: ${fault}`);
      return;
    }
    this.#faults.push(fault);
    this.#tell(`${fault} after ${batch.creates} creates`);
    switch (fault) {
      case 'worker killed':
        await stack.killWorkerAndStartAgain();
        break;
      case 'command killed':
        await batch.killCommand();
        await batch.startCommand();
        break;
      case 'Temporal killed':
        await stack.killTemporalAndStartAgain();
        break;
    }
  }

  /** A person who looks for rows that wait for one, now and then. */
  async #attendToTheEnd(): Promise<void> {
    while (!this.#isOver) {
      await delay(attendEveryMs);
      try {
        await this.#batch.attend((attention, workflowId) => {
          this.#attentions.push(attention);
          this.#tell(`a person lets ${workflowId} ${attention}`);
        });
      } catch {
        // Temporal or the worker is away: the person looks again.
      }
    }
  }

  #tell(what: string): void {
    this.#say(`${((performance.now() - this.#beganAtMs) / 1_000).toFixed(1).padStart(6)} s  ${what}`);
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

interface PlannedFault {
  readonly fault: ProcessFault;
  /** It happens when so many creates were sent. */
  readonly atCreates: number;
}

/** Each kind spread evenly over the batch. */
function plannedFaults({ rows, workerKills, cliKills, temporalRestarts }: BatchSoakSize): PlannedFault[] {
  const spread = (fault: ProcessFault, times: number): PlannedFault[] =>
    Array.from({ length: times }, (_, index) => ({ fault, atCreates: Math.round((rows * (index + 0.5)) / times) }));
  return [
    ...spread('worker killed', workerKills),
    ...spread('command killed', cliKills),
    ...spread('Temporal killed', temporalRestarts),
  ].sort((one, other) => one.atCreates - other.atCreates);
}
