import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ReferenceService } from '../../../reference-service/start-reference-service';
import { freePorts } from '../../../tools/free-port';
import { eventually } from '../../support/eventually';
import { codeBlocks } from '../../support/markdown';
import { startService } from '../../support/start-reference-service';
import { PlainClient } from './plain-client';

const root = join(__dirname, '../../..');

describe('the service alone', () => {
  const start = (...options: string[]) =>
    spawn(process.execPath, ['--import', 'tsx', 'reference-service/main.ts', ...options], { cwd: root });

  it('prints its address and key, serves, and stops cleanly on SIGTERM', async () => {
    const child = start('--control');
    const exited = once(child, 'exit');
    try {
      let printed = '';
      child.stdout.on('data', (chunk: Buffer) => {
        printed += String(chunk);
      });
      await eventually(() => printed.includes('Ctrl-C'), { what: 'the service to start' });
      const valueOf = (before: RegExp): string => new RegExp(`${before.source}(\\S+)`).exec(printed)?.[1] ?? '';
      const status = async (path: string, token: string): Promise<number> =>
        (await fetch(`${valueOf(/LONGHAUL_SERVICE_URL=/)}${path}`, { headers: { Authorization: `Bearer ${token}` } }))
          .status;

      expect(await status('/x/v1/user/metadata', valueOf(/LONGHAUL_API_KEY=/))).toBe(200);
      expect(await status('/__control/ledger', valueOf(/control token +/))).toBe(200);
      expect(await status('/', '')).toBe(200);
    } finally {
      child.kill('SIGTERM');
    }
    expect(await exited).toEqual([0, null]);
  });

  it('says what is wrong with a setting', async () => {
    const child = start('--slots', 'many');
    let printed = '';
    child.stderr.on('data', (chunk: Buffer) => {
      printed += String(chunk);
    });
    expect(await once(child, 'exit')).toEqual([1, null]);
    expect(printed).toContain('slots');
  });
});

/** A machine without curl fails here, with `curl: command not found`. */
describe('the curl commands of the page of the reference service', () => {
  const path = 'reference-service/README.md';
  const section = /^## By curl\n(.*?)^## /ms.exec(readFileSync(join(root, path), 'utf8'))?.[1] ?? '';
  const [settings = '', ...modes] = codeBlocks({ path, text: section })
    .filter(({ language }) => language === 'sh')
    .map(({ code }) => code);
  let service: ReferenceService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  /** What a block of the page prints, typed as it stands there, against this service. */
  async function type(block = ''): Promise<string> {
    const here = settings
      .replace('http://127.0.0.1:8080', service.url)
      .replace('my-local-key', service.apiKey)
      .replace('9000', String((await freePorts(1))[0]));
    const script = `set -euo pipefail\n${here}\n${block}`;
    const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: root, timeout: 200_000 });
    return stdout.trim();
  }

  it('create a task and follow it, wait for it on one connection, and take its callback', async () => {
    expect(modes).toHaveLength(4);
    expect(await type(modes[0])).toMatch(/^\{"requestId":"[\w-]+"\}\nSuccess\n200 image\/png$/);
    expect(JSON.parse(await type(modes[1]))).toMatchObject({ data: { status: 'Success', outputs: [{}] } });
    const [created = '', called = ''] = (await type(modes[2])).split('\n');
    const { requestId } = JSON.parse(created) as { requestId: string };
    expect(JSON.parse(called)).toMatchObject({ request_id: requestId, status: 'Success' });
  });

  it('upload a photo and create a task with it', async () => {
    const [status, created = ''] = (await type(modes[3])).split('\n');
    expect(status).toBe('200');
    const { requestId } = JSON.parse(created) as { requestId: string };
    await new PlainClient(service).waitFor(requestId, 'Success');
  });
});
