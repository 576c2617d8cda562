import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { serverEnvironment } from '../../tools/start-server';
import { eventually } from '../support/eventually';
import { processesWith } from '../support/processes-with';
import { temporaryFolder } from '../support/temporary-folder';

const root = join(__dirname, '../..');
/** Temporal, the S3 server, the worker and the command, each with what watches over it. */
const leastProcesses = 4;

// Every process of the demo inherits this folder in its environment, which tells them from all others.
const folder = temporaryFolder();
afterAll(folder.remove);

describe('npm run demo -- --once', () => {
  it('ends by itself with a picture, its hash and one create, and leaves no process and no temporary file', async () => {
    const demo = spawn(process.execPath, ['--import', require.resolve('tsx'), 'tools/demo.ts', '--once'], {
      cwd: root,
      env: { ...serverEnvironment(), TMPDIR: folder.path },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 110_000,
      killSignal: 'SIGTERM',
    });
    let output = '';
    let mostProcesses = 0;
    for (const stream of [demo.stdout, demo.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        mostProcesses = Math.max(mostProcesses, processesWith(folder.path).length);
      });
    }
    const [exitCode] = (await once(demo, 'close')) as [number | null];

    expect({ exitCode, output }).toMatchObject({ exitCode: 0 });
    const said = (name: string): string => new RegExp(`^  ${name} +([^\\s,]+)`, 'm').exec(output)?.[1] ?? '';
    expect(said('creates')).toBe('1');
    expect(Number(said('reports'))).toBeGreaterThan(1);
    const picture = await readFile(said('picture'));
    expect(createHash('sha256').update(picture).digest('hex')).toBe(said('SHA-256'));
    const manifest: unknown = JSON.parse(await readFile(said('manifest'), 'utf8'));
    expect(manifest).toMatchObject({ status: 'Success', outputs: [{ sha256: said('SHA-256') }] });

    expect(mostProcesses).toBeGreaterThanOrEqual(leastProcesses);
    // What watches over a server ends a moment after it.
    await eventually(() => processesWith(folder.path).length === 0, {
      withinMs: 5_000,
      what: 'the last process to end',
    });
    // tsx keeps what it compiled.
    expect(readdirSync(folder.path).filter((name) => !name.startsWith('tsx-'))).toEqual([]);
    await rm(dirname(said('picture')), { recursive: true });
  });
});
