import { parseArgs } from 'node:util';
import type { WatchWay } from '../src/contract/task-input';
import { errorMessage } from '../src/core/text';
import { withBenchStack } from './bench-stack';
import { Latencies } from './latencies';
import { mebibytes, ProcessMeter } from './process-use';
import { WatchedTasks } from './watched-tasks';

const USAGE = `Usage: npm run bench:watch -- [options]

Runs tasks that all run at once on real parts (Temporal's dev server, the reference service, one worker), and prints how
soon their ends are noticed and what the watch costs.

  --tasks NUMBER     how many (default: 2000)
  --seconds NUMBER   how long each runs (default: 60)
  --every NUMBER     seconds between two queries for a task's state (default: 2)
  --watch WAY        activity or timer (default: activity)
  --help             show this text

Exit code: 0 when every task ended as Success, all archived; 1 otherwise.
`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      tasks: { type: 'string', default: '2000' },
      seconds: { type: 'string', default: '60' },
      every: { type: 'string', default: '2' },
      watch: { type: 'string', default: 'activity' },
      help: { type: 'boolean', default: false },
    },
  });
  const [tasks = 0, seconds = 0, every = 0] = [values.tasks, values.seconds, values.every].map(Number);
  const isUsable = Number.isInteger(tasks) && tasks > 0 && seconds > 0 && every > 0 && isWay(values.watch);
  if (values.help || !isUsable) {
    process.stdout.write(USAGE);
    process.exitCode = values.help ? 0 : 1;
    return;
  }
  await withBenchStack(tasks, async ({ client, service, temporalPid, worker }) => {
    const meters = { worker: new ProcessMeter(worker.pid), temporal: new ProcessMeter(temporalPid) };
    await Promise.all([meters.worker.start(), meters.temporal.start()]);
    const load = new WatchedTasks(client, { seconds, pollMs: every * 1_000, watch: values.watch as WatchWay });
    const startedAtMs = performance.now();
    process.stderr.write(`starting ${tasks} tasks\n`);
    await load.start(tasks);
    process.stderr.write(`started after ${inSeconds(performance.now() - startedAtMs)}, waiting for their ends\n`);
    await load.whenAllAreOver();
    const tookMs = performance.now() - startedAtMs;
    const [workerUse, temporalUse] = await Promise.all([meters.worker.stop(), meters.temporal.stop()]);
    process.stderr.write('reading the histories\n');
    const { events, statuses, noticedAtMs, begins, takenOver } = await load.read();
    const delays = new Latencies();
    for (const [requestId, atMs] of noticedAtMs) delays.add(atMs - (service.tasks.find(requestId)?.endedAtMs ?? NaN));
    const polls = service.ledger.count({ endpoint: 'detail' });
    const cpuMs = 1_000 * (workerUse.cpuSeconds + temporalUse.cpuSeconds);
    process.stdout.write(
      [
        `tasks            ${tasks} of ${seconds} s, queried every ${every} s, watched by ${values.watch}`,
        `ends             ${[...statuses].map(([status, count]) => `${count} ${status}`).join(', ')}`,
        `creates          ${service.ledger.count({ endpoint: 'create' })}`,
        `took             ${inSeconds(tookMs)} from the first start to the last end`,
        `end to notice    ${delays.count === 0 ? 'told by the watch by activity only' : delays.toString()}`,
        `watches          begun after ${begins.toString()}`,
        ...[...takenOver].map(([why, times]) => `  ${times} anew after: ${why}`),
        `events a task    ${events.toString().replace(/ ms$/, '')}`,
        `queries          ${polls}, ${(polls / (tookMs / 1_000)).toFixed(0)} a second`,
        `worker           ${workerUse.cpuSeconds} s of CPU; memory idle ${mebibytes(workerUse.idleBytes)}, at most ${mebibytes(workerUse.mostBytes)}`,
        `Temporal         ${temporalUse.cpuSeconds} s of CPU; memory idle ${mebibytes(temporalUse.idleBytes)}, at most ${mebibytes(temporalUse.mostBytes)}`,
        `CPU              ${(cpuMs / tasks).toFixed(0)} ms a task, ${(cpuMs / polls).toFixed(1)} ms a query, both together`,
        '',
      ].join('\n'),
    );
    process.exitCode = statuses.get('Success') === tasks ? 0 : 1;
  });
}

function isWay(text: string): text is WatchWay {
  return text === 'activity' || text === 'timer';
}

function inSeconds(durationMs: number): string {
  return `${(durationMs / 1_000).toFixed(1)} s`;
}

main().catch((error: unknown) => {
  process.stderr.write(`${errorMessage(error)}\n`);
  process.exitCode = 1;
});
