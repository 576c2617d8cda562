import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommandLine } from '../../../../src/commands/program';
import { FakeContext } from '../../../support/fake-context';

/** Writes files of these names into a folder; answers with the path. */
export function filesIn(folder: { readonly path: string }): (name: string, content: string) => string {
  return (name, content) => {
    const path = join(folder.path, name);
    writeFileSync(path, content);
    return path;
  };
}

/** `longhaul batch run`, where Temporal should be and nothing listens: what succeeds did without it. A check does not wait for it. */
export async function batchRun(...args: string[]): Promise<FakeContext> {
  const context = new FakeContext(args.includes('--dry-run') ? {} : { TEMPORAL_ADDRESS: '127.0.0.1:1' });
  await runCommandLine(['batch', 'run', ...args], context);
  return context;
}
