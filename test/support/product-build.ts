import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { transformFileSync } from '@swc/core';
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { buildPageAssets } from '../../src/archive/report/page-assets';
import { workflowSources } from '../../src/workflow-sources';
import { longhaulCommand as sourceCommand } from '../../tools/source-command';

/** A bundle in a file, as `Worker.create` takes it. */
export interface BundleFile {
  readonly codePath: string;
}

const root = join(__dirname, '../..');
const variable = 'LONGHAUL_TEST_BUILD';

/**
 * Builds the product once for a run, as `npm run build` does but without its types: to start it from the sources takes
 * seconds in each process, to bundle the workflows several more in each worker. Part of jest's global setup.
 */
export async function buildProduct(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-build-'));
  process.env[variable] = folder;
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const lib = join(folder, 'lib');
  for (const file of readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue;
    const { code } = transformFileSync(join(root, 'src', file), {
      jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
      module: { type: 'commonjs', ignoreDynamic: false },
    });
    const built = join(lib, file.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(built), { recursive: true });
    writeFileSync(built, code);
  }
  const { code } = await bundleQuietly();
  writeFileSync(join(lib, 'workflow-bundle.js'), code);
  const { script, style } = await buildPageAssets();
  writeFileSync(join(lib, 'report-page.js'), script);
  writeFileSync(join(lib, 'report-page.css'), style);
}

/** Undoes {@link buildProduct}. */
export function removeBuild(): void {
  const folder = process.env[variable];
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}

/** A build whose workflows differ from those of the sources. */
export interface ChangedBuild {
  readonly folder: string;
  /** The command of this build. */
  readonly toCommand: typeof longhaulCommand;
}

/** Copies the build of this run into a folder, and bundles workflows of which one source is changed. */
export async function changeBuild(
  folder: string,
  source: string,
  change: (code: string) => string,
): Promise<ChangedBuild> {
  const build = process.env[variable];
  if (build === undefined) throw new Error('There is no build of this run.');
  cpSync(join(build, 'lib'), join(folder, 'lib'), { recursive: true });
  cpSync(join(root, 'src'), join(folder, 'src'), { recursive: true });
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const path = join(folder, 'src', source);
  const code = readFileSync(path, 'utf8');
  const changed = change(code);
  if (changed === code) throw new Error(`The change of ${source} changes nothing.`);
  writeFileSync(path, changed);
  const sources = workflowSources(join(folder, 'src'));
  const bundle = await bundleWorkflowCode({ ...sources, logger: new DefaultLogger('WARN') });
  writeFileSync(join(folder, 'lib/workflow-bundle.js'), bundle.code);
  return { folder, toCommand: (args) => ({ command: process.execPath, args: [join(folder, 'lib/cli.js'), ...args] }) };
}

/** The bundle of the sources that all suites of a run share, or one made now where no global setup made it. */
export async function workflowBundle(): Promise<BundleFile | WorkflowBundleWithSourceMap> {
  const folder = process.env[variable];
  return folder === undefined ? await bundleQuietly() : { codePath: join(folder, 'lib/workflow-bundle.js') };
}

/** A command that runs `longhaul`: the build that all suites of a run share, or the sources where there is none. */
export function longhaulCommand(args: readonly string[]): { readonly command: string; readonly args: string[] } {
  const folder = process.env[variable];
  if (folder === undefined) return sourceCommand(args);
  return { command: process.execPath, args: [join(folder, 'lib/cli.js'), ...args] };
}

let bundled: Promise<WorkflowBundleWithSourceMap> | undefined;

function bundleQuietly(): Promise<WorkflowBundleWithSourceMap> {
  return (bundled ??= bundleWorkflowCode({ ...workflowSources(), logger: new DefaultLogger('WARN') }));
}
