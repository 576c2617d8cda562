import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger, type WorkerOptions } from '@temporalio/worker';
import { encodesFailures } from './contract/encryption';
import { traceSampleRatio } from './contract/traces';

export interface WorkflowSources {
  readonly workflowsPath: string;
  readonly payloadConverterPath: string;
  readonly failureConverterPath: string;
  readonly preloadModules: string[];
  readonly workflowInterceptorModules: string[];
}

/** A bundle as `Worker.create` takes it. */
export type WorkflowBundle = NonNullable<WorkerOptions['workflowBundle']>;

/**
 * A thread evaluates these modules once, for all its workflows: they keep no state (decision 33).
 * @param folder - of the sources, or of what the build made of them.
 */
export function workflowSources(folder: string = __dirname): WorkflowSources {
  const workflowsPath = require.resolve(join(folder, 'workflows'));
  const converters = require.resolve(join(folder, 'workflows/converters'));
  const replays = require.resolve(join(folder, 'workflows/replay-interceptor'));
  return {
    workflowsPath,
    payloadConverterPath: converters,
    failureConverterPath: converters,
    preloadModules: [workflowsPath, converters, replays],
    workflowInterceptorModules: [replays],
  };
}

/** The same with the interceptors of traces: what a worker without traces does not load. */
export function tracedWorkflowSources(folder: string = __dirname): WorkflowSources {
  const sources = workflowSources(folder);
  const traces = require.resolve(join(folder, 'workflows/trace-interceptors'));
  return { ...sources, workflowInterceptorModules: [...sources.workflowInterceptorModules, traces] };
}

export const bundleFiles = { plain: 'workflow-bundle.js', traced: 'workflow-bundle-with-traces.js' } as const;

/** The build's, or one of the sources when there is none beside this file. */
export async function openWorkflowBundle(kind: keyof typeof bundleFiles = 'plain'): Promise<WorkflowBundle> {
  const codePath = join(__dirname, bundleFiles[kind]);
  if (existsSync(codePath)) return { codePath };
  const sources = kind === 'plain' ? workflowSources() : tracedWorkflowSources();
  return await bundleWorkflowCode({ ...sources, logger: new DefaultLogger('WARN') });
}

/** For a worker that encrypts: a global tells the converter, on the first line, so that lines keep their numbers. */
export async function encodeFailures(bundle: WorkflowBundle): Promise<WorkflowBundle> {
  return await withGlobal(bundle, encodesFailures, 'true');
}

/** The bundle with traces: a global tells it which part of the traces that begin in it is recorded. */
export async function sampleTraces(bundle: WorkflowBundle, ratio: number): Promise<WorkflowBundle> {
  return await withGlobal(bundle, traceSampleRatio, String(ratio));
}

async function withGlobal(bundle: WorkflowBundle, name: string, value: string): Promise<WorkflowBundle> {
  const code = 'code' in bundle ? bundle.code : await readFile(bundle.codePath, 'utf8');
  return { code: `globalThis.${name} = ${value};${code}` };
}
