import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { eventually } from '../../support/eventually';

const ROOT = join(__dirname, '../../..');
const START_DEADLINE_MS = 60_000;

describe('the service alone', () => {
  it('prints its address and key, serves, and stops cleanly on SIGTERM', async () => {
    const child = spawn(process.execPath, ['--import', 'tsx', 'reference-service/main.ts', '--control'], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    try {
      let printed = '';
      child.stdout.on('data', (chunk: Buffer) => {
        printed += String(chunk);
      });
      await eventually(() => printed.includes('Ctrl-C'), { withinMs: START_DEADLINE_MS, what: 'the service to start' });
      const url = /LONGHAUL_SERVICE_URL=(\S+)/.exec(printed)?.[1] ?? '';
      const key = /LONGHAUL_API_KEY=(\S+)/.exec(printed)?.[1] ?? '';
      const controlToken = /control token +(\S+)/.exec(printed)?.[1] ?? '';
      const status = async (path: string, token: string): Promise<number> =>
        (await fetch(`${url}${path}`, { headers: { Authorization: `Bearer ${token}` } })).status;

      expect(await status('/x/v1/user/metadata', key)).toBe(200);
      expect(await status('/__control/ledger', controlToken)).toBe(200);
      expect(await status('/', '')).toBe(200);
    } finally {
      child.kill('SIGTERM');
    }

    expect(await exited).toEqual([0, null]);
  });

  it('says what is wrong with a setting', async () => {
    const child = spawn(process.execPath, ['--import', 'tsx', 'reference-service/main.ts', '--slots', 'many'], {
      cwd: ROOT,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let printed = '';
    child.stderr.on('data', (chunk: Buffer) => {
      printed += String(chunk);
    });

    expect(await once(child, 'exit')).toEqual([1, null]);
    expect(printed).toContain('slots');
  });
});
