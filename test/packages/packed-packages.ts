import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { runToEnd } from '../support/run-longhaul';

const root = join(__dirname, '../..');
/** What a fresh clone does not have; `node_modules` stands for `npm ci`. */
const notCloned = new Set(['.git', 'node_modules', 'lib', join('packages', 'client', 'lib')]);
const packWithinMs = 300_000;

/** Tarballs as `npm pack` made them. */
export interface PackedPackages {
  readonly client: string;
  readonly worker: string;
}

/** Packs both packages as README.md says, from a checkout that nothing was built in. */
export async function packPackages(folder: string): Promise<PackedPackages> {
  const checkout = join(folder, 'checkout');
  cpSync(root, checkout, { recursive: true, filter: (path) => !notCloned.has(relative(root, path)) });
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'));
  const tarballs = join(folder, 'tarballs');
  mkdirSync(tarballs);
  await npm(['pack', '.', `.${sep}${join('packages', 'client')}`, '--pack-destination', tarballs], checkout);
  const files = readdirSync(tarballs);
  const find = (pattern: RegExp): string => join(tarballs, files.find((name) => pattern.test(name)) ?? '');
  return { client: find(/^longhaul-client-/), worker: find(/^longhaul-\d/) };
}

/** Runs npm in a folder. Throws with what it wrote when it fails. */
export async function npm(args: readonly string[], cwd: string): Promise<void> {
  const quiet = ['--loglevel=error', '--no-audit', '--no-fund'];
  const options = { cwd, env: npmEnvironment(), timeout: packWithinMs };
  const { exitCode, stdout, stderr } = await runToEnd({ command: 'npm', args: [...args, ...quiet] }, options);
  if (exitCode !== 0) throw new Error(`npm ${args.join(' ')} ended with ${exitCode}:\n${stdout}${stderr}`);
}

/** Without what the npm that runs these tests tells its scripts: it would speak of this checkout. */
function npmEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(
    ([name]) => !/^npm_(package|lifecycle|command|config_local_prefix)/.test(name) && name !== 'NODE_ENV',
  );
  return Object.fromEntries(entries);
}
