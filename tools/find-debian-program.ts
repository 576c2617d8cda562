import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { findExecutable } from './find-executable';
import type { FindOptions } from './find-temporal';
import { createProgress } from './progress';
import { supervise } from './supervise';
import { ToolError } from './tool-error';

/** A program that a layer of tests needs, and where Debian has it. */
export interface DebianProgram {
  /** As a person calls it. */
  readonly title: string;
  /** What it is needed for. */
  readonly neededBy: string;
  /** The names under which it may be on PATH. */
  readonly names: readonly string[];
  /** Folders where Debian keeps it, which are not on PATH. @default none */
  readonly folders?: () => readonly string[];
  readonly debianPackage: string;
  /** Whether what was found will do, such as a version that is new enough. @default whatever was found */
  readonly isUsable?: (path: string) => boolean;
}

/**
 * Finds a program on PATH. In CI (`CI=true`), a Debian system installs it when it is missing; a person's machine is
 * left as it is, and a `ToolError` says what to install.
 */
export async function findDebianProgram(program: DebianProgram, options: FindOptions = {}): Promise<string> {
  const { env = process.env, progress = createProgress() } = options;
  const { title, neededBy, names, debianPackage, folders = () => [], isUsable = () => true } = program;
  const find = (): string | undefined => {
    const searched = [...folders(), ...(env['PATH'] ?? '').split(delimiter)];
    const found = names.flatMap((name) => searched.map((PATH) => findExecutable(name, { PATH })));
    return found.find((path): path is string => path !== undefined && isUsable(path));
  };
  const found = find();
  if (found) return found;
  const apt = findExecutable('apt-get', env);
  if (env['CI'] !== 'true' || !apt) {
    throw new ToolError(
      `The ${neededBy} need ${title} on PATH. Install it, on Debian with \`apt-get install ${debianPackage}\`.`,
    );
  }
  progress.say(`Installing ${title} from Debian, for the ${neededBy}.`);
  await aptGet(apt, ['update'], program, env, options);
  await aptGet(apt, ['install', '--yes', '--no-install-recommends', debianPackage], program, env, options);
  const installed = find();
  if (!installed) throw new ToolError(`apt-get installed ${debianPackage}, but no ${title} is on PATH.`);
  return installed;
}

/** Finds Chromium or Chrome, for the tests of what a person sees. */
export function findChromium(options?: FindOptions): Promise<string> {
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  const title = 'Chromium or Google Chrome';
  return findDebianProgram({ title, neededBy: 'browser tests', names, debianPackage: 'chromium' }, options);
}

/** Finds `promtool`, for the tests of the alerts. */
export function findPromtool(options?: FindOptions): Promise<string> {
  const program = { title: 'promtool', neededBy: 'tests of the alerts', names: ['promtool'] };
  return findDebianProgram({ ...program, debianPackage: 'prometheus' }, options);
}

/** Finds Alertmanager, for the tests of the alerts. */
export function findAlertmanager(options?: FindOptions): Promise<string> {
  const names = ['alertmanager', 'prometheus-alertmanager'];
  const program = { title: 'Alertmanager', neededBy: 'tests of the alerts', names };
  return findDebianProgram({ ...program, debianPackage: 'prometheus-alertmanager' }, options);
}

/** Finds the folder of PostgreSQL's programs, for the tests of a deployment. */
export async function findPostgresql(options?: FindOptions): Promise<string> {
  const program = { title: 'PostgreSQL’s server (initdb)', neededBy: 'tests of a deployment', names: ['initdb'] };
  const initdb = await findDebianProgram(
    { ...program, folders: debianPostgresqlFolders, debianPackage: 'postgresql' },
    options,
  );
  return dirname(initdb);
}

/** The newest version first. */
function debianPostgresqlFolders(): string[] {
  const parent = '/usr/lib/postgresql';
  if (!existsSync(parent)) return [];
  const versions = readdirSync(parent).sort((a, b) => Number(b) - Number(a));
  return versions.map((version) => join(parent, version, 'bin'));
}

const pythonProbe = 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))';

/** Finds a Python that can make virtual environments, for the tests of the examples in Python. */
export function findPython(options?: FindOptions): Promise<string> {
  const program = { title: 'Python 3.11 or newer (python3) with venv', neededBy: 'tests of the examples in Python' };
  const isUsable = (path: string): boolean => spawnSync(path, ['-c', pythonProbe], { stdio: 'ignore' }).status === 0;
  return findDebianProgram({ ...program, names: ['python3'], debianPackage: 'python3-venv', isUsable }, options);
}

async function aptGet(
  apt: string,
  args: readonly string[],
  { title }: DebianProgram,
  env: NodeJS.ProcessEnv,
  { progress = createProgress() }: FindOptions,
): Promise<void> {
  const run = await supervise({ command: apt, args, env: { ...env, DEBIAN_FRONTEND: 'noninteractive' } });
  const { code } = await progress.during(`apt-get ${args[0] ?? ''}`, () => lastLine(run.output()), run.ended);
  if (code === 0) return;
  const words = run.output().trim().split('\n').slice(-5).join('\n');
  throw new ToolError(`\`apt-get ${args.join(' ')}\` failed:\n${words}\nInstall ${title} by hand and put it on PATH.`);
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
