import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ReferenceService } from '../../reference-service/start-reference-service';
import { temporaryFolder } from '../support/temporary-folder';
import { BreakingProxy } from './breaking-proxy';
import { shortPace, startReferenceTarget } from './reference-target';

const folder = temporaryFolder();
const keyFile = join(folder.path, 'key.txt');

let service: ReferenceService;

beforeAll(async () => {
  service = (await startReferenceTarget(shortPace)).service;
  writeFileSync(keyFile, `${service.apiKey}\n`);
});

afterAll(async () => {
  await service.stop();
  folder.remove();
});

function run(...parameters: readonly string[]): Promise<{ exitCode: unknown; stdout: string; stderr: string }> {
  const script = ['--require', 'tsx/cjs', join(__dirname, 'run.ts'), ...parameters];
  const env = { ...process.env, LONGHAUL_API_KEY: '' };
  return new Promise((resolve) => {
    execFile(process.execPath, script, { env }, (error, stdout, stderr) => {
      resolve({ exitCode: error === null ? 0 : error.code, stdout, stderr });
    });
  });
}

describe('the conformance script', () => {
  it('creates no task without --paid, checks the rest, and says what it would need', async () => {
    const { exitCode, stdout } = await run('--url', service.url, '--key-file', keyFile);

    expect(exitCode).toBe(0);
    expect(service.ledger.count({ endpoint: 'create' })).toBe(0);
    expect(stdout).toMatch(/^holds +§4.8 ext filters by extension$/m);
    expect(stdout).toMatch(/^not checkable +§4.2 .*\n +it takes a paid task: give --paid and --app$/m);
    expect(stdout).toMatch(/^as decided +§8 the default page_size\n +decision: 20$/m);
    expect(stdout).toMatch(/^By plain HTTP: \d+ hold, 0 do not hold, [1-9]\d* not checkable\.$/m);
  });

  it('uploads nothing when it is told so', async () => {
    const tokens = service.ledger.count({ endpoint: 'commit' });
    const { exitCode, stdout } = await run('--url', service.url, '--key-file', keyFile, '--no-upload');

    expect(exitCode).toBe(0);
    expect(service.ledger.count({ endpoint: 'commit' })).toBe(tokens);
    expect(stdout).toMatch(/it takes an upload: leave out --no-upload/);
  });

  it('ends with 1 when a clause does not hold, and shows what was seen without a secret', async () => {
    const proxy = new BreakingProxy(service.url, [
      { answer: ({ endpoint, body }) => (endpoint === 'list' ? { body: { ...body, code: 200 } } : undefined) },
    ]);
    try {
      const { exitCode, stdout, stderr } = await run('--url', await proxy.start(), '--key-file', keyFile);

      expect(exitCode).toBe(1);
      expect(stdout).toMatch(/^does not hold +§2.1 list answers with the envelope.*\n +seen: code is 200 in HTTP 200/m);
      expect(stderr).toMatch(/^does not hold: §2.1 list/m);
      expect(stdout + stderr).not.toContain(service.apiKey);
      expect(stdout + stderr).not.toMatch(/X-Amz-Signature/);
    } finally {
      await proxy.stop();
    }
  });

  it('ends with 2 when it cannot begin, and says why', async () => {
    const refusals: readonly (readonly [says: string, ...parameters: string[]])[] = [
      ['--url is no http or https URL', '--url', 'not-a-url'],
      ['no API key: give --key-file or set LONGHAUL_API_KEY', '--url', 'http://127.0.0.1:9'],
      ['--paid needs --app, with its --input', '--url', 'http://127.0.0.1:9', '--paid', '--key-file', keyFile],
    ];
    const ends = await Promise.all(refusals.map(([, ...parameters]) => run(...parameters)));
    expect(ends).toEqual(refusals.map(([says]) => ({ exitCode: 2, stdout: '', stderr: `${says}\n` })));
  });
});
