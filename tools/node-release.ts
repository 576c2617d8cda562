import { execFile } from 'node:child_process';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { isExecutable } from './find-executable';
import { createProgress } from './progress';
import { toolCacheDir } from './tool-cache';
import { ToolError } from './tool-error';
import { withToolLock } from './tool-lock';

const execute = promisify(execFile);
const downloadTimeoutMs = 300_000;

/** A release of Node, as the npm registry carries it for Linux. */
export interface NodeRelease {
  readonly version: string;
  /** Of the package, by the machine's architecture. */
  readonly integrity: Readonly<Record<string, string>>;
}

/** The releases that Longhaul is tested on beside the oldest that it supports, which `.nvmrc` names. */
export const nodeReleases: readonly NodeRelease[] = [
  {
    version: '22.23.3',
    integrity: {
      x64: 'sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
      arm64: 'sha512-l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA==',
    },
  },
  {
    version: '24.21.0',
    integrity: {
      x64: 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
      arm64: 'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
    },
  },
];

const packedSchema = z.array(z.object({ filename: z.string(), integrity: z.string() })).length(1);

/** The program of a release, from the tool cache or else from the npm registry. Throws a `ToolError`. */
export async function findNodeRelease({ version, integrity }: NodeRelease): Promise<string> {
  const expected = integrity[process.arch];
  if (process.platform !== 'linux' || expected === undefined) {
    throw new ToolError(
      `Node ${version} is tested on Linux with x64 or arm64; this is ${process.platform}, ${process.arch}.`,
    );
  }
  const path = join(toolCacheDir(), `node-v${version}-linux-${process.arch}`);
  if (isExecutable(path)) return path;
  const progress = createProgress();
  return await withToolLock(path, { progress }, async () => {
    if (isExecutable(path)) return path;
    const folder = await mkdtemp(`${path}.partial-`);
    try {
      const program = download(`node-linux-${process.arch}@${version}`, expected, folder);
      await rename(
        await progress.during(`Fetching Node ${version}, once`, () => 'from the npm registry', program),
        path,
      );
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    return path;
  });
}

async function download(name: string, integrity: string, folder: string): Promise<string> {
  const options = { cwd: folder, timeout: downloadTimeoutMs };
  try {
    const { stdout } = await execute('npm', ['pack', name, '--json'], options);
    const [packed] = packedSchema.parse(JSON.parse(stdout));
    if (packed?.integrity !== integrity) throw new Error(`its hash is ${packed?.integrity}, not ${integrity}`);
    await execute('tar', ['-xzf', packed.filename, 'package/bin/node'], options);
    return join(folder, 'package/bin/node');
  } catch (error) {
    throw new ToolError(`${name} could not be fetched. Is the npm registry reached?`, { cause: error });
  }
}
