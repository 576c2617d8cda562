import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findPostgresql } from '../../tools/find-debian-program';
import { serverEnvironment, untilReady } from '../../tools/start-server';
import { supervise, type SupervisedProcess } from '../../tools/supervise';

/** How to start PostgreSQL. */
export interface PostgresqlOptions {
  /** A folder of its own; made, with its data, at the first start. */
  readonly folder: string;
  readonly port: number;
  readonly user: string;
  /** Set at the first start. */
  readonly password: string;
  readonly logFile: string;
}

/** Starts PostgreSQL on the loopback address, as an unprivileged user where this process runs as root. */
export async function startPostgresql(options: PostgresqlOptions): Promise<SupervisedProcess> {
  const { folder, port, logFile } = options;
  const programs = await findPostgresql();
  const unprivileged = unprivilegedPrefix();
  const data = join(folder, 'data');
  if (!existsSync(data)) initialize(join(programs, 'initdb'), data, unprivileged, options);
  const settings = { listen_addresses: '127.0.0.1', port: String(port), unix_socket_directories: folder };
  const [command = '', ...args] = [
    ...unprivileged,
    join(programs, 'postgres'),
    ...['-D', data],
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
  const server = await supervise({ command, args, env: serverEnvironment(), cwd: folder, logFile });
  const isUp = (): Promise<boolean> =>
    Promise.resolve(server.output().includes('database system is ready to accept connections'));
  await untilReady(server, { name: 'PostgreSQL', probe: isUp });
  return server;
}

function initialize(initdb: string, data: string, unprivileged: readonly string[], options: PostgresqlOptions): void {
  const { folder, user, password } = options;
  mkdirSync(folder, { mode: 0o700 });
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, password);
  if (unprivileged.length > 0) for (const path of [folder, passwordFile]) chownSync(path, ...databaseUser());
  const words = ['--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--no-sync'];
  const [command = '', ...args] = [
    ...unprivileged,
    initdb,
    ...['--pgdata', data, '--username', user, '--pwfile', passwordFile],
    ...words,
  ];
  execFileSync(command, args, { env: serverEnvironment(), cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
}

/** PostgreSQL refuses to run as root: what makes a command run as the user of Debian's package, under the same number. */
function unprivilegedPrefix(): string[] {
  if (process.getuid?.() !== 0) return [];
  const [uid, gid] = databaseUser();
  return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--'];
}

function databaseUser(): [number, number] {
  const idOf = (option: string): number => Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }));
  return [idOf('-u'), idOf('-g')];
}
