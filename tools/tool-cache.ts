import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { readPin } from './go-tool';
import type { GoTool } from './go-tool';

/**
 * The folder where built tools are kept, shared by all checkouts: `LONGHAUL_TOOLS`, or `longhaul/tools` in the user's
 * cache (`XDG_CACHE_HOME`, by default `~/.cache`).
 */
export function toolCacheDir(env: NodeJS.ProcessEnv = process.env): string {
  const chosen = env['LONGHAUL_TOOLS'];
  if (chosen) return resolve(chosen);
  const xdg = env['XDG_CACHE_HOME'];
  // The XDG specification: a relative path is invalid and to be ignored.
  const cache = xdg && isAbsolute(xdg) ? xdg : join(env['HOME'] ?? homedir(), '.cache');
  return join(cache, 'longhaul', 'tools');
}

/**
 * Where the tool's binary is, once it is built. The name carries the version and a hash of the pin, so that a changed
 * pin is built anew and two checkouts with different pins do not disturb each other.
 */
export function cachedToolPath(tool: GoTool, env: NodeJS.ProcessEnv = process.env): string {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum']) hash.update(readFileSync(join(tool.moduleDir, file)));
  const pin = hash.digest('hex').slice(0, 12);
  const { version } = readPin(tool);
  return join(toolCacheDir(env), `${tool.name}-${version}-${pin}-${process.platform}-${process.arch}`);
}
