import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { rootCertificates } from 'node:tls';
import { eventually } from '../../support/eventually';
import { startService } from '../../support/start-reference-service';
import { temporalAddress } from '../../support/temporal-connection';

const root = path.join(__dirname, '../../..');
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'longhaul-cli-'));
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

interface RunningCommand {
  readonly process: ChildProcess;
  readonly output: { stdout: string; stderr: string };
  readonly ended: Promise<number | null>;
}

function start(args: readonly string[], env: NodeJS.ProcessEnv = {}): RunningCommand {
  const child = spawn(process.execPath, ['--import', 'tsx', path.join(root, 'src/cli.ts'), ...args], {
    cwd: root,
    env: { PATH: process.env['PATH'], TEMPORAL_ADDRESS: temporalAddress(), ...env },
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
  return { process: child, output, ended: once(child, 'exit').then(([code]) => code as number | null) };
}

function workerEnvironment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  return {
    LONGHAUL_SERVICE_URL: 'http://127.0.0.1:1',
    LONGHAUL_API_KEY: 'key-0815',
    LONGHAUL_ARCHIVE: path.join(folder, 'archive'),
    ...more,
  };
}

/** Every line of a worker's standard output is one JSON object. */
function logOf({ output }: RunningCommand): Record<string, unknown>[] {
  const lines = output.stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('longhaul worker', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('logs JSON lines, and stops gracefully with 0 at %s', async (signal) => {
    const env = workerEnvironment({ LONGHAUL_HEALTH_ADDRESS: '127.0.0.1:0', LONGHAUL_TYPO: 'x' });
    const isArchiveNew = !existsSync(path.join(folder, 'archive'));
    const worker = start(['worker', '--task-queue', `worker-${signal}`], env);
    await eventually(() => logOf(worker).some(({ msg }) => msg === 'worker started'), { withinMs: 60_000 });
    expect(statSync(path.join(folder, 'archive')).mode & 0o777).toBe(0o700);
    const { health } = logOf(worker).find(({ msg }) => msg === 'worker started') ?? {};
    const answer = await eventually(async () => {
      const response = await fetch(String(health));
      return response.ok ? response : undefined;
    });

    worker.process.kill(signal);

    await expect(worker.ended).resolves.toBe(0);
    expect(answer?.status).toBe(200);
    // On the loopback interface; elsewhere, whoever reaches the endpoint is not asked who they are.
    expect(Object.keys((await answer?.json()) as object)).toEqual(['status', 'workers', 'accounts']);
    const messages = logOf(worker).map(({ msg }) => msg);
    expect(messages).toContain('Unknown variable LONGHAUL_TYPO is ignored');
    expect(messages.some((text) => String(text).startsWith('this archive is new'))).toBe(isArchiveNew);
    expect(messages.slice(messages.indexOf('stopping'))).toContain('worker stopped');
    expect(worker.output.stdout + worker.output.stderr).not.toContain('key-0815');
  });

  it('says at its start what it is, and warns of what keeps its tasks from going on', async () => {
    const nowhere = [path.join(folder, 'photos'), path.join(folder, 'more')];
    const inputRoots = [folder, ...nowhere];
    const certificates = path.join(folder, 'ca.pem');
    // Node has a bundle of its own, of which one is enough.
    writeFileSync(certificates, rootCertificates[0] ?? '');
    const worker = start(
      ['worker', '--task-queue', 'worker-start', '--build-id', 'dep-start/z'],
      workerEnvironment({
        LONGHAUL_INPUT_ROOTS: inputRoots.join(':'),
        NODE_EXTRA_CA_CERTS: certificates,
      }),
    );
    const warnings = await eventually(
      () => {
        const lines = logOf(worker).filter(({ level }) => level === 'warn');
        const about = (text: string) => lines.find(({ msg }) => String(msg).includes(text));
        const found = [about('LONGHAUL_INPUT_ROOTS'), about('no current version'), about('does not answer')];
        return found.every((one) => one !== undefined) ? found : undefined;
      },
      { withinMs: 60_000 },
    );
    worker.process.kill('SIGTERM');
    await worker.ended;
    const [roots, version, service] = warnings ?? [];

    expect(logOf(worker).find(({ msg }) => msg === 'worker started')).toMatchObject({
      longhaul: expect.stringMatching(/^\d+\.\d+\.\d+/) as string,
      services: ['127.0.0.1:1'],
      accounts: ['default'],
      archive: path.join(folder, 'archive'),
      inputRoots,
      extraCaCerts: certificates,
      taskQueue: expect.any(String) as string,
      node: process.version,
      version: { deploymentName: 'dep-start', buildId: 'z' },
      encryptsWith: null,
    });
    expect(roots).toMatchObject({
      folders: nowhere.map((root) => `${root} (ENOENT)`),
      msg: expect.stringContaining('separated by ":"') as string,
    });
    expect(service).toMatchObject({
      account: 'default',
      problem: expect.stringContaining('ECONNREFUSED') as string,
      remedy: 'Does the service run, and does this machine reach it? LONGHAUL_SERVICE_URL has its address.',
    });
    expect(version).toMatchObject({
      msg: expect.stringContaining('no current version of deployment "dep-start"') as string,
      command: 'temporal worker deployment set-current-version --deployment-name dep-start --build-id z --yes',
    });
    expect(worker.output.stdout + worker.output.stderr).not.toContain('key-0815');
  });

  it('warns at its start of an account whose key the service refuses, names the setting, and asks for nothing else', async () => {
    const service = await startService();
    const [keyFile, accounts] = [path.join(folder, 'key-of-studio'), path.join(folder, 'accounts.json')];
    writeFileSync(keyFile, 'key-4711');
    writeFileSync(accounts, JSON.stringify({ studio: { apiKeyFile: keyFile }, team: { apiKey: service.apiKey } }));
    const env = { LONGHAUL_SERVICE_URL: service.url, LONGHAUL_ACCOUNTS_FILE: accounts };
    const worker = start(['worker', '--task-queue', 'worker-keys'], workerEnvironment(env));
    const refused = () => logOf(worker).filter(({ msg }) => String(msg).includes('refuses the API key'));
    await eventually(() => refused().length >= 2 && service.ledger.total('user-metadata') >= 3, { withinMs: 60_000 });
    worker.process.kill('SIGTERM');

    await expect(worker.ended.finally(() => service.stop())).resolves.toBe(0);
    const warnings = refused().map(({ level, account, remedy }) => ({ level, account, remedy }));
    expect(warnings).toHaveLength(2);
    expect(warnings).toEqual(
      expect.arrayContaining([
        { level: 'warn', account: 'default', remedy: expect.stringMatching(/^Correct LONGHAUL_API_KEY, /) as string },
        { level: 'warn', account: 'studio', remedy: expect.stringMatching(/^Correct apiKeyFile .*"studio"/) as string },
      ]),
    );
    expect(service.ledger.total('create') + service.ledger.total('upload-token')).toBe(0);
    for (const key of ['key-0815', 'key-4711', service.apiKey]) expect(worker.output.stdout).not.toContain(key);
  });

  it('stops at once while a service does not answer the check of its key', async () => {
    const silent = createServer();
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const asked = once(silent, 'connection') as Promise<[Socket]>;
    const { port } = silent.address() as AddressInfo;
    const env = workerEnvironment({ LONGHAUL_SERVICE_URL: `http://127.0.0.1:${port}` });
    const worker = start(['worker', '--task-queue', 'worker-silent'], env);
    const [socket] = await asked;
    await eventually(() => logOf(worker).some(({ msg }) => msg === 'worker started'), { withinMs: 60_000 });
    worker.process.kill('SIGTERM');

    await expect(worker.ended).resolves.toBe(0);
    socket.destroy();
    silent.close();
    const warnings = logOf(worker).filter(({ msg }) => String(msg).includes('does not answer'));
    expect(warnings).toEqual([]);
  });

  it.each([
    ['is taken', '127.0.0.1', /LONGHAUL_HEALTH_ADDRESS .*EADDRINUSE\); give another port/],
    ['is of another machine', '10.99.99.99', /LONGHAUL_HEALTH_ADDRESS .*EADDRNOTAVAIL\); give an address/],
  ])('does not start with a health endpoint whose address %s', async (_, host, words) => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    const worker = start(['worker'], workerEnvironment({ LONGHAUL_HEALTH_ADDRESS: `${host}:${port}` }));

    await expect(worker.ended.finally(() => taken.close())).resolves.toBe(2);
    expect(worker.output.stderr).toMatch(words);
    expect(worker.output.stderr).not.toMatch(/^ +at /m);
  });
});

describe('a command whose reader went away', () => {
  it('ends without a word', async () => {
    const command = start(['list', '--help']);
    command.process.stdout?.destroy();

    await expect(command.ended).resolves.toBe(0);
    expect(command.output.stderr).toBe('');
  });
});
