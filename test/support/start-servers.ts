import { findS3 } from '../../tools/find-s3';
import { startTemporal } from '../../tools/temporal-server';
import type { TemporalServer } from '../../tools/temporal-server';
import { buildProduct, removeBuild } from './product-build';

let users = 0;
let starting: Promise<TemporalServer> | undefined;

/**
 * jest's global setup of the layers that need servers. jest calls it before the first suite, once or once for each layer
 * of a run: all share one Temporal. Its address is in `LONGHAUL_TEST_TEMPORAL_ADDRESS`, its Web UI's in
 * `LONGHAUL_TEST_TEMPORAL_UI`; the workflows are bundled once for all of them; a suite isolates itself by a namespace of its own or by workflow ids. The S3 server is
 * only made sure of here, and started by the suites. A missing prerequisite fails the run with a message.
 */
async function startServers(): Promise<void> {
  users += 1;
  starting ??= start();
  const { address, uiUrl } = await starting;
  process.env['LONGHAUL_TEST_TEMPORAL_ADDRESS'] = address;
  process.env['LONGHAUL_TEST_TEMPORAL_UI'] = uiUrl ?? '';
}

/** Stops the shared Temporal when the last layer that asked for it is done. */
export async function stopServers(): Promise<void> {
  users -= 1;
  if (users > 0 || starting === undefined) return;
  const server = await starting;
  starting = undefined;
  removeBuild();
  await server.stop();
}

async function start(): Promise<TemporalServer> {
  await findS3();
  await buildProduct();
  return startTemporal({ shortTimers: true });
}

// jest takes the default export.
export { startServers as default };
