// Command line: builds `lib/`: the compiled sources and, beside them, the workflow bundles that a worker loads (one with
// traces), and the script and style of reports; and the package of the client, `packages/client/lib`. With `worker` or
// `client`, one of the two alone.
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { z } from 'zod';
import { errorMessage } from '../src/core/text';
import { buildPageAssets } from '../src/archive/report/page-assets';
import { bundleFiles, tracedWorkflowSources, workflowSources } from '../src/workflow-sources';
import { buildClientPackage } from './client-package';
import { bundleModules, installedPackages, licencesOf } from './inlined-libraries';
import { publicDeclarations, publicEntries } from './public-declarations';

const root = join(__dirname, '..');
const lib = join(root, 'lib');
/** Modules that are nothing but parts of libraries, which are inlined there. */
const libraryModules = ['storage/s3/aws-sdk', 'client/traces/opentelemetry-sdk'];
const inlined = [
  '@aws-sdk/client-s3',
  '@aws-sdk/core',
  '@aws-sdk/s3-request-presigner',
  '@opentelemetry/context-async-hooks',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-trace',
];
/** Bundles a report's page in a checkout that has no build; never loaded where there is one. */
const loadedWithoutBuild = ['esbuild'];

async function main(which: string | undefined): Promise<void> {
  const declarations = await mkdtemp(join(tmpdir(), 'longhaul-declarations-'));
  try {
    if (which === 'client') await compile(declarations, ['--emitDeclarationOnly']);
    else await buildWorker(declarations);
    if (which !== 'worker') await buildClientPackage(root, declarations);
  } finally {
    await rm(declarations, { recursive: true, force: true });
  }
}

async function buildWorker(declarations: string): Promise<void> {
  // What a former build left and this one would not overwrite must not be shipped.
  await rm(lib, { recursive: true, force: true });
  await compile(declarations);
  await addDeclarations(declarations);
  await inlineLibraries();
  await addBundles();
  await chmod(join(lib, 'cli.js'), 0o755);
}

async function compile(declarations: string, further: readonly string[] = []): Promise<void> {
  const tsc = require.resolve('typescript/bin/tsc');
  const options = ['--project', join(root, 'tsconfig.build.json'), '--declarationDir', declarations, ...further];
  await promisify(execFile)(process.execPath, [tsc, ...options]);
}

/** Those of the public library: what is inlined has no types where it is installed. */
async function addDeclarations(declarations: string): Promise<void> {
  for (const [path, text] of publicDeclarations(declarations, publicEntries).files) {
    await mkdir(dirname(join(lib, path)), { recursive: true });
    await writeFile(join(lib, path), text);
  }
}

async function inlineLibraries(): Promise<void> {
  const manifest: unknown = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const { dependencies } = z.object({ dependencies: z.record(z.string(), z.string()) }).parse(manifest);
  const installed = Object.keys(dependencies);
  const entries = Object.fromEntries(libraryModules.map((module) => [module, `src/${module}`]));
  const { folders } = await bundleModules({ root, entries, folder: lib, installed, inlined });
  await writeFile(join(lib, 'third-party-licences.txt'), await licencesOf(folders));
  const modules = (await readdir(lib, { recursive: true })).filter((path) => path.endsWith('.js'));
  const imported = await installedPackages(
    root,
    modules.map((path) => join(lib, path)),
  );
  const undeclared = [...imported].filter((name) => !installed.includes(name) && !loadedWithoutBuild.includes(name));
  if (undeclared.length > 0)
    throw new Error(`package.json: add to dependencies what lib imports: ${undeclared.join(', ')}`);
}

/** What a worker loads by its path. */
async function addBundles(): Promise<void> {
  const logger = new DefaultLogger('WARN');
  const { code } = await bundleWorkflowCode({ ...workflowSources(lib), logger });
  await writeFile(join(lib, bundleFiles.plain), code);
  const { code: traced } = await bundleWorkflowCode({ ...tracedWorkflowSources(lib), logger });
  await writeFile(join(lib, bundleFiles.traced), traced);
  const { script, style } = await buildPageAssets();
  await writeFile(join(lib, 'report-page.js'), script);
  await writeFile(join(lib, 'report-page.css'), style);
}

main(process.argv[2]).catch((error: unknown) => {
  const output = error instanceof Error && 'stdout' in error ? String(error.stdout) : '';
  process.stderr.write(`${output}${errorMessage(error)}\n`);
  process.exitCode = 1;
});
