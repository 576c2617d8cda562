import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { longhaulCommand } from '../support/product-build';
import { ProcessStack } from '../support/process-stack';
import { type CommandEnd, runToEnd } from '../support/run-longhaul';
import { temporaryFolder } from '../support/temporary-folder';

const folder = temporaryFolder();
let stack: ProcessStack;

beforeAll(async () => {
  stack = await ProcessStack.open();
  makeLonghaulOnPath();
});
afterAll(async () => {
  await stack.close();
  folder.remove();
});

/** A `longhaul` that a shell finds, as an installed one is. */
function makeLonghaulOnPath(): void {
  const { command, args } = longhaulCommand([]);
  const file = join(folder.path, 'bin', 'longhaul');
  mkdirSync(join(folder.path, 'bin'));
  writeFileSync(file, `#!/bin/sh\nexec ${[command, ...args].map((word) => `'${word}'`).join(' ')} "$@"\n`);
  chmodSync(file, 0o755);
}

/** Runs what was printed, as whoever copies it into a shell does. */
async function runInShell(script: string): Promise<CommandEnd> {
  const path = `${join(folder.path, 'bin')}:${process.env['PATH'] ?? ''}`;
  const env = { ...stack.env, PATH: path };
  return await runToEnd({ command: 'sh', args: ['-c', script] }, { env, timeout: 200_000 });
}

describe('longhaul reconcile', () => {
  it('reads request ids from standard input, and says what is wrong with them', async () => {
    const good = await runInShell(`echo never-heard-of | longhaul reconcile --task-queue ${stack.taskQueue} --from -`);
    const bad = await runInShell(`printf 'r-1\\nnot an id\\n' | longhaul reconcile --from - --json`);

    expect(good.exitCode).toBe(5);
    expect(good.stdout).toMatch(/Unknown to the service \(1\):\n {2}never-heard-of: /);
    expect(bad.exitCode).toBe(2);
    const problems = [expect.stringMatching(/^--from "-": Line 2: /)];
    expect(JSON.parse(bad.stdout)).toMatchObject({ error: { type: 'InputInvalidError', problems } });
  });
});
