import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildGoExamples, preparePython } from '../../tools/language-examples';
import startServers, { stopServers } from './start-servers';

let programs: string | undefined;

/** jest's global setup of the tests of the examples: the servers, a Python with its packages, the programs in Go. */
async function prepareLanguages(): Promise<void> {
  programs = mkdtempSync(join(tmpdir(), 'longhaul-go-examples-'));
  process.env['LONGHAUL_TEST_PYTHON'] = await preparePython();
  process.env['LONGHAUL_TEST_GO_PROGRAMS'] = programs;
  await buildGoExamples(programs);
  await startServers();
}

/** Undoes {@link prepareLanguages}. */
export async function dropLanguages(): Promise<void> {
  if (programs !== undefined) rmSync(programs, { recursive: true, force: true });
  await stopServers();
}

// jest takes the default export.
export { prepareLanguages as default };
