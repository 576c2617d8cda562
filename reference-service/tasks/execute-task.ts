import { runGraph } from '../apps/run-graph';
import type { Semaphore } from '../apps/semaphore';
import type { NodeContext, NodeOutput } from '../nodes/node-class';
import { findScenario } from '../scenarios/scenario';
import type { ObjectStore } from '../storage/object-store';
import { dateFolder } from '../timestamp';
import type { ExecuteTask } from './scheduler';
import type { Task } from './task';

/** Runs tasks on the service's storage; `places` bounds how many nodes compute at once. */
export function createExecutor(store: ObjectStore, places: Semaphore): ExecuteTask {
  return async (task) => {
    const context: NodeContext = {
      signal: task.abort.signal,
      readInput: (objectKey) => store.read(objectKey, task.abort.signal),
      saveOutput: (output) => saveOutput(store, task, output),
    };
    const failure = findScenario(task.request.scenarios, 'fail');
    if (failure !== undefined) throw new Error(failure.message);
    await runGraph(task.request.graph, context, places);
  };
}

async function saveOutput(store: ObjectStore, task: Task, output: NodeOutput): Promise<void> {
  if (output.isPreview && task.request.suppressesPreviews) return;
  const number = String(task.outputs.length + 1).padStart(5, '0');
  const name = `${output.prefix.replace(/[^A-Za-z0-9._-]/g, '_')}_${number}${output.ext}`;
  const objectKey = `outputs/${dateFolder(new Date(task.createdAtMs))}/${task.requestId}/${name}`;
  if ('copyOf' in output.content) await store.copy(output.content.copyOf, objectKey);
  else await store.write(objectKey, output.content.bytes, output.content.contentType);
  task.outputs.push({
    objectKey,
    ext: output.ext,
    costTimeMs: Date.now() - (task.executedAtMs ?? task.createdAtMs),
    isPreview: output.isPreview,
  });
}
