// Command line: makes sure of every tool that the tests and the demo need, and prints where each is.
import { errorMessage } from '../src/core/text';
import { findS3 } from './find-s3';
import { findTemporalProgram } from './find-temporal';
import type { ToolLocation } from './tool-location';

async function main(): Promise<void> {
  const { TEMPORAL_ADDRESS: address } = process.env;
  const temporal = address ? `server at ${address}` : describe(await findTemporalProgram());
  process.stdout.write(`temporal   ${temporal}\n`);
  process.stdout.write(`versitygw  ${describe(await findS3())}\n`);
}

function describe({ path, source }: ToolLocation): string {
  const how = { PATH: 'found on PATH', cache: 'built by an earlier run', installed: 'installed now' }[source];
  return `${path} (${how})`;
}

main().catch((error: unknown) => {
  process.stderr.write(`${errorMessage(error)}\n`);
  process.exitCode = 1;
});
