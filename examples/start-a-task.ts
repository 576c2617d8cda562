/*
 * Starts one task from a backend and waits for its archived outputs. It needs Temporal only (TEMPORAL_ADDRESS) and a
 * worker that is running; the photo must lie where that worker may read it.
 *
 * A second run finds the task and prints its result; with another photo it is refused, since the key has another input.
 *
 *   npx tsx examples/start-a-task.ts 4711 /srv/photos/cat.jpg
 */
import { Longhaul, LonghaulError, TaskFailedError } from '../src';

async function main(app: string, photo: string): Promise<void> {
  const longhaul = await Longhaul.connect();
  try {
    // The key makes this start repeatable: after a crash, the same call finds the task instead of paying for another.
    const task = await longhaul.start({
      key: `scale-${app}-cat`,
      webAppId: Number(app),
      inputs: { '1:LoadImage.image': { file: photo }, '2:ImageScale.width': 512 },
      deadlines: { total: '2h' },
    });
    console.log(`${task.origin === 'started' ? 'started' : 'found'} ${task.workflowId}`);

    const result = await task.result();
    for (const output of result.outputs) console.log(`${output.path}  ${output.sha256}`);
  } catch (error) {
    if (!(error instanceof LonghaulError)) throw error;
    const name = error instanceof TaskFailedError ? error.failureType : error.name; // InputChangedError, say
    console.error(`${name}: ${error.message}`);
    process.exitCode = 1;
  } finally {
    await longhaul.close();
  }
}

const [app, photo] = process.argv.slice(2);
if (app === undefined || photo === undefined) throw new Error('Give an app and a photo.');
void main(app, photo);
