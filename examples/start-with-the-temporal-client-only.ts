/*
 * Starts one task with nothing but Temporal's own client, as any of its SDKs can: the workflow `task` on the task queue
 * `longhaul`, one plain JSON object as its input. What Longhaul's client adds is the comparison of inputs under one key;
 * here the policies alone make sure that a key is never used twice. A second run attaches to the task, running or over,
 * whatever its input is.
 *
 *   npx tsx examples/start-with-the-temporal-client-only.ts 4711 /srv/photos/cat.jpg
 */
import {
  Client,
  Connection,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  type WorkflowHandle,
} from '@temporalio/client';

async function main(app: string, photo: string): Promise<void> {
  const connection = await Connection.connect({ address: process.env['TEMPORAL_ADDRESS'] ?? 'localhost:7233' });
  try {
    const client = new Client({ connection, namespace: process.env['TEMPORAL_NAMESPACE'] ?? 'default' });
    const handle = await startOrAttach(client, `task:plain-${app}-cat`, {
      webAppId: Number(app),
      inputs: { '1:LoadImage.image': { file: photo }, '2:ImageScale.width': 512 },
    });
    // The status query answers at any moment; `cancel`, `interrupt` and Temporal's cancellation end the task.
    console.log(await handle.query('status'));
    console.log(await handle.result());
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    // An ApplicationFailure with one of the types in docs/reference/errors.md.
    console.error(error.cause);
    process.exitCode = 1;
  } finally {
    await connection.close();
  }
}

async function startOrAttach(client: Client, workflowId: string, input: object): Promise<WorkflowHandle> {
  try {
    return await client.workflow.start('task', {
      taskQueue: 'longhaul',
      workflowId,
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      workflowIdConflictPolicy: 'USE_EXISTING',
      args: [input],
    });
  } catch (error) {
    // It is over: its result is there.
    if (error instanceof WorkflowExecutionAlreadyStartedError) return client.workflow.getHandle(workflowId);
    throw error;
  }
}

const [app, photo] = process.argv.slice(2);
if (app === undefined || photo === undefined) throw new Error('Give an app and a photo.');
void main(app, photo);
