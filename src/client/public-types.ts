import type { BatchHandle as TemporalBatchHandle } from './batch/batch-handle';
import { Longhaul as TemporalLonghaul, type LonghaulClientOptions, type LonghaulConnectOptions } from './longhaul';
import type { Sweeps as TemporalSweeps } from './sweeps';
import type { TaskHandle as TemporalTaskHandle } from './task/task-handle';

// What the library shows of the client's classes: no private members, so that an object literal can be one.

/** How a person settles a task that waits for one. */
type Decision = 'adopt' | 'recreate' | 'abandon' | 'rearchive';

/** Made by `Longhaul`; holds no connection of its own and nothing to close. */
export type TaskHandle = Omit<TemporalTaskHandle, Decision>;

/** Made by `Longhaul`; holds no connection of its own and nothing to close. */
export type BatchHandle = Omit<TemporalBatchHandle, never>;

type Shown<Value> = Value extends TemporalTaskHandle
  ? TaskHandle
  : Value extends TemporalBatchHandle
    ? BatchHandle
    : Value;
type ShownMethod<Method> = Method extends (...given: infer Given) => infer Answer
  ? (...given: Given) => Answer extends Promise<infer Value> ? Promise<Shown<Value>> : Shown<Answer>
  : Method;

/** Starts tasks and batches, and follows them: see `Longhaul.connect`. */
export type Longhaul = {
  readonly [Name in Exclude<keyof TemporalLonghaul, 'dailyBudget' | 'sweeps'>]: ShownMethod<TemporalLonghaul[Name]>;
};

interface LonghaulClass {
  new (options: LonghaulClientOptions): Longhaul;
  /**
   * Connects as Temporal's own tools do (`TEMPORAL_*`, `temporal.toml`), encrypts payloads by
   * `LONGHAUL_CODEC_KEYS_FILE`, and continues OpenTelemetry's active trace where `LONGHAUL_TRACES_OTLP_URL` is set.
   * Throws `ConfigError`, `TemporalUnreachableError` or `TemporalRefusedError`.
   */
  connect(options?: LonghaulConnectOptions): Promise<Longhaul>;
}
/** Starts tasks and batches, and follows them. Needs Temporal only: no access to the service or the storage. */
export const Longhaul: LonghaulClass = TemporalLonghaul;

/** The scheduled sweeps of these workers: what was paid for and is not safe. */
export type Sweeps = Omit<TemporalSweeps, never>;

/** What an operator does beside what a backend does: see `asOperator`. */
export interface Operator extends Pick<TemporalLonghaul, 'dailyBudget'> {
  readonly sweeps: Sweeps;
  /** By key or workflow id, also a row of a batch: what settles a task that waits for a person. */
  task(idOrKey: string): Pick<TemporalTaskHandle, Decision | 'workflowId'>;
}
