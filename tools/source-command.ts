import { join } from 'node:path';

/** A command that runs `longhaul` from its sources, so that demo and tests need no build. */
export function longhaulCommand(args: readonly string[]): { readonly command: string; readonly args: string[] } {
  const cli = join(__dirname, '../src/cli.ts');
  return { command: process.execPath, args: ['--import', require.resolve('tsx'), cli, ...args] };
}
