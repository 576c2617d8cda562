import { setTimeout as delay } from 'node:timers/promises';
import { historyLengthsOf } from '../../support/history-lengths';
import { FaultStack } from '../fault-stack';
import type { Attention } from '../soak/attend';
import { brokenPromisesOfBatch, resultsOf } from './batch-promises';
import { BatchUnderFire } from './batch-under-fire';
import { MemoryWatch } from './memory-watch';

/** How large a soak of a batch is, and what strikes it. */
export interface BatchSoakSize {
  readonly rows: number;
  readonly workerKills: number;
  readonly cliKills: number;
  readonly temporalRestarts: number;
}

type Strike = 'worker killed' | 'command killed' | 'Temporal killed';

/** What a soak of a batch did, and what came of it. */
export interface BatchSoakReport {
  readonly size: BatchSoakSize;
  /** What struck, in order. */
  readonly strikes: readonly Strike[];
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

/** Runs a batch on real parts of its own while they are killed, then the finished file again. */
export async function runBatchSoak(size: BatchSoakSize, say: (line: string) => void): Promise<BatchSoakReport> {
  const stack = await FaultStack.open();
  const batch = new BatchUnderFire(stack, size.rows);
  try {
    return await new BatchSoak(stack, batch, size, say).run();
  } finally {
    await batch.stop();
    await stack.close();
  }
}

class BatchSoak {
  private readonly stack: FaultStack;
  private readonly batch: BatchUnderFire;
  private readonly size: BatchSoakSize;
  private readonly say: (line: string) => void;
  private readonly beganAtMs = performance.now();
  private readonly strikes: Strike[] = [];
  private readonly attentions: Attention[] = [];
  private readonly broken: string[] = [];
  private isOver = false;

  constructor(stack: FaultStack, batch: BatchUnderFire, size: BatchSoakSize, say: (line: string) => void) {
    this.stack = stack;
    this.batch = batch;
    this.size = size;
    this.say = say;
  }

  async run(): Promise<BatchSoakReport> {
    const { stack, batch, size } = this;
    const memory = new MemoryWatch({ worker: () => stack.workerPid, Temporal: () => stack.temporal.pid });
    const beganAtMs = performance.now();
    await batch.startCommand();
    const attending = this.attendToTheEnd();
    for (const { strike, atCreates } of plannedStrikes(size)) {
      await this.whenCreated(atCreates);
      await this.inflict(strike);
    }
    await this.endOfCommand();
    this.isOver = true;
    await attending;
    const seconds = (performance.now() - beganAtMs) / 1_000;
    this.tell('the batch is over');
    await memory.stop();
    this.broken.push(...(await brokenPromisesOfBatch(stack, batch)));
    const { creates, uploads } = batch;
    const events = await this.eventsARow();
    const again = await this.runAgain();
    const { strikes, attentions, broken } = this;
    return {
      ...{ size, strikes, attentions, seconds, creates, uploads, events, again, broken },
      memory: memory.toString(),
    };
  }

  private async eventsARow(): Promise<BatchSoakReport['events']> {
    const { client } = this.stack.parts;
    const { workflowId, rows } = this.batch;
    const lengths = await historyLengthsOf(client, workflowId);
    return { batch: sum(lengths) / rows, task: sum(await this.batch.historyLengthsOfTasks()) / rows };
  }

  /** The finished file costs nothing, and leaves the same results. */
  private async runAgain(): Promise<BatchSoakReport['again']> {
    const { stack, batch } = this;
    const before = { ...resultsOf(stack, batch), creates: batch.creates, uploads: batch.uploads };
    const beganAtMs = performance.now();
    await batch.startCommand();
    await this.endOfCommand();
    const seconds = (performance.now() - beganAtMs) / 1_000;
    const after = resultsOf(stack, batch);
    if (after.jsonl !== before.jsonl) this.broken.push('run again, results.jsonl is another');
    if (after.csv !== before.csv) this.broken.push('run again, results.csv is another');
    const again = { seconds, creates: batch.creates - before.creates, uploads: batch.uploads - before.uploads };
    if (again.creates > 0) this.broken.push(`run again, ${again.creates} creates`);
    if (again.uploads > 0) this.broken.push(`run again, ${again.uploads} uploads`);
    return again;
  }

  private async endOfCommand(): Promise<void> {
    const { code, signal, output } = await this.batch.commandEnd();
    if (code !== 0) this.broken.push(`the command ended with ${signal ?? `code ${String(code)}`}: ${output}`);
  }

  /** By then so many rows are paid; a batch that ended before that is over. */
  private async whenCreated(creates: number): Promise<void> {
    while (this.batch.creates < creates && this.batch.isCommandRunning) await delay(pollEveryMs);
  }

  private async inflict(strike: Strike): Promise<void> {
    const { stack, batch } = this;
    if (!batch.isCommandRunning) {
      this.broken.push(`the batch was over before: ${strike}`);
      return;
    }
    this.strikes.push(strike);
    this.tell(`${strike} after ${batch.creates} creates`);
    switch (strike) {
      case 'worker killed':
        await stack.killWorker();
        await stack.startWorker();
        break;
      case 'command killed':
        await batch.killCommand();
        await batch.startCommand();
        break;
      case 'Temporal killed':
        await stack.temporal.kill();
        await stack.temporal.startAgain();
        break;
    }
  }

  /** A person who looks for rows that wait for one, now and then. */
  private async attendToTheEnd(): Promise<void> {
    while (!this.isOver) {
      await delay(attendEveryMs);
      try {
        await this.batch.attend((attention, workflowId) => {
          this.attentions.push(attention);
          this.tell(`a person lets ${workflowId} ${attention}`);
        });
      } catch {
        // Temporal or the worker is away: the person looks again.
      }
    }
  }

  private tell(what: string): void {
    this.say(`${((performance.now() - this.beganAtMs) / 1_000).toFixed(1).padStart(6)} s  ${what}`);
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

interface PlannedStrike {
  readonly strike: Strike;
  /** It happens when so many creates were sent. */
  readonly atCreates: number;
}

/** Each kind spread evenly over the batch. */
function plannedStrikes({ rows, workerKills, cliKills, temporalRestarts }: BatchSoakSize): PlannedStrike[] {
  const spread = (strike: Strike, times: number): PlannedStrike[] =>
    Array.from({ length: times }, (_, index) => ({ strike, atCreates: Math.round((rows * (index + 0.5)) / times) }));
  return [
    ...spread('worker killed', workerKills),
    ...spread('command killed', cliKills),
    ...spread('Temporal killed', temporalRestarts),
  ].sort((one, other) => one.atCreates - other.atCreates);
}
