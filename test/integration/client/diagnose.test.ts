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
    for (const list of [longhaul.list({ status: 'Running' }), longhaul.list({ tags: ['a'] })]) {
      await expect(list[Symbol.asyncIterator]().next()).rejects.toThrow(SearchAttributesMissingError);
    }
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

  const first = (list: AsyncIterable<unknown>): Promise<unknown> => list[Symbol.asyncIterator]().next();

  it.each<[string, (longhaul: Longhaul) => Promise<unknown>]>([
    ['a start', (longhaul) => longhaul.start(smallInput)],
    ['a list of tasks with a tag', (longhaul) => first(longhaul.list({ tags: ['a'] }))],
    ['a list of tasks that wait for a person', (longhaul) => first(longhaul.list({ needsPerson: true }))],
    ['a list of tasks of a status', (longhaul) => first(longhaul.list({ status: 'Running' }))],
    ['a list of tasks with a failure', (longhaul) => first(longhaul.list({ failure: 'TaskRejected' }))],
    ['a list of tasks with a request id', (longhaul) => first(longhaul.list({ requestIds: ['a'] }))],
  ])('names all missing search attributes at %s, and the command for this namespace', async (_, call) => {
    const namespace = await freshNamespace();
    const longhaul = await Longhaul.connect({ env: {}, address: temporalAddress(), namespace });
    const error: unknown = await call(longhaul).catch((thrown: unknown) => thrown);
    await longhaul.close();

    expect(error).toBeInstanceOf(SearchAttributesMissingError);
    expect(error).toHaveProperty(
      'message',
      expect.stringMatching(
        new RegExp(
          `missing: ${searchAttributeNames.join(', ')}\\. Run "TEMPORAL_NAMESPACE=${namespace} longhaul doctor --setup"`,
        ),
      ),
    );
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

  it('finds workers that get no task, because their deployment has no current version', async () => {
    const deploymentName = `dep-${randomUUID()}`;
    const taskQueue = `versions-${randomUUID()}`;
    const native = await NativeConnection.connect({ address: temporalAddress() });
    const worker = await Worker.create({
      connection: native,
      taskQueue,
      workflowBundle: await workflowBundle(),
      workerDeploymentOptions: {
        version: { deploymentName, buildId: 'z' },
        useWorkerVersioning: true,
        defaultVersioningBehavior: 'PINNED',
      },
    });
    const version = async (): Promise<Finding | undefined> =>
      (await look('default', { taskQueue })).find(({ check }) => check === 'Version of the workers');
    const setCurrent = (buildId: string): Promise<unknown> =>
      eventually(
        () =>
          connection.workflowService
            .setWorkerDeploymentCurrentVersion({
              ...{ namespace: 'default', deploymentName, buildId, identity: 'a test' },
              ...{ ignoreMissingTaskQueues: true, allowNoPollers: true },
            })
            .then(
              () => true,
              () => false,
            ),
        { what: `${buildId} to be current` },
      );
    await worker.runUntil(async () => {
      const unset = await eventually(version);
      await setCurrent('z');
      const current = await eventually(async () => {
        const found = await version();
        return found?.isOk === true && found;
      });

      expect(unset).toEqual({
        check: 'Version of the workers',
        isOk: false,
        found: expect.stringContaining(`"${deploymentName}", which has no current version`) as string,
        remedy: expect.stringContaining(
          `set-current-version --deployment-name ${deploymentName} --build-id z --yes`,
        ) as string,
      });
      expect(current).toMatchObject({ found: `new tasks go to version "z" of the deployment "${deploymentName}"` });
    });
    await native.close();
  });

  it('finds what is pinned to a version whose workers are gone', async () => {
    const deploymentName = `dep-${randomUUID()}`;
    const taskQueue = `pinned-${randomUUID()}`;
    const client = new Client({ connection });
    const native = await NativeConnection.connect({ address: temporalAddress() });
    const worker = await Worker.create({
      connection: native,
      taskQueue,
      workflowBundle: await workflowBundle(),
      workerDeploymentOptions: {
        version: { deploymentName, buildId: 'z' },
        useWorkerVersioning: true,
        defaultVersioningBehavior: 'PINNED',
      },
    });
    const current = { namespace: 'default', deploymentName, buildId: 'z', identity: 'a test' };
    const workflowId = `task:${randomUUID()}`;
    await worker.runUntil(async () => {
      const setCurrent = () => connection.workflowService.setWorkerDeploymentCurrentVersion(current);
      await eventually(
        () =>
          setCurrent().then(
            () => true,
            () => false,
          ),
        { what: 'z to be current' },
      );
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
    expect(problem).toEqual({
      found: `1 running workflow is pinned to version "z" of the deployment "${deploymentName}", which no worker polls for: nothing moves there, and a stop has no effect`,
      remedy: 'Start workers of that version again, or move what is pinned to it: docs/guides/versions.md.',
    });
    await expect(unservedProblem(client, taskQueue, [{ deploymentOptions: live }])).resolves.toBeUndefined();
    const findings = await look('default', { taskQueue: `other-${randomUUID()}` });
    expect(findings.map(({ check }) => check)).not.toContain('Versions that tasks are pinned to');

    await client.workflow.getHandle(workflowId).terminate();
    await native.close();
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
