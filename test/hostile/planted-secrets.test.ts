import { randomBytes, randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { Context } from '@temporalio/activity';
import type { WorkflowHandle, WorkflowStartOptions } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { searchAttributes } from '../../src/contract/search-attributes';
import { FolderArchive } from '../../src/storage/archive/folder-archive';
import { spoolFolder } from '../../src/storage/spool';
import { startHealthServer } from '../../src/servers/health';
import { createLogger } from '../../src/worker/logger';
import { startBucketServer } from '../support/bucket-server';
import { eventually } from '../support/eventually';
import {
  descriptionOf,
  type Evidence,
  filesOf,
  historyOf,
  metadataOf,
  temporaryFiles,
  textsOf,
} from '../support/evidence';
import { FakeService, finalFailure, untilCancelled } from '../support/fake-activities';
import { findForbidden } from '../support/find-forbidden';
import { runLonghaul } from '../support/run-longhaul';
import { failureOf, type RunningTask, TaskEnvironment, whenStatusIs } from '../support/task-environment';
import { temporaryFolder } from '../support/temporary-folder';
import { TraceSink } from '../support/trace-sink';

/** No process knows it, so that nothing takes it out on its way. */
const secret = `planted-${randomBytes(12).toString('hex')}`;
const folder = temporaryFolder();
const environment = TaskEnvironment.forSuite();
afterAll(folder.remove);

function found(evidence: readonly Evidence[]): string[] {
  return findForbidden(evidence, [{ name: 'the secret', what: secret }]);
}

/** A workflow that no worker runs. */
async function withIdleWorkflow(
  options: Partial<WorkflowStartOptions>,
  look: (workflow: WorkflowHandle) => Promise<Evidence[]>,
): Promise<Evidence[]> {
  const workflow = await environment.client.workflow.start('task', {
    taskQueue: `nobody-${randomUUID()}`,
    workflowId: `task:${randomUUID()}`,
    ...options,
  });
  return await look(workflow).finally(() => workflow.terminate());
}

/** A task whose archive fails in the secret's words. */
async function withFailedArchive(look: (task: RunningTask) => Promise<Evidence[]>): Promise<Evidence[]> {
  const service = new FakeService({ archiveFailures: [finalFailure('OutputUnavailable', `no link for ${secret}`)] });
  return await environment.withTask(service.activities, { inputs: {} }, async (task) => {
    await whenStatusIs(task, 'ArchiveIncomplete');
    return await look(task);
  });
}

const places: Readonly<Record<string, () => Promise<Evidence[]> | Evidence[]>> = {
  'a history': () => withIdleWorkflow({ args: [{ note: secret }] }, historyOf),
  'a memo': () => withIdleWorkflow({ memo: { note: secret } }, descriptionOf),
  'a search attribute': () => {
    const typedSearchAttributes = new TypedSearchAttributes([{ key: searchAttributes.batch, value: secret }]);
    return withIdleWorkflow({ typedSearchAttributes }, descriptionOf);
  },
  'a heartbeat': async () => {
    const service = new FakeService();
    service.onArchive = () => {
      Context.current().heartbeat({ note: secret });
      return untilCancelled();
    };
    return await environment.withTask(service.activities, { inputs: {} }, async (task) => {
      await eventually(async () =>
        (await task.describe()).raw.pendingActivities?.some(({ heartbeatDetails }) => heartbeatDetails != null),
      );
      return await descriptionOf(task);
    });
  },
  'an error': () =>
    withFailedArchive(async (task) => {
      await task.executeUpdate('abandon');
      const failure = await failureOf(task);
      return textsOf([String(failure), failure], 'the error');
    }),
  'a line of the log at level trace': () => {
    const lines: string[] = [];
    createLogger({ level: 'trace', destination: { write: (line) => void lines.push(line) } }).trace({ note: secret });
    return textsOf(lines, 'the log');
  },
  'what --json prints': () =>
    withFailedArchive(async ({ workflowId }) => {
      const env = { ...process.env, TEMPORAL_ADDRESS: process.env['LONGHAUL_TEST_TEMPORAL_ADDRESS'] };
      const { stdout } = await runLonghaul(['status', workflowId, '--json'], env);
      return textsOf(stdout, 'the command');
    }),
  'a file of the archive': async () => {
    const archive = new FolderArchive(join(folder.path, 'archive'));
    await archive.replace('r/manifest.json', JSON.stringify({ note: secret }));
    return filesOf(archive.location);
  },
  'the name of a file of the archive': async () => {
    const archive = new FolderArchive(join(folder.path, 'names'));
    await archive.replace(`r/${secret}.json`, '{}');
    return filesOf(archive.location);
  },
  'what is staged': async () => {
    const { client, bucket, bucketFolder, stop } = await startBucketServer();
    try {
      await client.send(new PutObjectCommand({ Bucket: bucket, Key: 'staging/rows/1', Body: secret }));
      return filesOf(bucketFolder);
    } finally {
      await stop();
    }
  },
  'a temporary file': () => {
    const file = join(spoolFolder(), 'on-its-way');
    writeFileSync(file, secret);
    const evidence = temporaryFiles();
    rmSync(file);
    return evidence;
  },
  'what the health endpoint tells': async () => {
    const health = await startHealthServer(
      { port: 0, host: '127.0.0.1' },
      { states: () => ['RUNNING'], parts: () => ({}), further: () => ({ note: secret }) },
    );
    try {
      return textsOf(await (await fetch(health?.url ?? '')).text(), 'health');
    } finally {
      await health?.close();
    }
  },
  'a span': async () => {
    const sink = await TraceSink.start();
    const address = process.env['LONGHAUL_TEST_TEMPORAL_ADDRESS'];
    const env = { ...process.env, TEMPORAL_ADDRESS: address, LONGHAUL_TRACES_OTLP_URL: sink.url };
    try {
      const args = ['run', '5', '--key', secret, '--detach', '--task-queue', `nobody-${randomUUID()}`];
      expect(await runLonghaul(args, env)).toMatchObject({ exitCode: 0 });
      return sink.evidence;
    } finally {
      await environment.client.workflow.getHandle(`task:${secret}`).terminate();
      await sink.close();
    }
  },
  'the page of a task': () => withFailedArchive(metadataOf),
};

describe('the search for secrets', () => {
  it.each(Object.entries(places))('finds one that was planted in %s', async (_place, plant) => {
    const evidence = await plant();
    expect(found(evidence)).not.toEqual([]);
    expect(findForbidden(evidence, [{ name: 'another', what: `${secret}x` }])).toEqual([]);
  });
});
