import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger, type WorkerOptions } from '@temporalio/worker';

/** What the workflow bundle is made of; for `bundleWorkflowCode`. */
export interface WorkflowSources {
  readonly workflowsPath: string;
  readonly payloadConverterPath: string;
}

/**
 * The workflows and the payload converter that they are bundled with. Every bundle needs both: without the converter one
 * message that cannot be decoded fails every workflow task of its workflow.
 *
 * @param folder - of the sources, or of what the build made of them.
 */
export function workflowSources(folder: string = __dirname): WorkflowSources {
  return {
    workflowsPath: require.resolve(join(folder, 'workflows')),
    payloadConverterPath: require.resolve(join(folder, 'workflows/payload-converter')),
  };
}

/** The bundle that the build made, or one of the sources when there is none beside this file. */
export async function openWorkflowBundle(): Promise<NonNullable<WorkerOptions['workflowBundle']>> {
  const codePath = join(__dirname, 'workflow-bundle.js');
  if (existsSync(codePath)) return { codePath };
  return await bundleWorkflowCode({ ...workflowSources(), logger: new DefaultLogger('WARN') });
}
