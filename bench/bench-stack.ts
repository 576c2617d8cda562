import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { startReferenceStack } from '../tools/reference-stack';
import { longhaulCommand } from '../tools/source-command';
import { serverEnvironment } from '../tools/start-server';
import { supervise, type SupervisedProcess } from '../tools/supervise';
import { startTemporal } from '../tools/temporal-server';

const READY_WITHIN_MS = 300_000;
const ANY_RATE = '10000';

/** Every real part that a benchmark works on. */
export interface BenchStack {
  readonly client: Client;
  readonly service: Awaited<ReturnType<typeof startReferenceStack>>;
  readonly temporalPid: number;
  /** Of Temporal, for Prometheus. */
  readonly metricsUrl: string;
  readonly worker: SupervisedProcess;
  /** For commands. */
  readonly env: NodeJS.ProcessEnv;
  /** The worker reads inputs here; removed at the end. */
  readonly folder: string;
}

/**
 * A file-backed dev server of Temporal, one worker (from the sources unless `longhaul` is another command), and the reference service in this process, so that it can be asked
 * to the millisecond what happened.
 */
export async function withBenchStack(
  slots: number,
  during: (stack: BenchStack) => Promise<void>,
  workerEnv: NodeJS.ProcessEnv = {},
  longhaul: (args: readonly string[]) => { readonly command: string; readonly args: string[] } = longhaulCommand,
): Promise<void> {
  const undo: (() => Promise<unknown>)[] = [];
  try {
    const folder = await mkdtemp(join(tmpdir(), 'longhaul-bench-'));
    undo.push(() => rm(folder, { recursive: true, force: true }));
    const temporal = await startTemporal({ dataFile: join(folder, 'temporal.db') });
    undo.push(() => temporal.stop());
    const { pid: temporalPid, metricsUrl } = temporal;
    if (temporalPid === undefined || metricsUrl === undefined)
      throw new Error('Unset TEMPORAL_ADDRESS: the benchmark measures a server of its own.');
    const service = await startReferenceStack({ slots, ledgerEntriesPerEndpoint: 1_000_000 });
    undo.push(() => service.stop());
    const env = {
      ...serverEnvironment(),
      TEMPORAL_ADDRESS: temporal.address,
      LONGHAUL_SERVICE_URL: service.url,
      LONGHAUL_API_KEY: service.apiKey,
      LONGHAUL_ARCHIVE: join(folder, 'archive'),
      LONGHAUL_INPUT_ROOTS: folder,
      LONGHAUL_CREATES_PER_SECOND: ANY_RATE,
      LONGHAUL_POLLS_PER_SECOND: ANY_RATE,
      LONGHAUL_LOG_LEVEL: 'info',
    };
    const worker = await supervise({
      ...longhaul(['worker']),
      env: { ...env, ...workerEnv },
      graceMs: 90_000,
    });
    undo.push(() => worker.stop());
    await whenStarted(worker);
    const connection = await Connection.connect({ address: temporal.address });
    undo.push(() => connection.close());
    const client = new Client({ connection });
    await during({ client, service, temporalPid, metricsUrl, worker, env, folder });
  } finally {
    for (const step of undo.reverse()) await step();
  }
}

/** Waits until a worker polls, whichever it is. */
export async function whenStarted(worker: SupervisedProcess): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS;
  while (!worker.output().includes('worker started')) {
    if (!worker.isRunning() || Date.now() > deadline) throw new Error(`The worker did not start:\n${worker.output()}`);
    await delay(100);
  }
}
