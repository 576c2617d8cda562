import { spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { longhaulCommand } from './product-build';

const root = join(__dirname, '../..');

/** How a command ended, and what it wrote. */
export interface CommandEnd {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one `longhaul` command as a process of its own, as a person would; it is killed after three minutes. */
export async function runLonghaul(args: readonly string[], env: NodeJS.ProcessEnv, cwd = root): Promise<CommandEnd> {
  return await runToEnd(longhaulCommand(args), { cwd, env, timeout: 180_000 });
}

/** Runs a command to its end, or kills it when its time is over. */
export async function runToEnd(
  { command, args }: { readonly command: string; readonly args: readonly string[] },
  options: Pick<SpawnOptions, 'cwd' | 'env' | 'timeout'>,
): Promise<CommandEnd> {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'], killSignal: 'SIGKILL' });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const [exitCode] = (await once(child, 'close')) as [number | null];
  return { exitCode, stdout, stderr };
}
