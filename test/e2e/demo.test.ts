import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { serverEnvironment } from '../../tools/start-server';
import { eventually } from '../support/eventually';
import { listFiles } from '../support/list-files';
import { processesWith } from '../support/processes-with';
import { temporaryFolder } from '../support/temporary-folder';

const root = join(__dirname, '../..');
/** Temporal, the S3 server, the worker and the command, each with what watches over it. */
const leastProcesses = 4;

// Every process of the demo inherits this folder in its environment, which tells them from all others.
const folder = temporaryFolder();
afterAll(folder.remove);

function startDemo(...args: string[]) {
  return spawn(process.execPath, ['--import', require.resolve('tsx'), 'tools/demo.ts', ...args], {
    cwd: root,
    env: { ...serverEnvironment(), TMPDIR: folder.path },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 200_000,
    killSignal: 'SIGTERM',
  });
}

async function runDemo(...args: string[]) {
  const demo = startDemo(...args, '--once');
  let output = '';
  let mostProcesses = 0;
  for (const stream of [demo.stdout, demo.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      mostProcesses = Math.max(mostProcesses, processesWith(folder.path).length);
    });
  }
  const [exitCode] = (await once(demo, 'close')) as [number | null];
  return { exitCode, output, mostProcesses };
}

/** What stands behind a name in the demo's report. */
function said(output: string, name: string): string {
  return new RegExp(`^  ${name} +([^\\s,]+)`, 'm').exec(output)?.[1] ?? '';
}

describe('npm run demo -- --once', () => {
  it('ends by itself with a picture, its hash and one create, and leaves no process and no temporary file', async () => {
    const { exitCode, output, mostProcesses } = await runDemo();

    expect({ exitCode, output }).toMatchObject({ exitCode: 0 });
    expect(said(output, 'creates')).toBe('1');
    expect(Number(said(output, 'reports'))).toBeGreaterThan(1);
    const picture = await readFile(said(output, 'picture'));
    expect(createHash('sha256').update(picture).digest('hex')).toBe(said(output, 'SHA-256'));
    const manifest: unknown = JSON.parse(await readFile(said(output, 'manifest'), 'utf8'));
    expect(manifest).toMatchObject({ status: 'Success', outputs: [{ sha256: said(output, 'SHA-256') }] });

    expect(mostProcesses).toBeGreaterThanOrEqual(leastProcesses);
    // What watches over a server ends a moment after it.
    await eventually(() => processesWith(folder.path).length === 0, { what: 'the last process to end' });
    // tsx keeps what it compiled.
    expect(readdirSync(folder.path).filter((name) => !name.startsWith('tsx-'))).toEqual([]);
    await rm(dirname(said(output, 'picture')), { recursive: true });
  });
});

describe('npm run demo -- --stay', () => {
  it('lets inputs be staged, and ends as a whole when npm gets SIGTERM', async () => {
    const env = { ...serverEnvironment(), TMPDIR: folder.path };
    const npm = spawn('npm', ['run', 'demo', '--', '--stay'], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = once(npm, 'exit');
    let output = '';
    for (const stream of [npm.stdout, npm.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()));
    try {
      await eventually(() => output.includes('Everything stays up') || npm.exitCode !== null, { withinMs: 90_000 });
      expect(output).toMatch(/: to end it, type kill \d+ in another shell/);
      expect(output).toContain('Staged at s3://staging/inputs: 1 file sent');
      const [, environment = ''] = /^ {2}longhaul +\. (\S+)/m.exec(output) ?? [];
      expect(readFileSync(join(root, environment), 'utf8')).toContain("export LONGHAUL_STAGING='s3://staging/inputs'");
    } finally {
      npm.kill('SIGTERM');
    }
    await ended;
    await eventually(() => processesWith(folder.path).length === 0, { withinMs: 60_000, what: 'the demo to end' });
  });
});

describe('npm run demo -- --batch --once', () => {
  it('runs the example of a batch and ends with its table, a picture for each row and one create for each', async () => {
    const { exitCode, output } = await runDemo('--batch');

    expect({ exitCode, output }).toMatchObject({ exitCode: 0 });
    expect(output).toMatch(/^Completed {2}batch:demo-\S+, 12 rows in /m);
    expect(said(output, 'succeeded')).toBe('12');
    expect(said(output, 'creates')).toBe('12');
    const pictures = said(output, 'pictures');
    expect(listFiles(pictures).filter((name) => name.endsWith('.png'))).toHaveLength(12);
    expect(readFileSync(said(output, 'results'), 'utf8').trimEnd().split('\n')).toHaveLength(13);
    await Promise.all([pictures, dirname(said(output, 'results'))].map((path) => rm(path, { recursive: true })));
  });
});

describe('npm run demo -- --drill', () => {
  /** Types what a drill says, as its reader does, in a shell with the demo's variables. */
  async function typeAll(output: string): Promise<string> {
    const [, environment = ''] = /^ {2}longhaul +\. (\S+)/m.exec(output) ?? [];
    const lines = [...output.matchAll(/^ {2}(longhaul .+?) +# /gm)].map(([, line = '']) => line);
    // What needs a person ends with 5, and the shell goes on.
    const script = [`. ${environment}`, ...lines.filter((line) => !line.startsWith('longhaul .'))].join('\n');
    const shell = spawn('bash', ['-c', script], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], timeout: 200_000 });
    let typed = '';
    for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (text: Buffer) => (typed += text.toString()));
    await once(shell, 'close');
    return typed;
  }

  it.each([
    ['uncertain', /CreateUncertain[^]*Success/],
    ['archive', /ArchiveIncomplete[^]*Success/],
  ])('%s stays up without a terminal, waits for a person, and is settled by what it says', async (name, settled) => {
    const demo = startDemo('--drill', name, '--stay');
    const ended = once(demo, 'close');
    let output = '';
    for (const stream of [demo.stdout, demo.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()));
    try {
      await eventually(() => output.includes('Everything stays up') || demo.exitCode !== null, { withinMs: 90_000 });
      expect(output).toContain('Everything stays up');
      expect(output).not.toContain('The drill is');
      expect(await typeAll(output)).toMatch(settled);
      await eventually(() => output.includes('The drill is solved: '), { what: 'the drill to say so' });
      expect(output).toMatch(
        /^The drill is solved: demo-\S+ ended as Success; one create was sent, so it is paid once\.$/m,
      );
    } finally {
      demo.kill('SIGTERM');
    }
    expect(await ended).toEqual([0, null]);
    await eventually(() => processesWith(folder.path).length === 0, { what: 'the last process to end' });
  });
});
