// Command line: builds `lib/`: the compiled sources and, beside them, the workflow bundle that a worker
// loads, and the script and style of reports.
import { execFile } from 'node:child_process';
import { chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { errorMessage } from '../src/domain/text';
import { buildPageAssets } from '../src/report/page-assets';
import { workflowSources } from '../src/workflow-sources';

const root = join(__dirname, '..');
const lib = join(root, 'lib');

async function main(): Promise<void> {
  // What a former build left and this one would not overwrite must not be shipped.
  await rm(lib, { recursive: true, force: true });
  const tsc = require.resolve('typescript/bin/tsc');
  await promisify(execFile)(process.execPath, [tsc, '--project', join(root, 'tsconfig.build.json')]);
  const { code } = await bundleWorkflowCode({
    ...workflowSources(lib),
    logger: new DefaultLogger('WARN'),
  });
  await writeFile(join(lib, 'workflow-bundle.js'), code);
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
