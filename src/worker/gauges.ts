import type { MetricMeter } from '@temporalio/common';
import { metrics, setGauge } from '../contract/metrics';
import { type FindingKind, findingKinds } from '../core/reconcile';

interface LimiterState {
  readonly isHoldingBack: boolean;
  readonly cause: 'account' | 'service' | null;
  readonly waiting: number;
}

/** What is read when gauges are sampled. */
export interface GaugeSources {
  /** How the creates of each account stand in this process. */
  readonly creates: () => Iterable<readonly [account: string, state: LimiterState]>;
  /** How many tasks of the namespace wait for a decision, by status. */
  readonly waitingForPerson: () => Promise<Readonly<Record<string, number>>>;
  /** How many batches of the namespace have reached their budget. */
  readonly batchesAtBudget: () => Promise<number>;
  /** What the last scheduled sweep found, by kind, and when the next is due (ISO-8601); null where none is scheduled. */
  readonly sweep: () => Promise<{
    readonly unsafe: Readonly<Partial<Record<FindingKind, number>>>;
    readonly dueAt: string | null;
  } | null>;
  /** How many tasks of each account are not archived and expire soon. */
  readonly expiring: () => Promise<Readonly<Record<string, number>>>;
}

/** How often limits are read, and how often Temporal is asked: a few requests of every worker. */
const limitsEveryMs = 5_000;
const namespaceEveryMs = 60_000;

/** Keeps the gauges of a process as they are, until it is stopped. What cannot be read keeps its last value. */
export function sampleGauges(meter: MetricMeter, sources: GaugeSources, onError: (error: unknown) => void): () => void {
  const readLimits = (): void => {
    for (const [account, { isHoldingBack, cause: known, waiting }] of sources.creates()) {
      for (const cause of ['account', 'service'] as const) {
        setGauge(meter, metrics.limiterClosed, { account, cause }, isHoldingBack && known === cause ? 1 : 0);
      }
      setGauge(meter, metrics.createsHeldBack, { account }, waiting);
    }
  };
  let isAsking = false;
  const readNamespace = async (): Promise<void> => {
    if (isAsking) return;
    isAsking = true;
    try {
      for (const [status, tasks] of Object.entries(await sources.waitingForPerson())) {
        setGauge(meter, metrics.waitForPerson, { status }, tasks);
      }
      setGauge(meter, metrics.batchesAtBudget, {}, await sources.batchesAtBudget());
      for (const [account, tasks] of Object.entries(await sources.expiring())) {
        setGauge(meter, metrics.expiring, { account }, tasks);
      }
      const sweep = await sources.sweep();
      for (const kind of findingKinds) setGauge(meter, metrics.notSafe, { kind }, sweep?.unsafe[kind] ?? 0);
      const dueMs = Date.parse(sweep?.dueAt ?? '') || 0;
      setGauge(meter, metrics.sweepDue, {}, Math.floor(dueMs / 1_000));
    } catch (error) {
      onError(error);
    } finally {
      isAsking = false;
    }
  };
  readLimits();
  void readNamespace();
  const timers = [setInterval(readLimits, limitsEveryMs), setInterval(() => void readNamespace(), namespaceEveryMs)];
  for (const timer of timers) timer.unref();
  return () => {
    for (const timer of timers) clearInterval(timer);
  };
}
