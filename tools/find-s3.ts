import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { buildGoTool } from './build-go-tool';
import { findExecutable, isExecutable } from './find-executable';
import type { FindOptions } from './find-temporal';
import { readPin, versitygwTool } from './go-tool';
import { createProgress } from './progress';
import { cachedToolPath } from './tool-cache';
import type { ToolLocation } from './tool-location';

/**
 * Finds the S3 server: `versitygw` on PATH if it is exactly the pinned version, else the project's cache, else built
 * with Go. Throws a `ToolError` when it cannot be built.
 */
export async function findS3(options: FindOptions = {}): Promise<ToolLocation> {
  const { env = process.env, progress = createProgress() } = options;
  const onPath = findExecutable(versitygwTool.name, env);
  if (onPath) {
    if (await isPinnedVersion(onPath)) return { path: onPath, source: 'PATH' };
    progress.say(`Not used: ${onPath}, which is not exactly version ${readPin(versitygwTool).version}.`);
  }
  const cached = cachedToolPath(versitygwTool, env);
  if (isExecutable(cached)) return { path: cached, source: 'cache' };
  return { path: await buildGoTool(versitygwTool, { env, progress }), source: 'installed' };
}

async function isPinnedVersion(path: string): Promise<boolean> {
  try {
    const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: 10_000 });
    return /Version\s*:\s*(\S+)/.exec(stdout)?.[1] === readPin(versitygwTool).version;
  } catch {
    return false;
  }
}
