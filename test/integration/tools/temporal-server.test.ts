import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { TypedSearchAttributes, defineSearchAttributeKey } from '@temporalio/common';
import { searchAttributeTypes } from '../../../src/contract/search-attributes';
import { createNamespace } from '../../../tools/temporal-namespace';
import { startTemporal } from '../../../tools/temporal-server';
import type { TemporalServer } from '../../../tools/temporal-server';
import { eventually } from '../../support/eventually';
import { isProcessAlive } from './is-process-alive';
import { connectClient } from '../../support/temporal-connection';

// These tests are about servers that are started, whatever the developer's own settings are.
const env = { ...process.env, TEMPORAL_ADDRESS: undefined, TEMPORAL_NAMESPACE: undefined };

const started: TemporalServer[] = [];
const start: typeof startTemporal = async (options) => {
  const server = await startTemporal({ env, ...options });
  started.push(server);
  return server;
};

const withClient = async <T>(
  server: TemporalServer,
  namespace: string,
  use: (client: Client) => Promise<T>,
): Promise<T> => {
  const connection = await connectClient(server.address);
  try {
    return await use(new Client({ connection, namespace }));
  } finally {
    await connection.close();
  }
};

/** Starts a workflow that nobody runs, with a value for each of Longhaul's search attributes; returns its id. */
const startWorkflowWithAttributes = (client: Client): Promise<string> => {
  const workflowId = randomUUID();
  const typedSearchAttributes = new TypedSearchAttributes(
    Object.entries(searchAttributeTypes).map(([name, type]) =>
      type === 'Keyword'
        ? { key: defineSearchAttributeKey(name, 'KEYWORD'), value: workflowId }
        : { key: defineSearchAttributeKey(name, 'KEYWORD_LIST'), value: ['another', workflowId] },
    ),
  );
  return client.workflow
    .start('nobody-runs-this', { workflowId, taskQueue: 'nobody-listens', typedSearchAttributes })
    .then((handle) => handle.workflowId);
};

/** Ids of the workflows that are found by that value of every one of Longhaul's search attributes. */
const findByAttributes = async (client: Client, value: string): Promise<string[]> => {
  const query = Object.keys(searchAttributeTypes)
    .map((name) => `${name} = '${value}'`)
    .join(' AND ');
  const ids: string[] = [];
  for await (const { workflowId } of client.workflow.list({ query })) ids.push(workflowId);
  return ids;
};

const expectAttributesToWork = (server: TemporalServer, namespace: string): Promise<void> =>
  withClient(server, namespace, async (client) => {
    const id = await startWorkflowWithAttributes(client);
    expect(await eventually(async () => (await findByAttributes(client, id))[0])).toBe(id);
  });

describe('Temporal’s dev server', () => {
  afterEach(async () => {
    await Promise.all(started.splice(0).map((server) => server.stop()));
  });

  it('gets further namespaces in which the search attributes work at once, as often as asked', async () => {
    const server = await start();
    for (const namespace of ['round-0', 'round-1']) {
      await createNamespace(server.address, namespace);
      await expectAttributesToWork(server, namespace);
    }
    await expect(createNamespace(server.address, 'round-0')).resolves.toBeUndefined();
    await expectAttributesToWork(server, 'default');
  });

  it('ends when it is stopped, more than once if need be', async () => {
    const server = await start();
    expect(isProcessAlive(server.pid!)).toBe(true);
    await Promise.all([server.stop(), server.stop()]);
    expect(isProcessAlive(server.pid!)).toBe(false);
  });

  it('keeps its workflows over a restart when it has a data file, and adds search attributes to an old one', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'longhaul-temporal-'));
    const dataFile = join(folder, 'data', 'temporal.db');
    const first = await start({ dataFile, namespace: 'kept' });
    const id = await withClient(first, 'kept', startWorkflowWithAttributes);
    await withClient(first, 'kept', (client) => eventually(async () => (await findByAttributes(client, id)).length));
    await withClient(first, 'kept', ({ connection }) =>
      connection.operatorService.removeSearchAttributes({ namespace: 'kept', searchAttributes: ['LonghaulBatch'] }),
    );
    await first.stop();

    const second = await start({ dataFile, namespace: 'kept' });
    const status = await withClient(second, 'kept', (client) => client.workflow.getHandle(id).describe());
    expect(status.status.name).toBe('RUNNING');
    await expectAttributesToWork(second, 'kept');
    await second.stop();
    rmSync(folder, { recursive: true });
  });

  it('is the one at TEMPORAL_ADDRESS where that is set: it gets what it lacks and is not stopped', async () => {
    const running = await start();
    const used = await startTemporal({ env: { ...env, TEMPORAL_ADDRESS: running.address }, namespace: 'mine' });
    expect(used).toMatchObject({ address: running.address, namespace: 'mine', pid: undefined });
    await expectAttributesToWork(used, 'mine');
    await used.stop();
    expect(isProcessAlive(running.pid!)).toBe(true);
  });
});
