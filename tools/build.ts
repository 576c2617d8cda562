// Command line: builds `lib/`: the compiled sources and, beside them, the workflow bundles that a worker
// loads (one with traces), and the script and style of reports.
import { execFile } from 'node:child_process';
import { chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { errorMessage } from '../src/domain/text';
import { buildPageAssets } from '../src/report/page-assets';
import { bundleFiles, tracedWorkflowSources, workflowSources } from '../src/workflow-sources';

const root = join(__dirname, '..');
const lib = join(root, 'lib');

async function main(): Promise<void> {
  // What a former build left and this one would not overwrite must not be shipped.
  await rm(lib, { recursive: true, force: true });
  const tsc = require.resolve('typescript/bin/tsc');
  await promisify(execFile)(process.execPath, [tsc, '--project', join(root, 'tsconfig.build.json')]);
  const logger = new DefaultLogger('WARN');
  const { code } = await bundleWorkflowCode({ ...workflowSources(lib), logger });
  await writeFile(join(lib, bundleFiles.plain), code);
  const { code: traced } = await bundleWorkflowCode({ ...tracedWorkflowSources(lib), logger });
  await writeFile(join(lib, bundleFiles.traced), traced);
  const { script, style } = await buildPageAssets();
  await writeFile(join(lib, 'report-page.js'), script);
  await writeFile(join(lib, 'report-page.css'), style);
  await chmod(join(lib, 'cli.js'), 0o755);
}

main().catch((error: unknown) => {
  const output = error instanceof Error && 'stdout' in error ? String(error.stdout) : '';
  process.stderr.write(`${output}${errorMessage(error)}\n`);
  process.exitCode = 1;
});
