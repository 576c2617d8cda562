import { randomUUID } from 'node:crypto';
import type { SupervisedProcess } from '../../tools/supervise';
import { eventually } from '../support/eventually';
import { ProcessStack } from '../support/process-stack';
import { startRawServer } from '../support/start-raw-server';
import { type ExampleEnd, type Language, runExample } from './language';

/** The reference service's app that hands a file back. */
const courier = 11;

/** Runs a task whose input ends every worker that fetches it; another worker is started each time. */
export async function runPoisonousTask(language: Language): Promise<ExampleEnd> {
  const stack = await ProcessStack.open();
  let starting: Promise<SupervisedProcess> | undefined;
  const kill = async (): Promise<void> => {
    const worker = await starting;
    if (worker?.isRunning() === true) process.kill(worker.pid, 'SIGKILL');
  };
  const poison = await startRawServer({ onFirstBytes: () => void kill() });
  try {
    const inputs = { '1:LoadFile.file': { file: `${poison.url}/film.mp4` } };
    const task = { webAppId: courier, inputs, tuning: { retryMaxMs: 200 } };
    const state = { isOver: false };
    const end = runExample(stack, language, 'start-task', [randomUUID(), JSON.stringify(task)]).finally(() => {
      state.isOver = true;
    });
    while (!state.isOver) {
      starting = stack.startWorker({ ...stack.env, LONGHAUL_INPUT_HOSTS: `127.0.0.1:${poison.port}` });
      const worker = await starting;
      const what = 'the worker or the task to end';
      await eventually(() => state.isOver || !worker.isRunning(), { withinMs: 90_000, what });
    }
    return await end;
  } finally {
    await poison.close();
    await stack.close();
  }
}
