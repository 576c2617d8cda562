import { execFile } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findNodeRelease, nodeReleases } from '../../tools/node-release';
import { longhaulCommand } from '../support/product-build';
import { ProcessStack } from '../support/process-stack';
import { runToEnd } from '../support/run-longhaul';
import { photoFolder } from '../support/task-stack';

/** The reference service's app that hands a file back. */
const courier = 11;
const photo = 'chelsea.png';

describe.each(nodeReleases)('on Node $version', (release) => {
  let stack: ProcessStack;
  let node: string;
  beforeAll(async () => {
    node = await findNodeRelease(release);
    stack = await ProcessStack.open();
    copyFileSync(join(photoFolder, photo), join(stack.inputs, photo));
    await stack.startWorker(stack.env, stack.taskQueue, onThisNode);
  }, 600_000);
  afterAll(async () => {
    await stack.close();
  });

  const onThisNode: typeof longhaulCommand = (args) => ({ ...longhaulCommand(args), command: node });

  async function longhaul(...args: readonly string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await runToEnd(onThisNode(args), { env: stack.env, timeout: 60_000 });
    expect({ exitCode, stderr: exitCode === 0 ? '' : stderr }).toEqual({ exitCode: 0, stderr: '' });
    return stdout;
  }

  it('a task uploads its input, is created once and archives its output, and its history replays', async () => {
    expect((await promisify(execFile)(node, ['--version'])).stdout.trim()).toBe(`v${release.version}`);
    const input = `1:LoadFile.file=@${join(stack.inputs, photo)}`;
    const queue = ['--task-queue', stack.taskQueue];
    const run = await longhaul(
      'run',
      String(courier),
      '--key',
      `node-${release.version}`,
      '-i',
      input,
      ...queue,
      '--json',
    );
    const { status, outputs } = JSON.parse(run) as { status: string; outputs: { path: string }[] };
    expect({ status, count: outputs.length }).toEqual({ status: 'Success', count: 1 });
    expect(await readFile(outputs[0]?.path ?? '')).toEqual(await readFile(join(photoFolder, photo)));
    expect(stack.service.ledger.entries({ endpoint: 'create' })).toHaveLength(1);
    await longhaul('replay', '--query', `TaskQueue = "${stack.taskQueue}"`);
  }, 180_000);

  it('a batch is read from its file and reported as a page', async () => {
    const id = `rows-${release.version}`;
    const rows = join(stack.inputs, `${id}.csv`);
    await writeFile(rows, `key,1:LoadFile.file\none,@${photo}\ntwo,@${photo}\n`);
    const queue = ['--task-queue', stack.taskQueue];
    await longhaul('batch', 'run', rows, '--id', id, '--app', String(courier), ...queue);
    await longhaul('batch', 'report', id, '--html', join(stack.inputs, 'report.html'));
    expect(await readFile(join(stack.inputs, 'report.html'), 'utf8')).toContain('one');
  }, 180_000);
});
