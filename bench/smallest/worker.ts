// Program: the worker of the smallest workflow. It gets what it needs by its environment.
import { NativeConnection, Runtime, Worker, DefaultLogger } from '@temporalio/worker';
import { smallestActivities } from './activities';

async function main(): Promise<void> {
  const {
    TEMPORAL_ADDRESS: address = '',
    SMALLEST_BUNDLE: codePath = '',
    SMALLEST_SERVICE: url = '',
    SMALLEST_API_KEY: apiKey = '',
    SMALLEST_FOLDER: folder = '',
  } = process.env;
  Runtime.install({ logger: new DefaultLogger('WARN') });
  const connection = await NativeConnection.connect({ address });
  const worker = await Worker.create({
    connection,
    taskQueue: 'smallest',
    workflowBundle: { codePath },
    activities: { ...smallestActivities(url, apiKey, folder) },
    // As many as Longhaul's worker has.
    maxConcurrentActivityTaskExecutions: 5_000,
    maxConcurrentWorkflowTaskExecutions: 120,
    maxCachedWorkflows: 500,
  });
  process.once('SIGTERM', () => {
    worker.shutdown();
  });
  process.stdout.write('worker started\n');
  await worker.run();
  await connection.close();
}

main().catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
});
