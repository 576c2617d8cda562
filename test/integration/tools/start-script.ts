import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

/** Starts a TypeScript file of this folder in a process of its own, in a process group of its own. */
export function startScript(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): ChildProcessByStdio<null, Readable, null> {
  return spawn(process.execPath, ['--import', 'tsx', join(__dirname, file), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
    env,
  });
}

/** All that the process writes to standard output until it ends. */
export async function outputOf(child: ChildProcessByStdio<null, Readable, null>): Promise<string> {
  let text = '';
  for await (const chunk of child.stdout) text += String(chunk);
  return text;
}
