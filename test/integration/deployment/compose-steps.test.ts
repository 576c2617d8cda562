import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Connection } from '@temporalio/client';
import { missingSearchAttributes } from '../../../src/client/search-attribute-check';
import { findTemporalProgram } from '../../../tools/find-temporal';
import { longhaulCommand } from '../../support/product-build';
import { temporaryFolder } from '../../support/temporary-folder';
import { composeService } from '../../unit/deployment/compose-file';
import { connectClient, temporalAddress } from '../../support/temporal-connection';

const address = temporalAddress();
const namespace = `compose-${randomUUID()}`;
const container = temporaryFolder();
let connection: Connection;

/** What the images have: `temporal` on PATH, and the built command line in the working directory. */
beforeAll(async () => {
  connection = await connectClient(address);
  const { path } = await findTemporalProgram();
  mkdirSync(join(container.path, 'bin'));
  symlinkSync(path, join(container.path, 'bin/temporal'));
  mkdirSync(join(container.path, 'lib'));
  const { command, args } = longhaulCommand([]);
  const run = `spawnSync(${JSON.stringify(command)}, [...${JSON.stringify(args)}, ...process.argv.slice(2)], { stdio: 'inherit' })`;
  writeFileSync(
    join(container.path, 'lib/cli.js'),
    `const { spawnSync } = require('node:child_process');\nprocess.exitCode = ${run}.status;\n`,
  );
});
afterAll(async () => {
  await connection.close();
  container.remove();
});

describe('the steps of the compose file that come before the worker', () => {
  it('make the namespace, wait until it can be used, and register the search attributes', async () => {
    expect((await runStep('temporal-namespace')).exitCode).toBe(0);
    const setup = await runStep('longhaul-setup');
    expect(setup.output).toMatch(/^ok +Search attributes: registered now: LonghaulStatus/m);
    expect(setup.exitCode).toBe(0);

    expect(await missingSearchAttributes(connection, namespace)).toEqual([]);
  });

  it('may be repeated', async () => {
    expect((await runStep('temporal-namespace')).exitCode).toBe(0);
    expect((await runStep('longhaul-setup')).exitCode).toBe(0);
  });

  it('fail when Temporal cannot be reached', async () => {
    const { exitCode, output } = await runStep('longhaul-setup', { TEMPORAL_ADDRESS: '127.0.0.1:1' });
    expect(output).toContain('127.0.0.1:1 cannot be reached');
    expect(exitCode).toBe(1);
  });
});

/** Runs a step's own command as its container would; here the test's server and namespace stand for compose's. */
async function runStep(
  name: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly exitCode: number | null; readonly output: string }> {
  const { entrypoint = [], command = [], environment } = composeService(name);
  const [shell = '', ...args] = [...entrypoint, ...command].map((text) => text.replaceAll('$$', '$'));
  const child = spawn(shell, args, {
    cwd: container.path,
    env: {
      ...environment,
      TEMPORAL_ADDRESS: address,
      TEMPORAL_NAMESPACE: namespace,
      PATH: `${join(container.path, 'bin')}:${process.env['PATH'] ?? ''}`,
      HOME: container.path,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  const [exitCode] = (await once(child, 'close')) as [number | null];
  return { exitCode, output };
}
