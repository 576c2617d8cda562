import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { workflowSources } from '../../src/workflow-sources';

/** A bundle in a file, as `Worker.create` takes it. */
export interface BundleFile {
  readonly codePath: string;
}

const variable = 'LONGHAUL_TEST_WORKFLOW_BUNDLE';

/** The bundle of the sources that all suites of a run share, or one made now where no global setup made it. */
export async function workflowBundle(): Promise<BundleFile | WorkflowBundleWithSourceMap> {
  const codePath = process.env[variable];
  return codePath === undefined ? await bundleQuietly() : { codePath };
}

/** Bundles once for a run; part of jest's global setup. */
export async function shareWorkflowBundle(): Promise<void> {
  const { code } = await bundleQuietly();
  const codePath = join(mkdtempSync(join(tmpdir(), 'longhaul-bundle-')), 'workflow-bundle.js');
  writeFileSync(codePath, code);
  process.env[variable] = codePath;
}

/** Undoes `shareWorkflowBundle`. */
export function removeWorkflowBundle(): void {
  const codePath = process.env[variable];
  if (codePath !== undefined) rmSync(dirname(codePath), { recursive: true, force: true });
}

async function bundleQuietly(): Promise<WorkflowBundleWithSourceMap> {
  return await bundleWorkflowCode({ ...workflowSources(), logger: new DefaultLogger('WARN') });
}
