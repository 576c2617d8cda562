import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { serverEnvironment } from '../../tools/start-server';
import { newCodecKey, writeCodecKeys } from '../support/codec-keys';
import { eventually } from '../support/eventually';
import { processesWith } from '../support/processes-with';
import { temporaryFolder } from '../support/temporary-folder';

// Every process that npm starts inherits this folder in its environment, which tells them from all others.
const folder = temporaryFolder();
afterAll(folder.remove);
afterEach(() => {
  // What a failed test has left; all of them are its own.
  for (const pid of processesWith(folder.path)) process.kill(pid, 'SIGKILL');
});

function startNpm(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const npm = spawn('npm', ['run', ...args], {
    cwd: join(__dirname, '../..'),
    env: { ...serverEnvironment(), ...env, TMPDIR: folder.path },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [npm.stdout, npm.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()));
  return { npm, ended: once(npm, 'exit'), output: () => output };
}

describe('npm run service', () => {
  it('ends with its storage, and frees its port, when npm gets SIGHUP', async () => {
    const { npm, ended, output } = startNpm(['service']);
    await eventually(() => output().includes('Ctrl-C stops it.') || npm.exitCode !== null, { withinMs: 90_000 });
    const [, url = ''] = /LONGHAUL_SERVICE_URL=(\S+)/.exec(output()) ?? [];
    expect((await fetch(`${url}/`)).status).toBe(200);
    npm.kill('SIGHUP');
    await ended;
    await eventually(() => processesWith(folder.path).length === 0, { what: 'the service to end' });
    await expect(fetch(`${url}/`)).rejects.toThrow('fetch failed');
  });

  it('ends, too, when npm is stopped before the service is ready', async () => {
    const { npm, ended, output } = startNpm(['service']);
    // npm, the service, and what compiles it; the storage comes later.
    await eventually(() => processesWith(folder.path).length >= 3, { what: 'the service to start' });
    npm.kill('SIGTERM');
    await ended;
    await eventually(() => processesWith(folder.path).length === 0, { withinMs: 60_000, what: 'the service to end' });
    expect(output()).not.toContain('is ready');
  });
});

describe('npm run longhaul', () => {
  it('ends the command when npm is stopped', async () => {
    const env = {
      LONGHAUL_CODEC_KEYS_FILE: writeCodecKeys(folder.path, { first: newCodecKey() }),
      LONGHAUL_CODEC_ADDRESS: '127.0.0.1:0',
      LONGHAUL_CODEC_ORIGINS: 'http://localhost:8233',
    };
    const { npm, ended, output } = startNpm(['longhaul', '--', 'codec-server'], env);
    await eventually(() => output().includes('codec server started') || npm.exitCode !== null, { withinMs: 60_000 });
    npm.kill('SIGTERM');
    await ended;
    await eventually(() => processesWith(folder.path).length === 0, { what: 'the command to end' });
    expect(output()).toContain('codec server started');
  });
});
