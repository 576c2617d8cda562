import { randomUUID } from 'node:crypto';
import { Metadata, status } from '@grpc/grpc-js';
import { Client, type Connection } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { NativeConnection, Worker } from '@temporalio/worker';
import { checkSearchAttributes, diagnose, type Finding } from '../../../src/client/diagnose';
import { SearchAttributesMissingError } from '../../../src/client/connection-errors';
import { Longhaul } from '../../../src/client/longhaul';
import { missingSearchAttributes, type OperatorConnection } from '../../../src/client/search-attribute-check';
import { unservedProblem } from '../../../src/client/workers';
import { searchAttributeNames } from '../../../src/contract/search-attributes';
import { eventually } from '../../support/eventually';
import { workflowBundle } from '../../support/product-build';
import { quietRuntime } from '../../support/quiet-runtime';
import { connectClient, temporalAddress } from '../../support/temporal-connection';
import { ClientEnvironment, smallInput } from './client-environment';

let connection: Connection;

beforeAll(async () => {
  quietRuntime();
  connection = await connectClient();
});

afterAll(() => connection.close());

async function freshNamespace(): Promise<string> {
  const namespace = `fresh-${randomUUID()}`;
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
  });
  await eventually(() => connection.workflowService.describeNamespace({ namespace }), { what: 'the namespace' });
  return namespace;
}

function look(
  namespace: string,
  more: { fix?: boolean; address?: string; taskQueue?: string } = {},
): Promise<Finding[]> {
  const { fix = false, address = temporalAddress(), taskQueue = 'nobody' } = more;
  return diagnose({ temporal: { address, namespace, connectionOptions: { address } }, taskQueue, fix });
}

const first = (list: AsyncIterable<unknown>): Promise<unknown> => list[Symbol.asyncIterator]().next();

describe('the doctor', () => {
  it('names Temporal’s address when nothing answers there', async () => {
    const findings = await look('default', { address: '127.0.0.1:1' });

    expect(findings).toEqual([
      {
        check: 'Temporal',
        isOk: false,
        found: expect.stringMatching(/127\.0\.0\.1:1 cannot be reached.*TEMPORAL_ADDRESS/) as string,
        remedy: null,
      },
    ]);
  });

  it('names a namespace that is missing', async () => {
    const findings = await look('nowhere');

    expect(findings.map(({ check, isOk }) => [check, isOk])).toEqual([
      ['Temporal', true],
      ['Namespace', false],
    ]);
    expect(findings[1]?.found).toMatch(
      /no namespace "nowhere".*temporal operator namespace create --namespace nowhere --retention 30d/,
    );
  });

  it('finds search attributes missing in a fresh namespace, registers them, and a task can start at once', async () => {
    const namespace = await freshNamespace();
    const native = await NativeConnection.connect({ address: temporalAddress() });
    const longhaul = await Longhaul.connect({ env: {}, address: temporalAddress(), namespace });

    const [, , before] = await look(namespace);
    await expect(missingSearchAttributes(native, namespace)).resolves.toEqual(searchAttributeNames);
    await expect(longhaul.start(smallInput)).rejects.toThrow(SearchAttributesMissingError);
    const [, , fixed] = await look(namespace, { fix: true });
    const task = await longhaul.start(smallInput);
    const [, , after] = await look(namespace);

    expect(before).toMatchObject({ isOk: false, remedy: 'Run "longhaul doctor --setup".' });
    expect(before?.found).toContain('LonghaulRequestId');
    expect(fixed).toMatchObject({ isOk: true, found: expect.stringContaining('registered now') as string });
    expect(after).toMatchObject({ isOk: true, found: 'all registered' });
    await expect(missingSearchAttributes(native, namespace)).resolves.toEqual([]);
    expect(task.origin).toBe('started');
    await longhaul.close();
    await native.close();
  });

  it('names all missing search attributes at a start and at a list, and the command for this namespace', async () => {
    const namespace = await freshNamespace();
    const longhaul = await Longhaul.connect({ env: {}, address: temporalAddress(), namespace });
    const command = `Run "TEMPORAL_NAMESPACE=${namespace} longhaul doctor --setup"`;
    for (const call of [
      () => longhaul.start(smallInput),
      () => first(longhaul.list({ tags: ['a'] })),
      () => first(longhaul.list({ failure: 'TaskRejected', problem: 'NeedsPerson' })),
      () => first(longhaul.list({ requestIds: ['a'] })),
    ]) {
      const error: unknown = await call().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(SearchAttributesMissingError);
      expect(String(error)).toContain(`missing: ${searchAttributeNames.join(', ')}. ${command}`);
    }
    await longhaul.close();
  });

  it('does not touch a search attribute of another type', async () => {
    const namespace = await freshNamespace();
    const { INDEXED_VALUE_TYPE_TEXT } = temporal.api.enums.v1.IndexedValueType;
    await connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: { LonghaulStatus: INDEXED_VALUE_TYPE_TEXT },
    });

    const finding = await eventually(async () => {
      const [, , attributes] = await look(namespace, { fix: true });
      return attributes?.found.includes('LonghaulStatus') === true ? attributes : undefined;
    });

    expect(finding).toMatchObject({ isOk: false, found: 'registered, but not as Keyword: LonghaulStatus' });
    expect(finding?.remedy).toContain('search-attribute remove');
  });

  describe('where the operator service is left to others', () => {
    const denied = (): Promise<never> =>
      Promise.reject(
        Object.assign(new Error('7 PERMISSION_DENIED: Request unauthorized.'), {
          code: status.PERMISSION_DENIED,
          details: 'Request unauthorized.',
          metadata: new Metadata(),
        }),
      );
    const withoutOperator = (): OperatorConnection => ({
      workflowService: connection.workflowService,
      operatorService: Object.assign(Object.create(connection.operatorService) as Connection['operatorService'], {
        listSearchAttributes: denied,
        addSearchAttributes: denied,
      }),
    });
    const found = (namespace: string, address: string): Promise<Finding> =>
      checkSearchAttributes(withoutOperator(), { address, namespace, connectionOptions: { address } }, true);

    it('finds what is missing by queries, and names the operator’s command', async () => {
      const namespace = await freshNamespace();
      const finding = await eventually(() => found(namespace, temporalAddress()), { what: 'a query' });
      expect(finding).toMatchObject({ isOk: false });
      expect(finding.found).toContain('LonghaulStatus');
      expect(finding.remedy).toContain(
        `temporal operator search-attribute create --namespace ${namespace} --name Longhaul`,
      );
      await expect(missingSearchAttributes(withoutOperator(), namespace)).resolves.toEqual(searchAttributeNames);
    });

    it('names the command of Temporal Cloud’s own tool there', async () => {
      const finding = await found(await freshNamespace(), 'studio.a1b2c.tmprl.cloud:7233');
      expect(finding.remedy).toMatch(
        /tcld namespace search-attributes add --namespace fresh-\S+ --search-attribute Longhaul\w+=Keyword.* --search-attribute LonghaulTags=KeywordList/,
      );
    });

    it('is content where all are registered', async () => {
      await expect(found('default', temporalAddress())).resolves.toMatchObject({ isOk: true });
      await expect(missingSearchAttributes(withoutOperator(), 'default')).resolves.toEqual([]);
    });
  });

  describe('of workers with build ids', () => {
    const deploymentName = `dep-${randomUUID()}`;
    const taskQueue = `versions-${randomUUID()}`;
    let native: NativeConnection;
    let worker: Worker;

    beforeAll(async () => {
      native = await NativeConnection.connect({ address: temporalAddress() });
      worker = await Worker.create({
        connection: native,
        taskQueue,
        workflowBundle: await workflowBundle(),
        workerDeploymentOptions: {
          version: { deploymentName, buildId: 'z' },
          useWorkerVersioning: true,
          defaultVersioningBehavior: 'PINNED',
        },
      });
    });
    afterAll(() => native.close());

    const version = async (): Promise<Finding | undefined> =>
      (await look('default', { taskQueue })).find(({ check }) => check === 'Version of the workers');

    it('finds those that get no task, and what is pinned to a version whose workers are gone', async () => {
      const client = new Client({ connection });
      const workflowId = `task:${randomUUID()}`;
      await worker.runUntil(async () => {
        expect(await eventually(version)).toEqual({
          check: 'Version of the workers',
          isOk: false,
          found: expect.stringContaining(`"${deploymentName}", which has no current version`) as string,
          remedy: expect.stringContaining(
            `set-current-version --deployment-name ${deploymentName} --build-id z --yes`,
          ) as string,
        });
        const current = { namespace: 'default', deploymentName, buildId: 'z', identity: 'a test' };
        const setCurrent = () => connection.workflowService.setWorkerDeploymentCurrentVersion(current);
        await eventually(() => setCurrent().then(Boolean, () => false), { what: 'z to be current' });
        const found = `new tasks go to version "z" of the deployment "${deploymentName}"`;
        await eventually(async () => (await version())?.found === found);
        const args = [{ webAppId: 5, inputs: {} }];
        const handle = await client.workflow.start('task', { workflowId, taskQueue, args });
        await eventually(async () => {
          const { raw } = await handle.describe();
          return raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId === 'z';
        });
      });
      const live = { deploymentName, buildId: 'z', workerVersioningMode: 2 };

      // Temporal's list has it a moment later.
      const problem = await eventually(() => unservedProblem(client, taskQueue, []), { what: 'the list' });
      expect(problem?.found).toContain(
        `1 running workflow is pinned to version "z" of the deployment "${deploymentName}"`,
      );
      await expect(unservedProblem(client, taskQueue, [{ deploymentOptions: live }])).resolves.toBeUndefined();
      const findings = await look('default', { taskQueue: `other-${randomUUID()}` });
      expect(findings.map(({ check }) => check)).not.toContain('Versions that tasks are pinned to');
      await client.workflow.getHandle(workflowId).terminate();
    });
  });

  it('sees whether workers poll the task queues, when one last asked for work, and at once that all have stopped', async () => {
    const environment = await ClientEnvironment.open();
    const { taskQueue } = environment;
    const workers = async (): Promise<Finding[]> =>
      (await look('default', { taskQueue })).filter(({ check }) => check.startsWith('Workers'));

    const without = await workers();
    await environment.startWorkers();
    const polled = await eventually(async () => {
      const findings = await workers();
      return findings.every(({ isOk }) => isOk) ? findings : undefined;
    });
    await environment.stopWorkers();
    const stopped = await workers();
    await environment.close();

    expect(polled?.[0]?.found).toMatch(/^1 at the task queue ".+", which asked for work [\d.]+ m?s ago$/);
    expect(stopped.map(({ isOk, remedy }) => [isOk, remedy])).toEqual(
      without.map(({ isOk, remedy }) => [isOk, remedy]),
    );
    for (const { found } of stopped) expect(found).toMatch(/^none polls /);
    expect(without.map(({ isOk, remedy }) => [isOk, remedy])).toEqual(
      Array.from({ length: 5 }, () => [false, `Start a worker: longhaul worker --task-queue ${taskQueue}.`]),
    );
    expect(polled?.map(({ check }) => check)).toEqual([
      'Workers for workflows',
      'Workers for activities',
      'Workers for transfers',
      'Workers for archives',
      'Workers for watches',
    ]);
  });
});
