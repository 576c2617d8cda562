import { open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { findExecutable, isExecutable } from './find-executable';
import { goBuildPhase, goFailure, goFailureKind } from './go-build-log';
import { readPin } from './go-tool';
import type { GoTool } from './go-tool';
import { createProgress } from './progress';
import type { Progress } from './progress';
import { supervise } from './supervise';
import { cachedToolPath } from './tool-cache';
import { ToolError } from './tool-error';
import { withToolLock } from './tool-lock';

/** Surroundings of a build. */
export interface InstallOptions {
  /** @default process.env */
  readonly env?: NodeJS.ProcessEnv;
  /** @default on standard error */
  readonly progress?: Progress;
  /** Age from which the lock of a dead build is taken over. @default 10000 */
  readonly lockStaleMs?: number;
}

/**
 * Makes sure that the tool is in the cache and returns its path. Safe to run any number of times at once: one process
 * builds, the others wait for it. A binary appears under its name only when it is whole and on disk, so that what an
 * interrupted build leaves is never taken for one. Throws a `ToolError` that says what to install.
 */
export async function buildGoTool(tool: GoTool, options: InstallOptions = {}): Promise<string> {
  const { env = process.env, progress = createProgress(), lockStaleMs } = options;
  const path = cachedToolPath(tool, env);
  if (isExecutable(path)) return path;
  return withToolLock(path, { progress, ...(lockStaleMs && { staleMs: lockStaleMs }) }, async () => {
    if (isExecutable(path)) return path;
    await removeLeftovers(path);
    const partial = `${path}.partial-${process.pid}-${Date.now()}`;
    try {
      await goBuild(tool, partial, env, progress);
      await publish(partial, path);
    } finally {
      await rm(partial, { force: true });
    }
    return path;
  });
}

async function goBuild(tool: GoTool, output: string, env: NodeJS.ProcessEnv, progress: Progress): Promise<void> {
  const go = findExecutable('go', env);
  const { version, goVersion } = readPin(tool);
  if (!go) {
    throw new ToolError(
      `${tool.name} ${version} has to be built once and that needs Go ${goVersion} or newer, which is not on PATH.\n` +
        `Install it from https://go.dev/dl/${otherwise(tool)}`,
    );
  }
  progress.say(`Building ${tool.name} ${version} with Go, once: no usable one is on PATH or in ${dirname(output)}.`);
  progress.say(`A first build takes about ${tool.expectedMinutes} minutes on two cores.`);
  const build = await supervise({
    command: go,
    args: [
      'build',
      '-v',
      '-mod=readonly',
      '-buildvcs=false',
      '-trimpath',
      '-ldflags=-s -w',
      '-o',
      output,
      tool.goPackage,
    ],
    cwd: tool.moduleDir,
    env: buildEnvironment(env),
  });
  const { code } = await progress.during(`Building ${tool.name}`, () => goBuildPhase(build.output()), build.ended);
  if (code !== 0) throw buildError(tool, build.output());
}

/**
 * The program is for this machine and from the pinned module alone, whatever the user's Go is set to. Every module is
 * checked against the hash in `go.sum`, which `-mod=readonly` never adds to.
 */
function buildEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...env, CGO_ENABLED: '0', GOWORK: 'off', GOOS: undefined, GOARCH: undefined };
}

function buildError(tool: GoTool, log: string): ToolError {
  const { version, goVersion } = readPin(tool);
  const remedies = {
    'go-too-old': `Install Go ${goVersion} or newer from https://go.dev/dl/`,
    offline: 'Go did not reach its module proxy. Connect to the network, or set GOPROXY to a proxy that is reached',
    'disk-full': 'Free some space: building the tools takes about 4 GB',
    other: `Make \`go build ${tool.goPackage}\` work in ${tool.moduleDir}`,
  };
  const remedy = remedies[goFailureKind(log)];
  return new ToolError(`${tool.name} ${version} could not be built:\n${goFailure(log)}\n${remedy}${otherwise(tool)}`);
}

function otherwise(tool: GoTool): string {
  return tool.alternative === undefined ? '.' : `. Otherwise ${tool.alternative}.`;
}

async function removeLeftovers(path: string): Promise<void> {
  const prefix = `${basename(path)}.partial-`;
  const names = await readdir(dirname(path));
  await Promise.all(
    names.filter((name) => name.startsWith(prefix)).map((name) => rm(join(dirname(path), name), { recursive: true })),
  );
}

async function publish(partial: string, path: string): Promise<void> {
  const file = await open(partial, 'r+');
  await file.sync();
  await file.close();
  await rename(partial, path);
}
