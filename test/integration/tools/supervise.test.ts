import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { supervise } from '../../../tools/supervise';
import { eventually } from '../../support/eventually';
import { isProcessAlive } from './is-process-alive';
import { startScript } from './start-script';

const idle = 'setInterval(() => {}, 1000);';
const serves = `${idle} console.log('ready');`;
const ignoresSigterm = `process.on('SIGTERM', () => console.log('not now')); ${idle} console.log('ready');`;

const expectToEnd = async (pid: number): Promise<void> => {
  expect(await eventually(() => !isProcessAlive(pid), { what: `process ${pid} to end` })).toBe(true);
};

describe('a supervised process', () => {
  it('is asked to end, and its output and exit code are kept', async () => {
    const saysBye = `process.on('SIGTERM', () => { console.log('bye'); process.exit(3); }); ${serves}`;
    const process_ = await supervise({ command: process.execPath, args: ['-e', saysBye] });
    await eventually(() => process_.output() === 'ready\n');
    expect(process_.isRunning()).toBe(true);
    await Promise.all([process_.stop(), process_.stop()]);
    expect(await process_.ended).toEqual({ code: 3, signal: null });
    expect(process_.output()).toBe('ready\nbye\n');
    expect(process_.isRunning()).toBe(false);
    expect(isProcessAlive(process_.pid)).toBe(false);
  });

  it('is killed when it does not end within the grace period', async () => {
    const process_ = await supervise({ command: process.execPath, args: ['-e', ignoresSigterm], graceMs: 300 });
    await eventually(() => process_.output() === 'ready\n');
    await process_.stop();
    expect(await process_.ended).toEqual({ code: null, signal: 'SIGKILL' });
    expect(process_.output()).toBe('ready\nnot now\n');
  });

  it('takes the processes that it started with it', async () => {
    const process_ = await supervise({ command: 'sh', args: ['-c', 'sleep 1000 & echo $!; wait'] });
    const grandchild = Number(await eventually(() => process_.output().trim()));
    expect(isProcessAlive(grandchild)).toBe(true);
    await process_.stop();
    await expectToEnd(grandchild);
  });

  it('tells with its last words why it did not start', async () => {
    const process_ = await supervise({ command: '/no/such/program' });
    expect(await process_.ended).toEqual({ code: 127, signal: null });
    expect(process_.output()).toContain('/no/such/program');
  });

  it('takes its temporary folder with it, and no other', async () => {
    const parent = mkdtempSync(join(tmpdir(), 'longhaul-supervise-'));
    const temporaryFolder = join(parent, 'its own');
    mkdirSync(join(temporaryFolder, 'data'), { recursive: true });
    const process_ = await supervise({ command: process.execPath, args: ['-e', serves], temporaryFolder });
    await eventually(() => process_.output() === 'ready\n');
    expect(existsSync(temporaryFolder)).toBe(true);
    await process_.stop();
    await eventually(() => !existsSync(temporaryFolder), { what: 'the folder to be removed' });
    expect(existsSync(parent)).toBe(true);
    rmSync(parent, { recursive: true });
  });

  it('gets nothing of this process’s environment that it is not given', async () => {
    const process_ = await supervise({ command: '/usr/bin/env', env: { PATH: '/usr/bin:/bin', WORD: 'given' } });
    await process_.ended;
    expect(process_.output()).toContain('WORD=given\n');
    expect(process_.output()).not.toContain('HOME=');
  });
});

describe('a supervised process whose parent ends', () => {
  const parents: ReturnType<typeof startScript>[] = [];
  afterEach(() => {
    for (const parent of parents.splice(0)) parent.kill('SIGKILL');
  });

  const parentOf = async (program: string): Promise<{ parent: ReturnType<typeof startScript>; pid: number }> => {
    const parent = startScript('supervise-in-another-process.ts', [program]);
    parents.push(parent);
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    return { parent, pid: Number(line.toString()) };
  };

  it('ends when the parent is killed with its whole process group', async () => {
    const { parent, pid } = await parentOf(serves);
    process.kill(-parent.pid!, 'SIGKILL');
    await expectToEnd(pid);
  });

  it('is killed when the parent is killed and it does not end by itself', async () => {
    const { parent, pid } = await parentOf(ignoresSigterm);
    parent.kill('SIGKILL');
    await expectToEnd(pid);
  });

  it('gets no signal of Ctrl-C but is stopped by the parent', async () => {
    const tellsSignals = "for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => console.log(name));";
    const { parent, pid } = await parentOf(`${tellsSignals} process.on('SIGTERM', () => process.exit()); ${serves}`);
    let words = '';
    parent.stdout.on('data', (chunk) => (words += String(chunk)));
    // A terminal sends Ctrl-C to every process of the group in the foreground.
    process.kill(-parent.pid!, 'SIGINT');
    await once(parent, 'close');
    expect(words).toBe('ready\nSIGTERM\n');
    expect(isProcessAlive(pid)).toBe(false);
  });
});
