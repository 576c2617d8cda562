import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadReceiverConfig } from '../../../src/config/callback-config';
import { loadCodecServerConfig } from '../../../src/config/codec-keys';
import { loadWorkerConfig } from '../../../src/config/worker-config';
import { codeBlocks, markdownPages } from '../../support/markdown';
import { temporaryFolder } from '../../support/temporary-folder';
import { composeText, projectRoot } from './compose-file';

const unit = readFileSync(join(projectRoot, 'deploy/systemd/longhaul-worker.service'), 'utf8');
const script = readFileSync(join(projectRoot, 'deploy/systemd/longhaul'), 'utf8');
/** Values of a directive, in the order of the unit. */
const values = (name: string): string[] =>
  [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);
const assignments = (lines: readonly string[]): Record<string, string> =>
  Object.fromEntries(lines.map((line) => line.split(/=(.*)/s, 2))) as Record<string, string>;
const guide = markdownPages().filter(({ path }) => path === 'docs/guides/deployment.md');

describe('the unit for systemd', () => {
  it('runs the command of the package', () => {
    const { name, bin } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
      name: string;
      bin: { longhaul: string };
    };
    expect(values('ExecStart')).toEqual([`/usr/bin/node /opt/longhaul/node_modules/${name}/${bin.longhaul} worker`]);
  });

  it('gives a worker that is stopped the time that compose gives it', () => {
    expect(composeText).toContain(`stop_grace_period: ${values('TimeoutStopSec').join()}s`);
  });

  it('has a home folder that the worker may enter, the one that the guide gives its user', () => {
    const { HOME } = assignments(values('Environment'));
    expect(HOME).toBe(`/var/lib/${values('StateDirectory').join()}`);
    const code = guide.flatMap(codeBlocks).map((block) => block.code);
    expect(code.join('\n')).toContain(`useradd --system --home-dir ${HOME ?? ''} `);
  });

  it('starts a worker with the settings of the guide, its archive in the folder that systemd makes', () => {
    const example = guide.flatMap(codeBlocks).find(({ code }) => code.startsWith('TEMPORAL_ADDRESS='))?.code ?? '';
    const env = { ...assignments(values('Environment')), ...assignments(example.trim().split('\n')) };
    const read: string[] = [];
    const { config, warnings } = loadWorkerConfig(env, (path) => {
      read.push(path);
      return 'a-key';
    });

    expect(warnings).toEqual([]);
    expect(config.archive).toMatchObject({ kind: 'folder', path: `/var/lib/${values('StateDirectory').join()}` });
    expect(config.health?.port).toBe(8090);
    expect(read).toEqual(['/etc/longhaul/api-key']);
  });

  it('has the settings, the user and the file of settings of the script that runs commands', () => {
    const lines = script.slice(script.indexOf('set -ae')).split('\n');
    expect(assignments(lines.filter((line) => /^[A-Z0-9_]+=/.test(line)))).toEqual(assignments(values('Environment')));
    expect(lines).toContain(`. ${values('EnvironmentFile').join()}`);
    expect(lines.find((line) => line.startsWith('exec'))).toBe(
      `exec ${values('ExecStart')
        .join()
        .replace(/ worker$/, '')} "$@"`,
    );
    expect(script).toContain(`exec runuser -u ${values('User').join()} -- "$0" "$@"`);
  });

  it('has a script that runs nothing where a line of the settings cannot be read as the shell reads it', () => {
    const folder = temporaryFolder();
    try {
      const settings = join(folder.path, 'worker.env');
      const tried = script
        .slice(script.indexOf('set -ae'))
        .replaceAll('/etc/longhaul/worker.env', settings)
        .replace(/^exec .*$/m, 'echo "$LONGHAUL_INPUT_ROOTS"');
      const run = (line: string) => {
        writeFileSync(settings, `${line}\n`);
        return spawnSync('sh', ['-c', tried], { encoding: 'utf8' });
      };
      expect(run('LONGHAUL_INPUT_ROOTS="/srv/my photos"').stdout).toBe('/srv/my photos\n');
      for (const line of ['LONGHAUL_INPUT_ROOTS = /srv/photos', 'LONGHAUL_INPUT_ROOTS=/srv/my photos']) {
        expect(run(line)).toMatchObject({ status: 127, stdout: '' });
      }
      expect(run('LONGHAUL_INPUT_ROOTS=/srv/photos\r')).toMatchObject({
        ...{ status: 2, stdout: '' },
        stderr: expect.stringContaining(`has line ends of Windows: sed -i 's/\\r$//' ${settings}`) as string,
      });
    } finally {
      folder.remove();
    }
  });
});

describe.each([
  ['longhaul-receiver.service', 'receiver', loadReceiverConfig, 'a-token-of-16-characters'],
  [
    'longhaul-codec-server.service',
    'codec-server',
    loadCodecServerConfig,
    JSON.stringify({ current: 'k1', keys: { k1: Buffer.alloc(32, 1).toString('base64') } }),
  ],
])('the unit %s', (name, command, load, secret) => {
  const other = readFileSync(join(projectRoot, 'deploy/systemd', name), 'utf8');
  const of = (directive: string): string[] =>
    [...other.matchAll(new RegExp(`^${directive}=(.*)$`, 'gm'))].map(([, value = '']) => value);

  it('runs its command as a user of its own', () => {
    expect(of('ExecStart').join()).toMatch(new RegExp(`/longhaul/lib/cli.js ${command}$`));
    expect(of('DynamicUser')).toEqual(['yes']);
    expect(other).not.toMatch(/api-key|StateDirectory|LONGHAUL_ARCHIVE|User=longhaul/);
  });

  it('starts with its secret alone, and with the settings that the guide writes', () => {
    const written = guide.flatMap(codeBlocks).map(({ code }) => code.replaceAll('\\\n', ''));
    const [, settings = ''] =
      written
        .map((code) => new RegExp(`cat > /etc/longhaul/${command}.env <<END\n(.*?)END`, 's').exec(code))
        .find(Boolean) ?? [];
    const env = {
      ...assignments(of('Environment')),
      ...assignments(settings.replace('$(openssl rand -hex 32)', 'a-token-of-16-characters').trim().split('\n')),
    };
    const read: string[] = [];
    const { warnings } = load(env, (path) => {
      read.push(path);
      return secret;
    });
    expect(warnings).toEqual([]);
    const credentials = of('LoadCredential').map((credential) => `%d/${credential.split(':')[0] ?? ''}`);
    expect(read).toEqual(credentials);
    expect(read).toHaveLength(1);
  });
});
