import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { freePorts } from '../../../tools/free-port';
import { eventually } from '../../support/eventually';
import { temporaryFolder } from '../../support/temporary-folder';

const root = path.join(__dirname, '../../..');
const folder = temporaryFolder();
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  folder.remove();
});

function prepareBatch(stderr: 'pipe' | number) {
  const file = path.join(folder.path, 'rows.csv');
  writeFileSync(file, 'key,1:A.b\na,1\n');
  const args = ['batch', 'run', file, '--app', '1', '--prepare'];
  return spawn(process.execPath, ['--import', 'tsx', path.join(root, 'src/cli.ts'), ...args], {
    cwd: root,
    env: { PATH: process.env['PATH'] },
    stdio: ['pipe', 'pipe', stderr],
  });
}

async function endOf(child: ReturnType<typeof prepareBatch>): Promise<{ result: string; code: number | null }> {
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  const [result, code] = await Promise.all([text(child.stdout ?? Readable.from([])), ended]);
  return { result, code };
}

describe('a command whose notes cannot be written', () => {
  it('since nobody reads them any more goes on, and prints its result', async () => {
    const child = prepareBatch('pipe');
    child.stderr?.destroy();
    const { result, code } = await endOf(child);

    expect(code).toBe(0);
    expect(JSON.parse(result)).toMatchObject({ id: 'rows', rows: { rows: 1 } });
  });

  it('since their disk is full goes on, and prints its result', async () => {
    const full = openSync('/dev/full', 'w');
    const { result, code } = await endOf(prepareBatch(full));
    closeSync(full);

    expect(code).toBe(0);
    expect(JSON.parse(result)).toMatchObject({ id: 'rows', rows: { rows: 1 } });
  });
});

describe('a codec server whose log nobody reads', () => {
  it('answers, and ends all the same at SIGTERM', async () => {
    const keys = path.join(folder.path, 'keys.json');
    const key = Buffer.alloc(32, 'k').toString('base64');
    writeFileSync(keys, JSON.stringify({ current: 'k', keys: { k: key } }));
    const [port = 0] = await freePorts(1);
    const child = spawn(process.execPath, ['--import', 'tsx', path.join(root, 'src/cli.ts'), 'codec-server'], {
      cwd: root,
      env: {
        PATH: process.env['PATH'],
        ...{ LONGHAUL_CODEC_KEYS_FILE: keys, LONGHAUL_CODEC_ADDRESS: `127.0.0.1:${port}` },
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    children.push(child);
    const url = `http://127.0.0.1:${port}`;
    await eventually(async () => (await request(`${url}/live`)).statusCode === 200);
    const decode = async (): Promise<number> => {
      const headers = { 'x-namespace': 'n'.repeat(90) };
      const { statusCode, body } = await request(`${url}/decode`, { method: 'POST', body: '{"payloads":[]}', headers });
      await body.dump();
      return statusCode;
    };
    // Together more than what a pipe and its two ends hold.
    for (let sent = 0; sent < 2_000; sent += 1) await decode();

    expect(await decode()).toBe(200);
    child.kill('SIGTERM');
    expect(await Promise.race([ended.then(() => 'ended'), delay(40_000, 'still there', { ref: false })])).toBe('ended');
  });
});
