import { randomUUID } from 'node:crypto';
import type { Connection } from '@temporalio/client';
import { missingSearchAttributes } from '../../../src/client/search-attribute-check';
import { findTemporalProgram } from '../../../tools/find-temporal';
import { composeContainer, type ComposeContainer } from '../../support/compose-container';
import { connectClient, temporalAddress } from '../../support/temporal-connection';

const address = temporalAddress();
const namespace = `compose-${randomUUID()}`;
/** The test's server and namespace stand for compose's. */
const here = { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace };
let container: ComposeContainer;
let connection: Connection;

beforeAll(async () => {
  connection = await connectClient(address);
  const { path } = await findTemporalProgram();
  container = composeContainer({ temporal: path });
});
afterAll(async () => {
  await connection.close();
  container.remove();
});

describe('the steps of the compose file that come before the worker', () => {
  it('make the namespace, wait until it can be used, and register the search attributes', async () => {
    expect(await container.run('temporal-namespace', here)).toMatchObject({ exitCode: 0 });
    const setup = await container.run('longhaul-setup', here);
    expect(setup.stdout).toMatch(/^ok +Search attributes: registered now: LonghaulStatus/m);
    expect(setup.exitCode).toBe(0);

    expect(await missingSearchAttributes(connection, namespace)).toEqual([]);
  });

  it('may be repeated', async () => {
    expect(await container.run('temporal-namespace', here)).toMatchObject({ exitCode: 0 });
    expect(await container.run('longhaul-setup', here)).toMatchObject({ exitCode: 0 });
  });

  it('fail when Temporal cannot be reached', async () => {
    const { exitCode, stdout } = await container.run('longhaul-setup', { ...here, TEMPORAL_ADDRESS: '127.0.0.1:1' });
    expect(stdout).toContain('127.0.0.1:1 cannot be reached');
    expect(exitCode).toBe(6);
  });
});
