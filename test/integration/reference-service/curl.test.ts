import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ReferenceService } from '../../../reference-service/start-reference-service';
import { freePorts } from '../../../tools/free-port';
import { codeBlocks } from '../../support/markdown';
import { startService } from '../../support/start-reference-service';
import { PlainClient } from './plain-client';

const root = join(__dirname, '../../..');
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
async function type(block: string): Promise<string> {
  const here = settings
    .replace('http://127.0.0.1:8080', service.url)
    .replace('my-local-key', service.apiKey)
    .replace('9000', String((await freePorts(1))[0]));
  const script = `set -euo pipefail\n${here}\n${block}`;
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: root, timeout: 200_000 });
  return stdout;
}

/** A machine without curl fails here, with `curl: command not found`. */
describe('the curl commands of the page of the reference service', () => {
  it('are there for three modes and the upload', () => {
    expect(modes.length).toBe(4);
  });

  it('create a task, ask for its state and fetch its output', async () => {
    expect(await type(modes[0] ?? '')).toMatch(/^\{"requestId":"[\w-]+"\}\nSuccess\n200 image\/png\n$/);
  });

  it('create a task and wait for its outputs on one connection', async () => {
    expect(JSON.parse(await type(modes[1] ?? ''))).toMatchObject({
      code: 20000,
      data: { status: 'Success', outputs: [{ output_ext: '.png' }] },
    });
  });

  it('create a task and take its callback', async () => {
    const [created = '', called = ''] = (await type(modes[2] ?? '')).trim().split('\n');
    const { requestId } = JSON.parse(created) as { requestId: string };
    expect(JSON.parse(called)).toMatchObject({ request_id: requestId, status: 'Success' });
  });

  it('upload a photo and create a task with it', async () => {
    const [status, created = ''] = (await type(modes[3] ?? '')).trim().split('\n');
    expect(status).toBe('200');
    const { requestId } = JSON.parse(created) as { requestId: string };
    expect(await new PlainClient(service).waitFor(requestId, 'Success')).toMatchObject({ status: 'Success' });
  });
});
