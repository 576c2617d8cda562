import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { buildGoTool } from './build-go-tool';
import { findExecutable, isExecutable } from './find-executable';
import { temporalTool } from './go-tool';
import { createProgress } from './progress';
import type { Progress } from './progress';
import { cachedToolPath } from './tool-cache';
import type { ToolLocation } from './tool-location';

/** The first server whose dev server does all that Longhaul needs. */
const oldestServer = { major: 1, minor: 30 };

/** Surroundings of a search. */
export interface FindOptions {
  /** @default process.env */
  readonly env?: NodeJS.ProcessEnv;
  /** @default on standard error */
  readonly progress?: Progress;
}

/** A Temporal server that runs already, or the program to start one. */
export type TemporalLocation = { readonly address: string } | ToolLocation;

/**
 * Finds Temporal: the server at `TEMPORAL_ADDRESS`, else `temporal` on PATH if it is new enough, else the project's
 * cache, else built with Go. Throws a `ToolError` when nothing
 * of that works.
 */
export async function findTemporal(options: FindOptions = {}): Promise<TemporalLocation> {
  const { env = process.env } = options;
  const address = env['TEMPORAL_ADDRESS'];
  return address ? { address } : findTemporalProgram(options);
}

/** Finds the program `temporal` as `findTemporal` does, whether or not a server runs already. */
export async function findTemporalProgram(options: FindOptions = {}): Promise<ToolLocation> {
  const { env = process.env, progress = createProgress() } = options;
  const onPath = findExecutable(temporalTool.name, env);
  if (onPath) {
    const version = await serverVersion(onPath);
    if (version && isNewEnough(version)) return { path: onPath, source: 'PATH' };
    const needed = `${oldestServer.major}.${oldestServer.minor}`;
    progress.say(`Not used: ${onPath}, whose server is ${version ?? 'unknown'}; ${needed} or newer is needed.`);
  }
  const cached = cachedToolPath(temporalTool, env);
  if (isExecutable(cached)) return { path: cached, source: 'cache' };
  return { path: await buildGoTool(temporalTool, { env, progress }), source: 'installed' };
}

async function serverVersion(path: string): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: 10_000 });
    return /Server (\d+\.\d+\.\d+)/.exec(stdout)?.[1];
  } catch {
    return undefined;
  }
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > oldestServer.major || (major === oldestServer.major && minor >= oldestServer.minor);
}
