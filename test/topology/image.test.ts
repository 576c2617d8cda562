import { cpSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandEnd, runToEnd } from '../support/run-longhaul';
import { temporaryFolder } from '../support/temporary-folder';

const root = join(__dirname, '../..');
const container = temporaryFolder();
const instructions = readFileSync(join(root, 'Dockerfile'), 'utf8')
  .split('\n')
  .map((line) => line.split(/\s+/));

/** What the instructions of these stages copy out of the checkout. */
function copyStages(...stages: readonly string[]): void {
  let stage = '';
  for (const [name, ...words] of instructions) {
    if (name === 'FROM') stage = words[2] ?? '';
    if (name !== 'COPY' || !stages.includes(stage) || words[0]?.startsWith('--from') === true) continue;
    for (const path of words.slice(0, -1)) cpSync(join(root, path), join(container.path, path), { recursive: true });
  }
}

function run(...args: string[]): Promise<CommandEnd> {
  return runToEnd({ command: process.execPath, args }, { cwd: container.path, env: process.env, timeout: 300_000 });
}

/** Stands for `npm ci`. */
beforeAll(() => {
  symlinkSync(join(root, 'node_modules'), join(container.path, 'node_modules'));
});
afterAll(() => {
  container.remove();
});

describe('what the Dockerfile copies', () => {
  it('is enough to build Longhaul, and to run it', async () => {
    copyStages('sources', 'build');
    expect(await run('--import', 'tsx', 'tools/build.ts', 'worker')).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    const { exitCode, stdout } = await run('lib/cli.js', '--help');
    expect(stdout).toContain('worker');
    expect(exitCode).toBe(0);
  }, 600_000);

  it('is enough for the reference service of the demo', async () => {
    copyStages('sources', 'demo');
    const { exitCode, stdout, stderr } = await run('--import', 'tsx', 'reference-service/main.ts', '--help');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toContain('--port');
  }, 120_000);
});
